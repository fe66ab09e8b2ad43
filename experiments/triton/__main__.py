"""``python -m experiments.triton``: needs Triton, so it is not among the studies that run everywhere."""

from __future__ import annotations

from experiments.harness import scoreboard
from experiments.harness.__main__ import EXPERIMENTS, KEPT, run

if __name__ == "__main__":
    rows = [scoreboard.row(claim) for claim in run("triton", quick=False, jobs=1).claims]
    scoreboard.keep(EXPERIMENTS / "triton" / KEPT, rows)
    print(scoreboard.text({"triton": rows}))
