"""``python -m experiments.harness [STUDY ...]``: run the studies, print the scoreboard, write tables and figures."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from experiments.harness import dependencies, schedule, scoreboard
from experiments.harness.mechanisms import missed_table
from experiments.harness.readme import fill
from experiments.harness.study import Outcome, Setting
from memsim.support.result_cache import VARIABLE

EXPERIMENTS = Path(__file__).parents[1]
PYTHON = "MEMSIM_PYTHON"
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
    "copy_rates",
    "volta_counters",
    "gv100_launches",
    "modern_counters",
    "reduction_ladder",
    "sgemm_ladder",
    "l1_size_study",
    "which_randomness",
    "stopping",
    "prediction_interval",
    "what_decides",
    "best_possible",
    "scale",
    "prefetchers",
    "triton",
    "liger",
)

# The packages that studies need in addition to memsim's own. They run their programs with PYTHON, where it is set.
NEEDS = {"triton": ("triton", "torch"), "liger": ("triton", "torch")}


def main(arguments: list[str] | None = None) -> None:
    """Run what is asked for."""
    asked = _parser().parse_args(arguments)
    os.environ.setdefault(VARIABLE, "0")  # a table was produced by the tree that it lies in
    names = asked.study or (STUDIES if asked.list else _runnable())
    if asked.list:
        print(stale_text(names))
    elif asked.quick or (len(names) == 1 and not asked.stale):
        _run_here(names, asked.quick, asked.jobs)
    else:
        old = [name for name in names if not asked.stale or dependencies.changed(EXPERIMENTS / name) != []]
        print(f"{len(old)} of {len(names)} studies to run", file=sys.stderr, flush=True)
        sys.exit(_run_apart(old, asked.jobs, asked.budget))


def _run_here(names: Sequence[str], quick: bool, jobs: int) -> None:
    """Run studies in this process: several quick ones, or one in full, which replaces its tables."""
    found = {}
    for name in names:
        begin = perf_counter()
        outcome = run(name, quick, jobs) if quick else _run_recorded(name, jobs)
        found[name] = [scoreboard.row(claim) for claim in outcome.claims]
        if not quick:
            scoreboard.keep(EXPERIMENTS / name / KEPT, found[name])
        print(f"{name}: {len(outcome.claims)} claims, {perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
    print(scoreboard.text(found))
    if not quick:
        _fill_scoreboard()


def _run_recorded(name: str, jobs: int) -> Outcome:
    """A full run of the only study of this process, which keeps what the tables depend on."""
    begin = perf_counter()
    with TemporaryDirectory() as folder:
        recorder = dependencies.Recorder(Path(folder, "log"), calls=name not in schedule.TIMED)
        outcome = run(name, False, jobs)
        dependencies.keep(EXPERIMENTS / name, recorder.finish(), perf_counter() - begin)
    return outcome


def _run_apart(names: Sequence[str], jobs: int, budget: float | None) -> int:
    """Full runs, each in a process of its own; returns the exit status.

    Args:
        budget: minutes for all of them; None: no limit.
    """
    at_once = max(1, min(jobs, len(names)))
    each = max(1, jobs // at_once)

    def command(name: str) -> list[str]:
        cores = jobs if name in schedule.TIMED else each
        return ["-m", "experiments.harness", name, "--jobs", str(cores)]

    ordered = schedule.order(names, lambda name: dependencies.kept(EXPERIMENTS / name)[0])
    became = schedule.run_all(ordered, command, at_once, None if budget is None else 60 * budget)
    _fill_scoreboard()
    for name, outcome in became.items():
        print(f"{name}: {outcome}")
    print(stale_text(STUDIES))
    return int("failed" in became.values())


def _fill_scoreboard() -> None:
    """Write every study's last rows into the README of all studies."""
    last = {name: scoreboard.kept(EXPERIMENTS / name / KEPT) for name in STUDIES}
    fill(EXPERIMENTS / "README.md", {"scoreboard": scoreboard.as_markdown(last), "missed": missed_table(last)})


def stale_text(names: Sequence[str]) -> str:
    """One line per study whose tables are stale, with the files that changed, and how many studies are."""
    lines, shown = [], 3
    for name in names:
        differ = dependencies.changed(EXPERIMENTS / name)
        if differ is None:
            lines.append(f"{name}: stale; its dependencies were never recorded")
        elif differ:
            more = f" and {len(differ) - shown} more" if len(differ) > shown else ""
            lines.append(f"{name}: stale; changed: {', '.join(differ[:shown])}{more}")
    return "\n".join([*lines, f"{len(lines)} of {len(names)} studies are stale"])


def _runnable() -> list[str]:
    """All studies but those whose packages are not installed; one line names each of these."""
    needs = {} if os.environ.get(PYTHON) else NEEDS
    missing = {name: package for name, needed in needs.items() for package in needed if not find_spec(package)}
    for name, package in missing.items():
        print(f"{name}: left out, as {package} is not installed: pip install {package}", file=sys.stderr)
    return [name for name in STUDIES if name not in missing]


def run(name: str, quick: bool, jobs: int) -> Outcome:
    """One study; a full run leaves its tables in its README and its figures next to it, a quick one only in out/."""
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
        description="Compare memsim with published and measured figures: one row per claim, one folder per study.",
        epilog="A full run replaces the study's rows, and the scoreboard in experiments/README.md.",
    )
    parser.add_argument("study", nargs="*", choices=[*STUDIES, []], metavar="STUDY", help=f"of: {', '.join(STUDIES)}")
    parser.add_argument("--quick", action="store_true", help="small snapshots; writes only to out/papers")
    parser.add_argument("--stale", action="store_true", help="run only studies whose code, presets or inputs changed")
    parser.add_argument("--list", action="store_true", help="list stale studies; run nothing")
    parser.add_argument("--budget", type=float, metavar="MINUTES", help="with --stale: end studies after this time")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser.add_argument("-j", "--jobs", type=int, default=cores, help="processes (default: %(default)s)")
    return parser


if __name__ == "__main__":
    main()
