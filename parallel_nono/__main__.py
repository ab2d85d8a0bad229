"""`python -m parallel_nono` is `pnono`."""

from .cli import entry

entry()
