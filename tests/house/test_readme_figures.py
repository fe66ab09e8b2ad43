"""Figures of accuracy in prose are those of the studies' tables, and no change of memsim is newer than these.

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
# Page, study, claim, what stands before the figure.
README, ACCURACY, BANDWIDTH = "README.md", "docs/explanation/accuracy.md", "experiments/bandwidth/README.md"
UNCHANGED = "17 programs captured unchanged"
FIGURES = [
    (README, "volta_counters", f"L2 read hit ratio, mean absolute error {COUNTED}", "23 kernels .*, L2 "),
    (README, "volta_counters", f"cycles, mean absolute relative error {COUNTED}", "23 kernels .* cycles "),
    (README, "gv100_launches", "L1 hit ratio, mean absolute error of 12 launches", "12 launches .*: L1 "),
    (README, "gv100_launches", "L2 hit ratio, mean absolute error of 12 launches", "12 launches .*, L2 "),
    (
        README,
        "gv100_launches",
        "DRAM sectors, mean absolute relative error of 12 launches",
        "12 launches .*, DRAM sectors ",
    ),
    (README, "gv100_launches", "cycles, mean absolute relative error of 12 launches", "12 launches .*, cycles "),
    (README, "modern_counters", "L1 hit ratio, mean absolute error of 32 launches", "32 launches .*: L1 "),
    (
        README,
        "modern_counters",
        "DRAM bytes, mean absolute relative error of 32 launches",
        "32 launches .*, DRAM bytes ",
    ),
    (README, "modern_counters", "time, mean absolute relative error of 32 launches", "32 launches .*, time "),
    (
        ACCURACY,
        "volta_counters",
        f"L1 read hit ratio, mean absolute error {COUNTED}",
        "23 kernels .* L1 read hit ratio ",
    ),
    (ACCURACY, "volta_counters", f"L2 read hit ratio, mean absolute error {COUNTED}", "23 kernels .*average, L2 "),
    (ACCURACY, "volta_counters", f"cycles, mean absolute relative error {COUNTED}", "23 kernels .* cycles "),
    (ACCURACY, "volta_counters", f"cycles, median absolute relative error {COUNTED}", "23 kernels .* in the mean, "),
    (ACCURACY, "volta_counters", f"cycles, mean absolute relative error of {UNCHANGED}", "23 kernels .* median; "),
    (ACCURACY, "volta_counters", f"cycles, median absolute relative error of {UNCHANGED}", r"23 .* median; \d+ and "),
    (ACCURACY, "gv100_launches", "L1 hit ratio, mean absolute error of 12 launches", "12 launches .* L1 "),
    (ACCURACY, "gv100_launches", "cycles, mean absolute relative error of 12 launches", "12 launches .* cycles "),
    (ACCURACY, "gv100_launches", "cycles, median absolute relative error of 12 launches", "12 launches .* mean, "),
    (
        ACCURACY,
        "modern_counters",
        "L2 sectors, mean absolute relative error of 32 launches",
        "32 launches .* L2 sectors ",
    ),
    (ACCURACY, "modern_counters", "time, mean absolute relative error of 32 launches", "32 launches .* times "),
    (ACCURACY, "liger", "all: time, mean absolute relative error of 36 rows", "36 times .* \\| "),
    (ACCURACY, "bandwidth", "all boards: bandwidths by size within 10 %", "bandwidth of L1, .* \\| "),
    (ACCURACY, "torres2011", "product: log-correlation", "GTX 480 .* correlation of logarithms "),
    (BANDWIDTH, "bandwidth", "all boards: bandwidths by size within 10 %", "Of 53 rows, "),
]
QUOTED = sorted({study for _, study, *_ in FIGURES} | {"pointer_chase", "sgemm_ladder", "reduction_ladder"})


@pytest.mark.parametrize(("page", "study", "claim", "before"), FIGURES, ids=lambda part: part.split(",")[0][-24:])
def test_page_quotes_figure_of_study(page, study, claim, before):
    rows = {row[0]: row[HEADERS.index("memsim")] for row in kept(STUDIES / study / "scoreboard.csv")}
    lines = re.sub(r"\n  ", " ", (ROOT / page).read_text())
    quoted = re.search(rf"^(?:- |\| )?.*?{before}(\d[\d.]*)", lines, re.MULTILINE)
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
