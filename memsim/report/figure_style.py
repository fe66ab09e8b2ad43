"""How figures look: one palette (Okabe and Ito's, safe for colour-blind readers), thin lines, no clutter."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memsim.report.figure_options import FigureOptions, Size
from memsim.support.files import check_replaceable, replacing, writing

BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, GREY, INK = "#CC79A7", "#56B4E9", "#8A8A8A", "#222222"
NEAR, FAR, FARTHEST = "#BCD7E8", "#5E9DC8", "#1D4F7C"  # the levels of the hierarchy, darker as they are slower
SERIES = (BLUE, ORANGE, GREEN, PURPLE, VERMILION, SKY, GREY)

_RC: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titley": 1.0,  # where it would be put without ticks above the panel; to look for these took a tenth of a page
    "axes.labelcolor": INK,
    "axes.edgecolor": "#5A5A5A",
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "xtick.color": "#5A5A5A",
    "ytick.color": "#5A5A5A",
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.constrained_layout.use": True,
    "savefig.dpi": 200,
}

_INCHES = {Size.column: 3.4, Size.page: 7.1}
_SMALL: Any = {"font.size": 7, "axes.titlesize": 8, "legend.fontsize": 6}  # of what is printed
_NOTEBOOK_DPI = 110
_NARROWEST_PANEL = 2.2  # inches; panels that would be narrower stand below each other

_SCREEN = FigureOptions()
_options_in_use: ContextVar[FigureOptions] = ContextVar("sheet", default=_SCREEN)


@contextmanager
def styled(figure_options: FigureOptions | None = None) -> Iterator[None]:
    """Figures made inside look like memsim's; matplotlib's settings outside stay as they are.

    Args:
        figure_options: what they are drawn for; None: what is drawn for already, or files for the screen.
    """
    figure_options = figure_options or _options_in_use.get()
    # Text of SVG files stays text; names in them follow from their content, so equal figures have equal bytes.
    rc = _RC | {"savefig.dpi": figure_options.dpi, "svg.fonttype": "none", "svg.hashsalt": "memsim", "pdf.fonttype": 42}
    token = _options_in_use.set(figure_options)
    try:
        with matplotlib.rc_context(rc if figure_options.size is Size.screen else rc | _SMALL):
            yield
    finally:
        _options_in_use.reset(token)


class Drawing(Figure):
    """A figure that a notebook shows, whatever backend it has or lacks (``%matplotlib inline`` is not needed)."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=_NOTEBOOK_DPI)
        return buffer.getvalue()


def panels(rows: int, columns: int, width: float, height: float, **grid: Any) -> tuple[Figure, list[Axes]]:
    """A figure without a window (so no display is needed), and its axes row by row.

    Args:
        rows, columns: of panels; on a narrow sheet they stand below each other.
        width, height: inches, on a screen.
        grid: further arguments of matplotlib's ``subplots``.
    """
    size = _options_in_use.get().size
    if size is not Size.screen:
        width = _INCHES[size]
        if columns > 1 and width / columns < _NARROWEST_PANEL:
            rows, columns, height = rows * columns, 1, 0.75 * height * columns
            grid = {name: value for name, value in grid.items() if name not in ("width_ratios", "sharey")}
    figure = Drawing(figsize=(width, height))
    axes = figure.subplots(rows, columns, squeeze=False, **grid)
    return figure, list(axes.flat)


def narrow() -> bool:
    """Whether figures are as wide as a journal's column: legends go below, notes are left out."""
    return _options_in_use.get().size is Size.column


def place_legend(axis: Axes, **options: Any) -> None:
    """A legend to the right of the panel, or below where there is no room."""
    if narrow():
        axis.legend(loc="upper left", bbox_to_anchor=(0.0, -0.3), ncols=2, **options)
    else:
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), **options)


def figure_path(folder: Path, name: str) -> Path:
    """The file of the figure `name` in a folder, with the suffix of its format."""
    return folder / f"{name}.{_options_in_use.get().format}"


def write_figures(
    drawings: Mapping[str, Callable[[], Figure]], folder: str | Path, figure_options: FigureOptions | None = None
) -> list[Path]:
    """Draw figures and write them to `folder`, made when missing.

    Args:
        drawings: by the name of each file, without its suffix.
        folder: for the files; none is drawn if one of them cannot be written.
        figure_options: format, resolution and size; None: PNG for a screen.

    Returns:
        The files' paths.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with styled(figure_options):
        paths = {name: figure_path(target, name) for name in drawings}
        for path in paths.values():
            check_replaceable(path)
        return [write(draw(), paths[name]) for name, draw in drawings.items()]


def write(figure: Figure, path: Path) -> Path:
    """Save in the format that the path's suffix names, whole or not at all, the same bytes for the same figure."""
    undated = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}[path.suffix]
    with writing(path), replacing(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:], metadata=undated)
    return path
