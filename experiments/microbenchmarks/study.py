"""What is configured and what the walks find, parameter by parameter."""

from __future__ import annotations

import numpy as np

from experiments.microbenchmarks import discover
from experiments.microbenchmarks.chase import laps
from memsim.config import GPU, Inclusion
from memsim.presets import override

ODD = 33  # a stride of so many fetches visits all sets of a cache without hash alike, and no line twice
Row = tuple[str, object, object]  # parameter, configured, found


def first_level(gpu: GPU) -> list[Row]:
    """Of L1."""
    hit = discover.hit_latency(gpu)
    fetch = discover.fetch_bytes(gpu)
    size = discover.capacity(gpu, fetch, hit) * fetch
    lines = discover.capacity(gpu, ODD * fetch, hit)
    return [
        ("L1 hit latency, cycles", gpu.l1.hit_latency_cycles, hit),
        ("L1 sector, bytes", gpu.l1.sector_bytes, fetch),
        ("L1 size, bytes", gpu.l1.size_bytes, size),
        ("L1 line, bytes", gpu.l1.line_bytes, round(size / lines)),
        ("L1 ways", gpu.l1.ways, discover.ways(gpu, np.arange(1024) * size, hit)),
    ]


def second_level(gpu: GPU) -> list[Row]:
    """Of L2: its block with L1 off, as in the paper; the rest behind an L1 that always misses."""
    off = override(gpu, {"l1.enabled": False})
    stride = gpu.l1.line_bytes
    l1_size = gpu.l1.size_bytes
    hit = laps(gpu, np.arange(16 * l1_size // stride) * stride)[-1].mean
    size = discover.capacity(gpu, stride, hit, step=256) * stride
    ways = discover.ways(off, np.arange(512) * size, discover.hit_latency(off))
    return [
        ("L2 hit latency, cycles", gpu.l2.hit_latency_cycles, hit),
        ("L2 sector, bytes", gpu.l2.sector_bytes, discover.fetch_bytes(off)),
        ("L2 size, bytes", gpu.l2.size_bytes, size),
        ("L2 ways", gpu.l2.ways, ways),
    ]


def inclusion(gpu: GPU) -> list[Row]:
    """The paper's test, and one that tells an inclusive L2 from one that merely gets every line."""
    again, own = discover.second_reader(gpu, gpu.l1.size_bytes, gpu.l1.line_bytes)
    lost = discover.back_invalidates(gpu, gpu.l2.size_bytes, gpu.l1.line_bytes)
    return [
        ("second reader of a list, cycles", gpu.l2.hit_latency_cycles, round(again, 1)),
        ("reader of its own list, cycles", "DRAM", round(own, 1)),
        ("L2 inclusive", gpu.l2.inclusion == Inclusion.inclusive, lost),
    ]


def table(gpu: GPU) -> list[Row]:
    """All rows."""
    return first_level(gpu) + second_level(gpu) + inclusion(gpu)
