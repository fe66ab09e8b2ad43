"""What figures are drawn for: format, resolution, size. Light, since the command line's help needs it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Format(StrEnum):
    """How a figure is written."""

    png = "png"
    svg = "svg"
    pdf = "pdf"


class Size(StrEnum):
    """How wide a figure is: as it is best read on a screen, or as wide as a journal's column or page."""

    screen = "screen"
    column = "column"
    page = "page"


@dataclass(frozen=True)
class FigureOptions:
    """What figures are drawn for.

    Attributes:
        format: of the files.
        dpi: of PNG files.
        size: how wide.
    """

    format: Format = Format.png
    dpi: int = 200
    size: Size = Size.screen
