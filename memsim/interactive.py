"""Results, comparisons and studies as people hold them in a notebook: HTML, figures, findings.

They are those of `analysis` and `studies` with what needs `report`: these rooms must not know how they are shown.
"""

from __future__ import annotations

from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

from memsim.analysis import result
from memsim.analysis.table import html_table
from memsim.studies import DesignStudy as _Study
from memsim.studies import StudyTrials as _StudyResult
from memsim.studies import compare
from memsim.support.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import pandas
    from matplotlib.figure import Figure

    from memsim.analysis.table import Table
    from memsim.gpu.config import GPU
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
        from memsim.report.figures import FIGURES
        from memsim.report.style import styled

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
        return Text("\n\n".join([why_text(self, found.causes), *([found.note] if found.note else [])]))

    def to_frame(self) -> pandas.DataFrame:
        """A pandas DataFrame, a row per trial: its number and the outputs that studies have (hit ratios, cycles, time).

        ``result.loads.to_frame()`` has a row per load.

        Raises:
            InputError: pandas is not installed.
        """
        from memsim.studies.outputs import outputs_of

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

        found = explain(self, trace, quick=quick, jobs=jobs).causes if has_profiles(self) else None
        name = str(self.trials.about["trace"]["kernel"])
        return write_page({name: self}, {}, out, {} if found is None else {name: found})

    def _repr_html_(self) -> str:
        from memsim.report.text import counter_rows, heading, ratio_rows, time_lines

        parts = [f"<pre>{escape(heading(self))}\n\n{escape(time_lines(self))}</pre>"]
        for headers, rows in (ratio_rows(self), counter_rows(self)):
            parts.append(html_table(headers, rows, _texts_first(headers, 1)))
        return "".join([*parts, self.loads._repr_html_()])


class Comparison(compare.ResultComparison):
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
        from memsim.report.study import conclusions, heading, point_rows

        parts = [f"<pre>{escape(heading(self))}</pre>", *(f"<p>{escape(one)}</p>" for one in conclusions(self))]
        for number, case in enumerate(self.cases):
            headers, rows = point_rows(self, number)
            parts.append(f"<p>{escape(str(case))}</p>{html_table(headers, rows, _texts_first(headers, 0))}")
        return "".join(parts)


class Study(_Study):
    """A design of simulations, whose results a notebook shows as tables."""

    def run(self, *args: Any, **options: Any) -> StudyResult:
        """Run all trials of all points; see :func:`memsim.studies.run.run`."""
        found = super().run(*args, **options)
        return StudyResult(found.points, found.cases, found.trials, found.about, found.convention)


def gpus() -> Table[tuple[str, GPU]]:
    """The presets, a row each, as a table that prints, and has ``to_frame`` and ``to_csv``.

    ::

        memsim.gpus()                  # in a notebook: a table
        memsim.gpus()["a100"][1].l2.size_bytes
    """
    from memsim.analysis.table import Table, TableColumn
    from memsim.gpu import presets

    def record(one: tuple[str, GPU]) -> dict[str, Any]:
        name, gpu = one
        return {
            "name": name,
            "compute_capability": gpu.compute_capability,
            "sms": gpu.sm.count,
            "clock_mhz": gpu.sm.clock_mhz,
            "l1_bytes": gpu.l1.size_bytes if gpu.l1.enabled else 0,
            "l2_bytes": gpu.l2.size_bytes if gpu.l2.enabled else 0,
            "memory": gpu.dram.kind,
        }

    def shown(field: str, one: tuple[str, GPU]) -> str:
        value = record(one)[field]
        return (
            f"{value / 1024:,g}" if field.endswith("_bytes") else f"{value:g}" if field == "clock_mhz" else str(value)
        )

    titles = {"name": "preset", "compute_capability": "compute capability", "sms": "SMs", "clock_mhz": "MHz"}
    titles |= {"l1_bytes": "L1, KiB", "l2_bytes": "L2, KiB", "memory": "memory"}
    columns = [
        TableColumn[Any](title, partial(shown, field), field not in ("name", "memory"))
        for field, title in titles.items()
    ]
    return Table([(name, presets.load_gpu(name)) for name in presets.names()], columns, record, lambda one: (one[0],))


def _texts_first(headers: list[str], texts: int) -> list[bool]:
    return [column >= texts for column in range(len(headers))]


def held(found: compare.ResultComparison) -> Comparison:
    """A comparison as people hold it."""
    fields: dict[str, Any] = vars(found)
    return Comparison(**fields)
