"""`python -m parallel_nono` is `pnono`."""

from .cli import main

main()
