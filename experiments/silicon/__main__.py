"""``python -m experiments.silicon measure`` where a GPU is; ``... compare`` anywhere."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments.silicon import public_programs
from experiments.silicon.comparison import compare
from experiments.silicon.measure import STEPS, Setting, measure
from memsim.support.errors import InputError


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m experiments.silicon", description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    first = steps.add_parser("measure", help="run the programs on the GPU at hand, under ncu")
    first.add_argument("-o", "--out", type=Path, default=Path("out", "silicon"))
    first.add_argument("--only", nargs="+", choices=STEPS, default=STEPS, metavar="STEP", help=", ".join(STEPS))
    first.add_argument("--sgemm", type=Path, help="checkout of siboehm/SGEMM_CUDA")
    first.add_argument("--packed", type=Path, help="folder that pack_programs.sh made")
    first.add_argument("--tutorials", type=Path, help="tutorials of the Triton that is installed")
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
    second = steps.add_parser("compare", help="compare memsim's predictions with what was measured")
    second.add_argument("folder", type=Path, help="folder that measure wrote")
    second.add_argument("programs", type=Path, help="folder with the public programs' executables")
    second.add_argument("-o", "--out", type=Path, required=True, help="the table, a row per launch")
    second.add_argument("--gpu", required=True, help="preset of the GPU measured")
    second.add_argument("--only", default="", help="regular expression of the launches")
    second.add_argument("--trials", type=int, default=1)
    second.add_argument("--limit", type=float, default=60, help="seconds for a launch")
    second.add_argument("-j", "--jobs", type=int, default=1)
    asked = parser.parse_args(arguments)
    try:
        if asked.step == "measure":
            measure(Setting(asked.out, asked.sgemm, asked.packed, asked.tutorials), asked.only)
        elif asked.step == "choose":
            public_programs.write(public_programs.chosen())
        elif asked.step == "build":
            public_programs.build_all(asked.checkouts, asked.out, asked.headers, asked.jobs)
        else:
            given = dict(trials=asked.trials, limit=asked.limit, jobs=asked.jobs, only=asked.only)
            print(compare(asked.folder, asked.programs, asked.out, asked.gpu, **given))
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
