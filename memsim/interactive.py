"""Results, comparisons and studies as people hold them in a notebook: HTML, figures, findings.

They are those of `analysis` and `studies` with what needs `report`: these rooms must not know how they are shown.
"""

from __future__ import annotations

from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

from memsim.analysis import compare
from memsim.analysis.table import html_table
from memsim.interactive_result import texts_first
from memsim.studies.result import StudyTrials as _StudyResult
from memsim.studies.run import DesignStudy as _Study

if TYPE_CHECKING:
    from memsim.analysis.table import Table
    from memsim.gpu.config import GPU


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
                html_table(ratio_headers, ratios, texts_first(ratio_headers, 1)),
                html_table(headers, rows, texts_first(headers, 3)),
            ]
        )


class StudyResult(_StudyResult):
    """The finished trials of a design; a notebook shows its points."""

    def _repr_html_(self) -> str:
        from memsim.report.study import conclusions, heading, point_rows

        parts = [f"<pre>{escape(heading(self))}</pre>", *(f"<p>{escape(one)}</p>" for one in conclusions(self))]
        for number, case in enumerate(self.cases):
            headers, rows = point_rows(self, number)
            parts.append(f"<p>{escape(str(case))}</p>{html_table(headers, rows, texts_first(headers, 0))}")
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


def held(found: compare.ResultComparison) -> Comparison:
    """A comparison as people hold it."""
    fields: dict[str, Any] = vars(found)
    return Comparison(**fields)
