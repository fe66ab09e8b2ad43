"""A host program's timeline as profilers draw it: a row for the host's thread and one a stream."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from memsim.host.timeline import Span, Timeline
from memsim.report.figure_style import BLUE, GREEN, GREY, PURPLE, VERMILION, panels, styled, write

_COLOUR = {"call": GREY, "wait": "#DDDDDD", "to_gpu": GREEN, "to_host": PURPLE, "kernel": BLUE, "faults": VERMILION}
_MEANING = {
    "call": "call", "wait": "host waits", "to_gpu": "copy to GPU", "to_host": "copy to host", "kernel": "kernel",
    "faults": "page faults",
}  # fmt: skip
_CHARACTER = 0.008  # of the width, for a character of a name
_NARROWEST = 0.04  # of the width: narrower spans bear no name


def draw_timeline(timeline: Timeline, path: str | Path, title: str = "") -> Path:
    """Draw the spans into a PNG file.

    Args:
        timeline: of :func:`memsim.host.simulate`.
        path: the file to write.
        title: above the picture.
    """
    with styled():
        return write(timeline_figure(timeline, title), Path(path))


def timeline_figure(timeline: Timeline, title: str = "") -> Figure:
    """The spans as a figure, to be drawn within ``styled()``."""
    rows = sorted({span.row for span in timeline.spans}, key=lambda row: _first(timeline, row))
    scale, unit = (1e-3, "ms") if timeline.microseconds >= 2000 else (1.0, "µs")
    figure, (axes,) = panels(1, 1, 7.5, 0.9 + 0.38 * len(rows))
    for span in timeline.spans:
        length = (span.end - span.start) * scale
        axes.barh(rows.index(span.row), length, left=span.start * scale, height=0.72, color=_COLOUR[span.kind],
                  edgecolor="white", linewidth=0.4)  # fmt: skip
        if _fits(span.name, length / (timeline.microseconds * scale)) and span.kind != "wait":
            middle = (span.start + span.end) / 2 * scale
            axes.text(middle, rows.index(span.row), span.name, size=6.5, color="white", ha="center", va="center")
    axes.set_yticks(range(len(rows)), rows)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(unit)
    axes.set_title(title)
    kinds = [kind for kind in _COLOUR if any(span.kind == kind for span in timeline.spans)]
    handles = [axes.barh(0, 0, color=_COLOUR[kind], label=_MEANING[kind]) for kind in kinds]
    axes.legend(handles=handles, ncols=len(kinds), loc="upper left", bbox_to_anchor=(0, -0.18 - 0.3 / len(rows)))
    return figure


def _fits(name: str, share: float) -> bool:
    """Whether a name fits a span that takes a share of the width."""
    return share > max(_NARROWEST, _CHARACTER * len(name))


def _first(timeline: Timeline, row: str) -> tuple[bool, float, str]:
    """Rows from the top: the host, then streams as they begin."""
    starts: list[Span] = [span for span in timeline.spans if span.row == row]
    return row != "host", min(span.start for span in starts), row
