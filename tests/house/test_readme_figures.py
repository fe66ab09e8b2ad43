"""The README's figures of accuracy are those of the studies' tables, and no change of memsim is newer than these.

Not among them are the launches on an H100, whose comparison is no study of the harness.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from experiments.harness import dependencies
from experiments.harness.scoreboard import HEADERS, kept

ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "experiments"
COUNTED = "of 23 kernels, 17 captured and 6 described"
# Study, claim, what stands before the figure in the README.
FIGURES = [
    ("volta_counters", f"L2 read hit ratio, mean absolute error {COUNTED}", "23 kernels .*, L2 "),
    ("volta_counters", f"cycles, mean absolute relative error {COUNTED}", "23 kernels .* cycles "),
    ("gv100_launches", "L1 hit ratio, mean absolute error of 12 launches", "12 launches .*: L1 "),
    ("gv100_launches", "L2 hit ratio, mean absolute error of 12 launches", "12 launches .*, L2 "),
    ("gv100_launches", "DRAM sectors, mean absolute relative error of 12 launches", "12 launches .*, DRAM sectors "),
    ("gv100_launches", "cycles, mean absolute relative error of 12 launches", "12 launches .*, cycles "),
    ("modern_counters", "L1 hit ratio, mean absolute error of 32 launches", "32 launches .*: L1 "),
    ("modern_counters", "DRAM bytes, mean absolute relative error of 32 launches", "32 launches .*, DRAM bytes "),
    ("modern_counters", "time, mean absolute relative error of 32 launches", "32 launches .*, time "),
]
QUOTED = sorted({study for study, *_ in FIGURES} | {"pointer_chase", "sgemm_ladder", "reduction_ladder"})


def _bullets() -> str:
    """The README's list of accuracy, an item a line."""
    part = (ROOT / "README.md").read_text().split("## Accuracy")[1].split("\n## ")[0]
    return re.sub(r"\n  ", " ", part)


@pytest.mark.parametrize(("study", "claim", "before"), FIGURES, ids=lambda part: part.split(",")[0][:24])
def test_readme_quotes_figure_of_study(study, claim, before):
    rows = {row[0]: row[HEADERS.index("memsim")] for row in kept(STUDIES / study / "scoreboard.csv")}
    quoted = re.search(rf"^- {before}([\d.]+)", _bullets(), re.MULTILINE)
    assert quoted, before
    digits = len(quoted[1].partition(".")[2])
    assert f"{float(rows[claim]):.{digits}f}" == quoted[1]


@pytest.mark.slow
def test_studies_behind_readme_are_of_this_code():
    """`make papers` runs those that are not."""
    then = {study: dependencies.kept(STUDIES / study)[1] for study in QUOTED}
    assert all(then.values())
    now = dependencies.digests({Path(name) for found in then.values() for name in found})
    older = {study: [name for name, digest in found.items() if now[name] != digest] for study, found in then.items()}
    assert not {study: names[:3] for study, names in older.items() if names}
