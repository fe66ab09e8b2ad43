"""Section 2.1: what the paper's walks found on the card, and what the same walks find in the simulated one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import memsim
from experiments.baghsorkhi2012.kernels import CONVENTION, GPU, SEED
from experiments.harness.study import Claim, Setting, Within
from experiments.microbenchmarks.study import Row, table
from memsim import Launch, Thread, workload
from memsim.gpu.presets import load_gpu

_ELEMENTS = 1 << 14
_FOUND = {  # row of the walks' table -> the paper's figure, and its unit
    "L1 line, bytes": (128, "bytes"),
    "L1 size, bytes": (16 << 10, "bytes"),
    "L1 ways": (64, "ways"),
    "L2 line, bytes": (32, "bytes"),
    "L2 size, bytes": (768 << 10, "bytes"),
    "L2 ways": (64, "ways"),
}
_LATENCIES = {"L1 hit latency, cycles": 90.0, "L2 hit latency, cycles": 250.0}  # nanoseconds


def claims(setting: Setting) -> list[Claim]:
    """What walks of a linked list find, and which stores hit; a quick run does not walk, which takes half a minute."""
    walks = [] if setting.quick else walk_claims(table(load_gpu(GPU)))
    return [*walks, *store_claims()]


def walk_claims(table_rows: Iterable[Row]) -> list[Claim]:
    """Of the walks' table."""
    gpu = load_gpu(GPU)
    found: dict[str, Any] = {name: value for name, _, value in table_rows}
    rows = []
    for name, (published, unit) in _FOUND.items():
        rows.append(Claim(_walked(name), published, found[name], None, unit, "section 2.1", aim=Within(0)))
    for name, ns in _LATENCIES.items():
        ours = found[name] * 1e3 / gpu.sm.clock_mhz
        rows.append(Claim(_walked(name), ns, ours, None, "ns", "section 2.1", aim=Within(0.05)))
    return rows


def store_claims() -> list[Claim]:
    """Which stores hit L2: those to blocks that a store, not a load, brought in."""
    source = "section 2.1: only a block activated by a write request hits"
    expected = {"read": 0, "written": 100}
    return [
        Claim(f"stores that hit L2, of blocks {how} before", hits, ours, None, "%", source, aim=Within(0))
        for how, hits in expected.items()
        for ours in [100 * _write_ratio(how == "written")]
    ]


def _walked(row: str) -> str:
    return f"{row.split(',')[0]}, by walking a list"


def _write_ratio(written_before: bool) -> float:
    """L2 hit ratio of the second pass's stores, alone."""
    trace = memsim.trace(passes, blocks="all", gpu=GPU, written_before=written_before)
    result = memsim.simulate(trace, GPU, trials=1, seed=SEED, convention=CONVENTION)
    total = result.l2_write.mean
    return 2 * total if written_before else total  # the first pass, half of all stores, finds nothing


def store_after(t: Thread, a, out, written_before):
    """Touch an element by a store or a load, wait, and store to it."""
    i = t.global_id
    if written_before:
        a[i] = 1.0
    else:
        out[i] = a[i]
    t.sync()
    a[i] = 2.0


@workload
def passes(written_before: bool = False) -> Launch:
    """One block after another touches its own elements, then stores to them."""
    a = np.zeros(_ELEMENTS, np.float32)
    arguments = dict(a=a, out=np.zeros_like(a), written_before=written_before)
    return Launch(store_after, grid=_ELEMENTS // 256, block=256, arguments=arguments)
