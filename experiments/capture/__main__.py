"""``python -m experiments.capture CHECKOUTS``."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.capture.programs import LIST, listed
from experiments.capture.trying import checked, read, tried, write

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("checkouts", type=Path, help="folder with the repositories, as owner+name")
    parser.add_argument("--list", type=Path, default=LIST, help="the programs; give its --out too")
    parser.add_argument("--limit", type=float, default=60, help="seconds of a processor for one program")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "scoreboard.csv")
    parser.add_argument("--again", default="", help="results to try again (refused,time; old: of earlier versions)")
    parser.add_argument("--only", default="", help="programs whose repository or file has this in its name")
    parser.add_argument("--checks", action="store_true", help="run captured programs to their ends too")
    given = parser.parse_args()
    known, again = read(given.out), given.again.split(",")
    order = {(one.repository, one.main, one.arguments): one for one in listed(given.list)}
    known = {program: row for program, row in known.items() if program in order}
    for program, one in order.items():
        if given.only not in f"{one.repository}/{one.main}":
            continue
        before = known.get(program)
        if before is None or before.result in again or ("old" in again and not before.tried):
            known[program] = tried(one, given.checkouts, given.limit)
        if given.checks and known[program].result == "captured" and not known[program].check:
            known[program] = checked(one, known[program], given.checkouts, given.limit)
        write((known[key] for key in order if key in known), given.out)
        print(*known[program].program, known[program].result, known[program].check, known[program].message, flush=True)
