"""A result as people hold it in a notebook: HTML, figures, findings (:mod:`memsim.interactive`).

A run needs this and nothing of studies, whose import takes a tenth of a second.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from memsim.analysis import result
from memsim.analysis.table import html_table
from memsim.support.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import pandas
    from matplotlib.figure import Figure

    from memsim.trace.reader import Trace


class Text(str):
    """Text of several lines that a prompt shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"


class Result(result.RunResult):
    """All trials of one simulation, with what a notebook asks for.

    ::

        result = memsim.Result.load("result.h5")
        result                       # in a notebook: its tables
        result.plot("loads")         # a matplotlib figure
        result.why()                 # what makes the kernel slow
        result.loads["y"]            # the load of an array or a text
    """

    def plot(self, figure: str = "loads") -> Figure:
        """Draw one figure, which a notebook shows where it is the cell's last value.

        Args:
            figure: ``ratios``, ``convergence``, ``loads`` or ``latency``.

        Raises:
            ValueError: another word.
        """
        from memsim.report.figure_style import styled
        from memsim.report.figures import FIGURES

        if figure not in FIGURES:
            raise ValueError(f"figure is {figure!r}; give one of {', '.join(FIGURES)}")
        with styled():
            return FIGURES[figure](self)

    def why(self, trace: Trace | str | Path | None = None, *, quick: bool = False, jobs: int = 1) -> Text:
        """What makes the kernel slow, with estimated speed-ups, the largest first (docs/reference/findings.md).

        Args:
            trace: that was run, or its file; None: the file where it was then, if it is still there.
            quick: without replays, which estimate speed-ups.
            jobs: processes of the replays.

        Raises:
            InputError: results of a version before 1.2, or another trace.
        """
        from memsim.report.why import why_text
        from memsim.why import explain

        found = explain(self, trace, quick=quick, jobs=jobs)
        return Text("\n\n".join([why_text(self, found.bottlenecks), *([found.note] if found.note else [])]))

    def to_frame(self) -> pandas.DataFrame:
        """A pandas DataFrame, a row per trial: its number and the outputs that studies have (hit ratios, cycles, time).

        ``result.loads.to_frame()`` has a row per load.

        Raises:
            InputError: pandas is not installed.
        """
        from memsim.studies.result import outputs_of

        try:
            import pandas
        except ImportError:
            raise InputError("to_frame", "pandas", "is not installed; pip install 'memsim[frame]'") from None
        return pandas.DataFrame({"trial": self.trials.trial} | outputs_of(self))

    def report(
        self, out: str | Path, trace: Trace | str | Path | None = None, *, quick: bool = False, jobs: int = 1
    ) -> Path:
        """Write the HTML page of ``memsim report``.

        Args:
            out: the file; one that exists is replaced.
            trace, quick, jobs: as for :meth:`why`.

        Returns:
            The file's path.

        Raises:
            InputError: jinja2 or Pygments is not installed, the file cannot be written, or another trace.
        """
        from memsim.report.page import write_page
        from memsim.why import explain, has_profiles

        found = explain(self, trace, quick=quick, jobs=jobs).bottlenecks if has_profiles(self) else None
        name = str(self.trials.about["trace"]["kernel"])
        return write_page({name: self}, {}, out, {} if found is None else {name: found})

    def _repr_html_(self) -> str:
        from memsim.report.text import counter_rows, heading, ratio_rows, time_lines

        parts = [f"<pre>{escape(heading(self))}\n\n{escape(time_lines(self))}</pre>"]
        for headers, rows in (ratio_rows(self), counter_rows(self)):
            parts.append(html_table(headers, rows, texts_first(headers, 1)))
        return "".join([*parts, self.loads._repr_html_()])


def texts_first(headers: list[str], texts: int) -> list[bool]:
    """Of a table's columns, whether each is numbers: all but the first `texts`."""
    return [column >= texts for column in range(len(headers))]
