"""``python -m experiments.harness [STUDY ...]``: run the studies, print the scoreboard, write tables and figures."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

from experiments.harness import scoreboard
from experiments.harness.readme import fill
from experiments.harness.study import Outcome, Setting
from memsim.support.result_cache import VARIABLE

EXPERIMENTS = Path(__file__).parents[1]
KEPT = "scoreboard.csv"  # in a study's folder: the rows of its last full run
STUDIES: tuple[str, ...] = (
    "baghsorkhi2012",
    "hong_kim2009",
    "cumapz2011",
    "cudamicrobench2021",
    "pointer_chase",
    "streaming",
    "bandwidth",
    "torres2011",
    "dram",
    "volta_counters",
    "gv100_launches",
    "modern_counters",
    "reduction_ladder",
    "sgemm_ladder",
    "l1_size_study",
    "which_randomness",
    "stopping",
    "what_decides",
    "scale",
    "prefetchers",
    "triton",
)

NEEDS = {"triton": ("triton", "torch")}  # the packages that studies need in addition to memsim's own


def main(arguments: list[str] | None = None) -> None:
    """Run what is asked for."""
    asked = _parser().parse_args(arguments)
    os.environ.setdefault(VARIABLE, "0")  # a table was produced by the tree that it lies in
    found = {}
    for name in asked.study or _runnable():
        begin = perf_counter()
        outcome = run(name, asked.quick, asked.jobs)
        found[name] = [scoreboard.row(claim) for claim in outcome.claims]
        if not asked.quick:
            scoreboard.keep(EXPERIMENTS / name / KEPT, found[name])
        print(f"{name}: {len(outcome.claims)} claims, {perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
    print(scoreboard.text(found))
    if not asked.quick:
        last = {name: scoreboard.kept(EXPERIMENTS / name / KEPT) for name in STUDIES}
        fill(EXPERIMENTS / "README.md", {"scoreboard": scoreboard.as_markdown(last)})


def _runnable() -> list[str]:
    """All studies but those whose packages are not installed; one line names each of these."""
    missing = {name: package for name, needed in NEEDS.items() for package in needed if not find_spec(package)}
    for name, package in missing.items():
        print(f"{name}: left out, as {package} is not installed: pip install {package}", file=sys.stderr)
    return [name for name in STUDIES if name not in missing]


def run(name: str, quick: bool, jobs: int) -> Outcome:
    """One study; a full run leaves its tables in its README and its figures beside it, a quick one only in out/."""
    folder = EXPERIMENTS / name
    figures = Path("out", "papers", name) if quick else folder
    figures.mkdir(parents=True, exist_ok=True)
    outcome: Outcome = import_module(f"experiments.{name}.study").run(Setting(quick, jobs, figures))
    if not quick:
        fill(folder / "README.md", outcome.tables)
    return outcome


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.harness",
        description="Compare memsim with what was published and measured: one row a claim, one folder a study.",
        epilog="A full run keeps its rows and writes all studies' last ones into experiments/README.md.",
    )
    parser.add_argument("study", nargs="*", choices=[*STUDIES, []], metavar="STUDY", help=f"of: {', '.join(STUDIES)}")
    parser.add_argument("--quick", action="store_true", help="small snapshots; writes only to out/papers")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser.add_argument("-j", "--jobs", type=int, default=cores, help="processes (default: %(default)s)")
    return parser


if __name__ == "__main__":
    main()
