"""``python -m experiments.robustness [--kills N]``: provoke, count, and print the table."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from experiments.robustness.kills import COMMANDS, kill_at_random


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what killed commands left."""
    parser = argparse.ArgumentParser(prog="experiments.robustness", description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="runs to kill, of each command")
    kills = parser.parse_args(arguments).kills
    print("| kill -9 of | killed | damaged outputs | processes that went on | left behind after the next run |")
    print("|---|--:|--:|--:|--:|")
    for name in COMMANDS:
        with TemporaryDirectory() as folder:
            done = kill_at_random(name, Path(folder), kills)
        print(f"| {name} | {done.runs} of {kills} | {done.damaged} | {done.outlived} | {len(done.left)} |", flush=True)


main()
