A sample of ours: 5 wide, 4 high, the second row and the last column are empty.

: rows
1 2

3
1 1
: columns
1 2
1
1 1
1 1

: end
