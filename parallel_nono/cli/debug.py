"""Whether `--debug` was given."""

from __future__ import annotations

wanted = False
