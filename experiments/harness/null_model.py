"""memsim's errors of times next to those of a null model, by study: ``python -m experiments.harness.null_model``.

The null model takes the bytes that DRAM moved, as the hardware counted them, over the rate of a large copy. memsim's
errors are those of each study's last full run.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments.harness.readme import markdown
from experiments.harness.scoreboard import HEADERS, kept
from memsim.gpu.presets import load_gpu, override

EXPERIMENTS = Path(__file__).parents[1]
# Share of the peak that large copies reach: KernelBench's times on two H100s (GA100 and Volta are taken to reach as
# much), and on L40S and L4 (the RTX 4090's generation).
COPY_SHARE = {"quadro-gv100": 0.90, "a100": 0.90, "rtx4090": 0.77}
A100_MHZ = 1215  # memory of the boards with 40 GB
FAMILIES = {
    "Quadro GV100, 23 kernels": (
        "volta_counters",
        "cycles, mean absolute relative error of 23 kernels, 17 captured and 6 described",
    ),
    "Quadro GV100, 12 launches": ("gv100_launches", "cycles, mean absolute relative error of 12 launches"),
    "A100 and RTX 4090, 32 launches": ("modern_counters", "time, mean absolute relative error of 32 launches"),
    "A100, 9 reductions": ("reduction_ladder", "A100, mean absolute relative error of 9 steps"),
    "A100, H100, RTX 3090, Liger-Kernel": ("liger", "all: time, mean absolute relative error of 36 rows"),
}


def peak_gb_per_s(gpu: str) -> float:
    """The peak rate of a preset's memory.

    >>> round(peak_gb_per_s("rtx4090"))
    1008
    """
    machine = load_gpu(gpu)
    if gpu == "a100":
        machine = override(machine, {"dram.clock_mhz": A100_MHZ})
    dram = machine.dram
    return dram.channels * 32 * dram.clock_mhz / dram.timing.burst / 1000


def microseconds(gpu: str, moved_bytes: float) -> float:
    """The null model's time of a launch."""
    return moved_bytes / (COPY_SHARE[gpu] * peak_gb_per_s(gpu)) / 1000


def _rows(study: str) -> list[dict[str, str]]:
    with (EXPERIMENTS / study / "measured.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def counted_errors(study: str) -> Iterator[float]:
    """Relative errors of the null model for a study with counters of DRAM."""
    clock_mhz = load_gpu("quadro-gv100").sm.clock_mhz
    for row in _rows(study):
        if study == "modern_counters":
            gpu = "a100" if "A100" in row["gpu"] else "rtx4090"
            time, moved = float(row["dur_ns"]) / 1000, float(row["dram_rd_bytes"]) + float(row["dram_wr_bytes"])
        else:
            sectors = row.get("dram_sectors") or float(row["dram_reads"]) + float(row["dram_writes"])
            gpu, time, moved = "quadro-gv100", float(row["cycles"]) / clock_mhz, 32 * float(sectors)
        yield microseconds(gpu, moved) / time - 1


def null_error(study: str, claim: str) -> float:
    """The null model's mean absolute error in percent."""
    if study in ("volta_counters", "gv100_launches", "modern_counters"):
        return 100 * float(np.mean(np.abs(list(counted_errors(study)))))
    cells = {row[0]: row[HEADERS.index("memsim")] for row in kept(EXPERIMENTS / study / "scoreboard.csv")}
    over = {"liger": "all: this error", "reduction_ladder": "A100, this error"}[study]
    return float(cells[claim]) / float(cells[f"{over} over that of the null model"])


def table() -> str:
    """A row per family: both models' errors."""
    rows = []
    for family, (study, claim) in FAMILIES.items():
        cells = {row[0]: row[HEADERS.index("memsim")] for row in kept(EXPERIMENTS / study / "scoreboard.csv")}
        rows.append([family, f"[{study}]({study})", f"{float(cells[claim]):.0f}", f"{null_error(study, claim):.0f}"])
    return markdown(["measured on", "study", "memsim, mean error %", "null model"], rows, left=2)


if __name__ == "__main__":
    print(table())
