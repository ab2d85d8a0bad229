  sprites 20x20 101
#d
   0:.  #ffffff  white
   a:a  #000000  black
   b:b  #d62728  red
   c:c  #1f5fd6  blue
   d:d  #2ca02c  green
   e:e  #f2c80f  yellow
: rows
4a
2a 1a 2e 1a 2a
2a 1d 1a 1a 2e 1a 1a 1d 2a
1a 3e 2a 1a 2e 1a 2a 3e 1a
1a 5e 1a 4e 1a 5e 1a
2a 14e 2a
1a 1a 4e 4d 4e 1a 1a
1a 3e 1a 4d 1a 3e 1a
1a 1d 1a 1a 2d 1a 1a 1d 1a
1a 1c 1d 1a 1c 2d 1c 1a 1d 1c 1a
1a 2c 8d 2c 1a
1a 3c 3d 2e 3d 3c 1a
2a 1d 4c 2d 2e 2d 4c 1d 2a
2a 3c 2d 2e 2d 3c 2a
3a 1c 1d 2e 1d 1c 3a
2a 2d 2a
2a
1a 1a
1a 1a
1a 1a
: columns
1a
5a 1a
1a 2e 1a 1a 1d 1a
1a 1d 3e 2a 1a 2c 1a
2a 5e 2a 4c 1a
1a 4e 1d 5c 1a 3a
1a 4e 1a 3d 2c 1a
1a 2e 1a 1a 4d 1c 1a
4a 2e 2d 1a 1c 5d 1a
1a 5e 5d 4e 1d 1a
1a 5e 5d 4e 1d 1a
4a 2e 2d 1a 1c 5d 1a
1a 2e 1a 1a 4d 1c 1a
1a 4e 1a 3d 2c 1a
1a 4e 1d 5c 1a 3a
2a 5e 2a 4c 1a
1a 1d 3e 2a 1a 2c 1a
1a 2e 1a 1a 1d 1a
5a 1a
1a
: end
