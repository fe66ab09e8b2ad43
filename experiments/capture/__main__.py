"""``python -m experiments.capture CHECKOUTS``."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.capture.trying import try_all

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("checkouts", type=Path, help="folder with the repositories, as owner+name")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one program")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "scoreboard.csv")
    given = parser.parse_args()
    try_all(given.checkouts, given.limit, given.out)
