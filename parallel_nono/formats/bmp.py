"""BMP pictures, one pixel a cell."""

from __future__ import annotations

from .common.picture import file_format

FORMAT = file_format("BMP", "B", rb"BM.{4}\0{4}")
