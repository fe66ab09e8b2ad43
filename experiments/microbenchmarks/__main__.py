"""``python -m experiments.microbenchmarks [GPU ...]``: the tables of the README."""

from __future__ import annotations

import sys
from time import perf_counter

from experiments.microbenchmarks.study import differing, table
from memsim.gpu.presets import load_gpu

GPUS = ("tesla-c2050", "gtx480", "tesla-v100", "quadro-gv100")


def main(names: list[str]) -> None:
    for name in names or GPUS:
        begin = perf_counter()
        rows = table(load_gpu(name))
        wrong = differing(rows)
        print(f"| {name} | configured | found | |\n|---|---|---|---|")
        for parameter, configured, found in rows:
            mark = "" if isinstance(configured, str) else "differs" if parameter in wrong else "same"
            print(f"| {parameter} | {configured} | {found} | {mark} |")
        print(f"\n{len(wrong)} differ; {perf_counter() - begin:.0f} s\n", flush=True)


main(sys.argv[1:])
