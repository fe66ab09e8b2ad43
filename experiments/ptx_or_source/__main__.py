"""``python -m experiments.ptx_or_source``: needs nvcc, so it is not among the studies that run everywhere."""

from __future__ import annotations

from experiments.harness import scoreboard
from experiments.harness.__main__ import EXPERIMENTS, KEPT, run

if __name__ == "__main__":
    rows = [scoreboard.row(claim) for claim in run("ptx_or_source", quick=False, jobs=1).claims]
    scoreboard.keep(EXPERIMENTS / "ptx_or_source" / KEPT, rows)
    print(scoreboard.text({"ptx_or_source": rows}))
