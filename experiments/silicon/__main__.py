"""``python -m experiments.silicon measure`` where a GPU is; ``... compare`` anywhere."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments.silicon import public_programs
from experiments.silicon.compare import compare
from experiments.silicon.measure import measure
from experiments.silicon.public_comparison import compare_public
from memsim.support.errors import InputError


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m experiments.silicon", description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    first = steps.add_parser("measure", help="run the programs on the GPU at hand, under ncu")
    first.add_argument("-o", "--out", type=Path, default=Path("out", "silicon"))
    steps.add_parser("choose", help="write the list of public programs")
    third = steps.add_parser(
        "build", help="build the public programs, for a machine with a GPU of compute capability 9.0"
    )
    third.add_argument("checkouts", type=Path, help="folder with the repositories, as owner+name")
    third.add_argument("-o", "--out", type=Path, default=Path("out", "silicon", "programs"))
    third.add_argument(
        "-I", dest="headers", type=Path, action="append", default=[], help="headers that the toolkit lacks"
    )
    third.add_argument("-j", "--jobs", type=int, default=1)
    fourth = steps.add_parser(
        "compare-public", help="compare memsim's predictions with the profiles of run_programs.sh"
    )
    fourth.add_argument("profiles", type=Path, help="folder with a CSV per program")
    fourth.add_argument("programs", type=Path, help="folder with the executables")
    fourth.add_argument("-o", "--out", type=Path, required=True, help="the table, a row per launch")
    fourth.add_argument("--gpu", required=True, help="preset of the GPU measured")
    fourth.add_argument("--trials", type=int, default=1)
    fourth.add_argument("--each", type=int, default=1, help="launches of a kernel, from its first")
    fourth.add_argument("--limit", type=float, default=60, help="seconds for a launch")
    fourth.add_argument("-j", "--jobs", type=int, default=1)
    second = steps.add_parser("compare", help="compare memsim's predictions with a counters.csv")
    second.add_argument("counters", type=Path)
    second.add_argument("--gpu", required=True, help="preset of the GPU measured")
    second.add_argument("--trials", type=int, default=4)
    second.add_argument("-j", "--jobs", type=int, default=1)
    asked = parser.parse_args(arguments)
    try:
        if asked.step == "measure":
            measure(asked.out)
        elif asked.step == "choose":
            public_programs.write(public_programs.chosen())
        elif asked.step == "build":
            public_programs.build_all(asked.checkouts, asked.out, asked.headers, asked.jobs)
        elif asked.step == "compare-public":
            given = dict(trials=asked.trials, each=asked.each, limit=asked.limit, jobs=asked.jobs)
            print(compare_public(asked.profiles, asked.programs, asked.out, asked.gpu, **given))
        else:
            print(compare(asked.counters, asked.gpu, asked.trials, asked.jobs))
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
