"""Writes ``programs.csv``, the list, by a rule that was fixed before any of them was profiled.

CUDA C++: of cuda-samples, Rodinia and llm.c's ``dev/cuda``, the programs of the first list of experiments/capture that need
nothing but CUDA and that `memsim capture` runs with what the list knows (files and arguments); of these, in the order of
their paths, three at equal distances. Triton: the first three of its tutorials.

    python -m experiments.whole_programs.choosing
"""

from __future__ import annotations

import csv
from pathlib import Path

from experiments.capture.programs import Program, listed, write
from experiments.capture.trying import read

HERE = Path(__file__).parent
LIST = HERE / "programs.csv"
EACH = 3
_REPOSITORIES = ("NVIDIA/cuda-samples", "yuhc/gpu-rodinia", "karpathy/llm.c")


def chosen() -> list[Program]:
    """The twelve."""
    known = read(HERE.parent / "capture" / "scoreboard.csv")
    found = []
    for repository in _REPOSITORIES:
        plain = [
            one
            for one in listed()
            if one.repository == repository
            and not one.needs
            and known[one.repository, one.main, one.arguments].result == "captured"
        ]
        found += [plain[number * len(plain) // EACH] for number in range(EACH)]
    with (HERE.parent / "python_programs" / "tutorials.csv").open(newline="") as file:
        tutorials = list(csv.DictReader(file))[:EACH]
    found += [Program(one["repository"], one["commit"], one["file"], "", "", one["arguments"], "") for one in tutorials]
    return found


if __name__ == "__main__":
    write(chosen(), LIST)
