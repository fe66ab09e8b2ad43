"""``python -m experiments.microbenchmarks [GPU ...]``: the tables of the README, about a minute and a half."""

from __future__ import annotations

import sys

from experiments.microbenchmarks.study import table
from memsim.presets import load_gpu

GPUS = ("tesla-c2050", "gtx480", "tesla-v100")


def main(names: list[str]) -> None:
    for name in names or GPUS:
        print(f"| {name} | configured | found | |\n|---|---|---|---|")
        for parameter, configured, found in table(load_gpu(name)):
            mark = "" if isinstance(configured, str) else "same" if configured == found else "differs"
            print(f"| {parameter} | {configured} | {'none' if found is None else found} | {mark} |")
        print(flush=True)


main(sys.argv[1:])
