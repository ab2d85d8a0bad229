A sample of ours. This text may hold 1 2 3 and a:b.

#d
   0:   white  background
   1:o  #0000FF  blue, the default
   b:+  red
: rows
1 2b

2 1b
1b 1
: columns
1 1 1b
1
1b 1b
1b 1

: end
