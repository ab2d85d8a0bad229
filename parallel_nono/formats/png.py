"""PNG pictures, one pixel a cell."""

from __future__ import annotations

from .common.picture import file_format

FORMAT = file_format("PNG", "\x89", rb"\x89PNG\r\n\x1a\n")
