"""Writes ``programs.csv``, the list, by a rule that was fixed before any of them was profiled.

CUDA C++: of cuda-samples, Rodinia and llm.c's ``dev/cuda``, the programs of the first list of experiments/capture that
need nothing but CUDA and that `memsim capture` runs with what the list knows (files and arguments); of these, in the
order of their paths, three at equal distances. CUDA 13 has removed ``cudaThreadSynchronize``, which three of Rodinia's
five call; of Rodinia the list has the other two, and ``nw``, of the projects' list. Triton: the first three of its
tutorials.

    python -m experiments.whole_programs.choosing
"""

from __future__ import annotations

import csv
from pathlib import Path

from experiments.capture.programs import PublicProgram, listed, write
from experiments.capture.trying import read

HERE = Path(__file__).parent
LIST = HERE / "programs.csv"
EACH = 3
_REPOSITORIES = ("NVIDIA/cuda-samples", "yuhc/gpu-rodinia", "karpathy/llm.c")
_REMOVED = (
    "cuda/particlefilter/ex_particle_CUDA_float_seq.cu",
    "cuda/particlefilter/ex_particle_CUDA_naive_seq.cu",
    "cuda/srad/srad_v2/srad.cu",
)
_NEEDLE = PublicProgram(
    "yuhc/gpu-rodinia", "9c10d3ea16ddba2ba057cc3951a9efc4c2cc18a4", "cuda/nw/needle.cu", "", "cuda/util", "2048 10", ""
)


def chosen() -> list[PublicProgram]:
    """The twelve."""
    known = read(HERE.parent / "capture" / "scoreboard.csv")
    found = []
    for repository in _REPOSITORIES:
        more = [_NEEDLE] if repository == _NEEDLE.repository else []
        plain = [
            one
            for one in listed()
            if one.repository == repository
            and not one.needs
            and known[one.repository, one.main, one.arguments].result == "captured"
            and one.main not in _REMOVED
        ] + more
        found += [plain[number * len(plain) // EACH] for number in range(EACH)]
    with (HERE.parent / "python_programs" / "tutorials.csv").open(newline="") as file:
        tutorials = list(csv.DictReader(file))[:EACH]
    found += [
        PublicProgram(one["repository"], one["commit"], one["file"], "", "", one["arguments"], "") for one in tutorials
    ]
    return found


if __name__ == "__main__":
    write(chosen(), LIST)
