"""Which kernels of the lists of public programs run as machine code: one row for each captured program.

python -m experiments.machine_code.lists CHECKOUTS --arch 80 --arch 90

CHECKOUTS is the folder of experiments.capture. Every kernel of a program's sources counts, launched or not.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from experiments.capture.programs import LIST, PublicProgram, listed
from experiments.machine_code.coverage import kernels_of
from memsim.sources.sass.program import unknown_instructions
from memsim.support.files import replacing

OUT = Path(__file__).with_name("lists.csv")
LISTS = {"programs": "scoreboard", "later": "later_scoreboard", "third": "third_scoreboard"}
HEADER = ("list", "repository", "main", "architecture", "kernels", "as_machine_code", "missing")


def captured(name: str) -> list[PublicProgram]:
    """The programs of a list that its scoreboard calls captured."""
    with LIST.with_name(f"{LISTS[name]}.csv").open(newline="") as file:
        found = {(row["repository"], row["main"]) for row in csv.DictReader(file) if row["result"] == "captured"}
    programs = {(one.repository, one.main): one for one in listed(LIST.with_name(f"{name}.csv"))}  # whatever arguments
    return [one for key, one in programs.items() if key in found]


def covered(program: PublicProgram, checkouts: Path, architecture: int) -> tuple[int, int, str]:
    """Of one program: (kernels, those that run as machine code, the instructions that the others need)."""
    total, run, missing = 0, 0, Counter[str]()
    options = [f"-I{program.folder(checkouts)}", *program.include_options(checkouts)]
    for file in program.files(checkouts):
        if not file.endswith(".cu"):
            continue
        for kernel in kernels_of(Path(file), architecture, options):
            problems = unknown_instructions(kernel)
            total += 1
            run += not problems
            missing.update({problem.split(" ")[0] for problem in problems})
    return total, run, " ".join(sorted(missing))


def rows(checkouts: Path, architectures: list[int]) -> Iterator[tuple[object, ...]]:
    """One row for each program and architecture."""
    for name in LISTS:
        for program in captured(name):
            for architecture in architectures:
                found = covered(program, checkouts, architecture)
                print(program.repository, program.main, architecture, *found, flush=True)
                yield name, program.repository, program.main, architecture, *found


def main() -> None:
    """Write ``lists.csv``, and print the share of each list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--arch", type=int, action="append")
    given = parser.parse_args()
    table = list(rows(given.checkouts, given.arch or [80]))
    with replacing(OUT) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *table])
    for name in LISTS:
        for architecture in given.arch or [80]:
            mine = [row for row in table if row[0] == name and row[3] == architecture]
            total, run = sum(int(str(row[4])) for row in mine), sum(int(str(row[5])) for row in mine)
            share = f"{100 * run / total:.1f} %" if total else "-"
            print(f"{name}, sm_{architecture}: {run} of {total} kernels of {len(mine)} programs, {share}")


if __name__ == "__main__":
    main()
