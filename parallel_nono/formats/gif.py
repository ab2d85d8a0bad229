"""GIF pictures, one pixel a cell."""

from __future__ import annotations

from .common.picture import file_format

FORMAT = file_format("GIF", "G", rb"GIF8[79]a")
