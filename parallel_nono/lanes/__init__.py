"""Lines mode: the rows and columns of one huge puzzle shared out to many workers."""
