"""Rates of large copies and reads, next to those that KernelBench's timings show."""

from __future__ import annotations

import csv
from pathlib import Path

import memsim
from experiments.harness.study import Claim, Outcome, Setting, Within
from memsim.gpu.presets import load_gpu
from memsim.report.figure_style import BLUE, GREY, panels, styled, write
from memsim.support.progress import bar

BYTES = 512 << 20  # of each vector
AIM = Within(0.10)
MOVED = {"copy": 2, "read": 1}  # vectors


def run(setting: Setting) -> Outcome:
    """One trial of each kernel on each GPU; with `quick` of vectors that are a sixteenth as long."""
    n = BYTES // 8 // (16 if setting.quick else 1)
    listed = measured()[: 1 if setting.quick else None]
    claims = []
    with bar("kernels") as advance:
        for done, (name, variant, rate) in enumerate(listed):
            advance(done, len(listed), f"{variant} on {name}")
            ours = simulated(name, variant, n)
            claims.append(Claim(f"{name}: {variant}", rate, ours, unit="GB/s", source="KernelBench, level 1", aim=AIM))
    _draw(claims, setting.figures / "rates.png")
    return Outcome(claims, {})


def measured() -> list[tuple[str, str, float]]:
    """Preset, variant of the kernel, and GB/s, of each measured rate."""
    with Path(__file__).with_name("measured.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [(row["gpu"], variant, float(row[variant])) for row in rows for variant in MOVED if row[variant]]


def simulated(name: str, variant: str, n: int) -> float:
    """GB/s that a kernel moves over vectors of ``n`` doubles, launch included."""
    gpu = load_gpu(name)
    trace = memsim.trace("stream", gpu=gpu, n=n, variant=variant, block=256)
    found = memsim.simulate(trace, gpu, trials=1, settings={"stochastic.start_alignment": False})
    return MOVED[variant] * 8 * n / found.kernel_time.mean / 1e6


def _draw(claims: list[Claim], path: Path) -> None:
    rows = range(len(claims))
    with styled():
        figure, (axes,) = panels(1, 1, 7.5, 1.1 + 0.22 * len(claims))
        axes.plot([one.published for one in claims], rows, "o", color=GREY, label="measured")
        axes.plot([one.ours for one in claims], rows, "D", color=BLUE, markersize=4, label="memsim")
        axes.set_yticks(rows, [one.claim for one in claims])
        axes.invert_yaxis()
        axes.set_xlim(left=0)
        axes.set_xlabel("GB/s moved by DRAM")
        figure.legend(loc="outside lower right", ncols=2)
        write(figure, path)
