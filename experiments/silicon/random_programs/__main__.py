"""``python -m experiments.silicon.random_programs write`` and ``compare``; device.py runs between, where a GPU is."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments.silicon.random_programs.compare import compare
from experiments.silicon.random_programs.package import KINDS, write
from memsim.support.errors import InputError


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m experiments.silicon.random_programs", description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    first = steps.add_parser("write", help="pack programs for a GPU")
    first.add_argument("folder", type=Path)
    first.add_argument("--gpu", required=True, help="preset of the GPU that will run them")
    for kind in KINDS:
        first.add_argument(f"--{kind}", type=_seeds, default=range(0), metavar="A-B", help=f"seeds of {kind} programs")
    first.add_argument("--ptx", action="store_true", help="pack PTX, which the driver assembles")
    second = steps.add_parser("compare", help="compare a GPU's results with memsim's machines")
    second.add_argument("folder", type=Path)
    second.add_argument("results", type=Path)
    second.add_argument("--kind", action="append", choices=list(KINDS), default=[])
    second.add_argument("--most", type=int, help="programs of each kind")
    asked = parser.parse_args(arguments)
    try:
        if asked.step == "compare":
            print(compare(asked.folder, asked.results, asked.most, tuple(asked.kind)))
        else:
            write(asked.folder, {k: v for k in KINDS if (v := getattr(asked, k))}, asked.gpu, as_ptx=asked.ptx)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _seeds(text: str) -> range:
    first, _, last = text.partition("-")
    if not (first.isdigit() and last.isdigit() and int(first) <= int(last)):
        raise argparse.ArgumentTypeError(f"{text}: must be like 0-999")
    return range(int(first), int(last) + 1)


if __name__ == "__main__":
    sys.exit(main())
