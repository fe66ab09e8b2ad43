"""Results, comparisons and studies as people hold them in a notebook: HTML, figures, findings.

They are those of `analysis` and `studies` with what needs `report`: these rooms must not know how they are shown.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from memsim.analysis import result
from memsim.analysis.table import html_table
from memsim.studies import StudyResult as _StudyResult
from memsim.studies import compare

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from memsim.trace.reader import Trace


class Text(str):
    """Text of several lines that a prompt shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"


class Result(result.Result):
    """All trials of one simulation, with what a notebook asks for.

    ::

        result = memsim.Result.load("result.h5")
        result                       # in a notebook: its tables
        result.plot("loads")         # a matplotlib figure
        result.why()                 # what makes the kernel slow
        result.loads["y"]            # the load of an array or a text
    """

    def plot(self, figure: str = "loads") -> Figure:
        """Draw one figure.

        Args:
            figure: ``ratios``, ``convergence``, ``loads`` or ``latency``.

        Raises:
            ValueError: another word.
        """
        from memsim.report.figures import FIGURES
        from memsim.report.style import styled

        if figure not in FIGURES:
            raise ValueError(f"figure is {figure!r}; give one of {', '.join(FIGURES)}")
        with styled():
            return FIGURES[figure](self)

    def why(self, trace: Trace | str | Path | None = None, *, quick: bool = False, jobs: int = 1) -> Text:
        """What makes the kernel slow and what putting it right wins, most first (docs/reference/findings.md).

        Args:
            trace: that was run, or its file; None: the file where it was then, if it is still there.
            quick: replay nothing put right.
            jobs: processes of the replays.

        Raises:
            InputError: results of a version before 1.2, or another trace.
        """
        from memsim.report.why import why_text
        from memsim.why import explain

        found = explain(self, trace, quick=quick, jobs=jobs)
        return Text("\n\n".join([why_text(self, found.causes), *([found.note] if found.note else [])]))

    def _repr_html_(self) -> str:
        from memsim.report.text import counter_rows, heading, ratio_rows, time_lines

        parts = [f"<pre>{escape(heading(self))}\n\n{escape(time_lines(self))}</pre>"]
        for headers, rows in (ratio_rows(self), counter_rows(self)):
            parts.append(html_table(headers, rows, _texts_first(headers, 1)))
        return "".join([*parts, self.loads._repr_html_()])


class Comparison(compare.Comparison):
    """Two results side by side; a notebook shows its tables."""

    def _repr_html_(self) -> str:
        from memsim.report.compare import matched, pairing, ratio_rows, speed_up, times, verdict

        head = f"speed-up of the second {speed_up(self)}: {verdict(self)}\n{times(self)}\n{pairing(self)}"
        headers, rows = matched(self.loads, ["line", "load", "array"])
        ratio_headers, ratios = ratio_rows(self)
        return "".join(
            [
                f"<pre>{escape(head)}</pre>",
                html_table(ratio_headers, ratios, _texts_first(ratio_headers, 1)),
                html_table(headers, rows, _texts_first(headers, 3)),
            ]
        )


class StudyResult(_StudyResult):
    """The finished trials of a design; a notebook shows its points."""

    def _repr_html_(self) -> str:
        from memsim.report.study import heading, point_rows

        parts = [f"<pre>{escape(heading(self))}</pre>"]
        for number, case in enumerate(self.cases):
            headers, rows = point_rows(self, number)
            parts.append(f"<p>{escape(str(case))}</p>{html_table(headers, rows, _texts_first(headers, 0))}")
        return "".join(parts)


def _texts_first(headers: list[str], texts: int) -> list[bool]:
    return [column >= texts for column in range(len(headers))]


def held(found: compare.Comparison) -> Comparison:
    """A comparison as people hold it."""
    fields: dict[str, Any] = vars(found)
    return Comparison(**fields)
