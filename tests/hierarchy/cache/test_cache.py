"""Caches against pycachesim, access for access, and against policies written by hand."""

from __future__ import annotations

from typing import Any

import machines
import numpy as np
import pytest
from budget import seeds
from machines import instruction

import memsim
from memsim.gpu.choices import Replacement
from memsim.gpu.config import GPU
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.hierarchy.system import System
from memsim.trace.coalesce import coalesce
from memsim.trace.schema import OpKind

cachesim = pytest.importorskip("cachesim", reason="pycachesim is not installed: it needs a C compiler")

LINE = 128
RECORDED: dict[str, dict] = {
    "spmv": dict(rows=256, nnz_per_row=7), "transpose": dict(n=128), "histogram": dict(n=8192),
}  # fmt: skip


def counted(gpu: GPU, stream: list[tuple[OpKind, int]]) -> dict[str, int]:
    """Hits and misses of loads at both levels and of stores in L2, for one warp that does one access at a time."""
    numbers = {line: number for number, line in enumerate(dict.fromkeys(line for _, line in stream))}
    flow = [instruction([(numbers[line], 15)], kind) for kind, line in stream]
    system = System(machines.one_warp(*flow, addresses=list(numbers)), gpu, 1, np.random.SeedSequence(0))
    by_level = system.run().counters[..., CountUnit.transactions].sum(axis=0)
    names = ["l1 read", "l2 read", "l2 write"] if gpu.l1.enabled else ["l2 read", "l2 write"]
    return {
        f"{name} {outcome}": int(by_level[Level[name[:2]], Event[f"{name[3:]}_{outcome}"]])
        for name in names
        for outcome in ("hit", "miss")
    }


def pycachesim(gpu: GPU, stream: list[tuple[OpKind, int]]) -> dict[str, int]:
    """The same by pycachesim. Stores pass its L1, which is right where a store in L1 is no use (FIFO) or L1 is off.

    By `iterload`: `load` of pycachesim 0.3.1 parses 32 bits into a 64-bit address and leaves the upper half to chance.
    """
    loads_only = all(kind == OpKind.load for kind, _ in stream)
    assert loads_only or not gpu.l1.enabled or gpu.l1.replacement == Replacement.fifo
    policy = {Replacement.lru: "LRU", Replacement.fifo: "FIFO"}
    memory = cachesim.MainMemory()
    l2 = cachesim.Cache("L2", gpu.l2.size_bytes // LINE // gpu.l2.ways, gpu.l2.ways, LINE, policy[gpu.l2.replacement])
    l1 = cachesim.Cache(
        "L1", gpu.l1.size_bytes // LINE // gpu.l1.ways, gpu.l1.ways, LINE, policy[gpu.l1.replacement],
        write_back=False, write_allocate=False, load_from=l2, store_to=l2,
    )  # fmt: skip
    memory.load_to(l2)
    memory.store_from(l2)
    found: dict[str, int] = {}

    def note(name: str, cache: Any, before: dict[str, int]) -> None:
        for outcome in ("hit", "miss"):
            count = f"{outcome.upper()}_count"
            key = f"{name} {outcome}"
            found[key] = found.get(key, 0) + cache.stats()[count] - before[count]

    for kind, line in stream:
        before = l1.stats(), l2.stats()
        if kind == OpKind.load:
            (l1 if gpu.l1.enabled else l2).iterload([line * LINE], LINE)
            if gpu.l1.enabled:
                note("l1 read", l1, before[0])
            note("l2 read", l2, before[1])
        else:
            l2.iterload([line * LINE], LINE)  # allocates, and is a use, which a store alone is not in pycachesim
            note("l2 write", l2, before[1])
            l2.iterstore([line * LINE], LINE)
    return found


def plain(replacement: Replacement, l1_ways: int = 4, l2_ways: int = 8, l1: bool = True) -> GPU:
    """Two caches of whole lines: 2 KB and 8 KB."""
    return machines.gpu(
        l1__sector_bytes=128, l1__ways=l1_ways, l1__size_bytes=2048, l1__replacement=str(replacement), l1__enabled=l1,
        l2__ways=l2_ways, l2__size_bytes=8192, l2__replacement=str(replacement), dram__interleave_bytes=1024,
    )  # fmt: skip


@pytest.mark.parametrize(("l1_ways", "l2_ways"), [(1, 1), (4, 8), (16, 64)])
@pytest.mark.parametrize(
    ("replacement", "l1", "stores"),
    [(Replacement.lru, True, False), (Replacement.lru, False, True), (Replacement.fifo, True, True)],
)
@pytest.mark.parametrize("seed", seeds(3))
def test_random_streams_hit_and_miss_as_in_pycachesim(replacement, l1, stores, l1_ways, l2_ways, seed):
    rng = np.random.default_rng(seed)
    lines = np.concatenate([rng.integers(0, 100, 600), np.arange(0, 40).repeat(3), rng.zipf(1.3, 600) % 500])
    kinds = rng.choice([OpKind.load, OpKind.load, OpKind.store if stores else OpKind.load], len(lines))
    stream = [(OpKind(int(kind)), int(line)) for kind, line in zip(kinds, lines, strict=True)]
    gpu = plain(replacement, l1_ways, l2_ways, l1)
    found = counted(gpu, stream)
    expected = pycachesim(gpu, stream)
    assert {name: n for name, n in found.items() if n} == {name: n for name, n in expected.items() if n}
    assert found["l2 read hit"] and found["l2 read miss"] and (not stores or found["l2 write hit"])


@pytest.mark.parametrize("l1", [True, False])
@pytest.mark.parametrize("workload", RECORDED)
def test_recorded_streams_hit_and_miss_as_in_pycachesim(workload, l1):
    """Transactions of a workload, one after the other in the order of its warps; with L1 off also its stores."""
    gpu = plain(Replacement.lru)
    tx = coalesce(memsim.trace(workload, **RECORDED[workload]), gpu)
    loads = np.repeat(tx.instructions["kind"], tx.instructions["count"]) == OpKind.load
    lines = tx.line_address[tx.lines]
    stream = [(OpKind.load if load else OpKind.store, int(line)) for load, line in zip(loads, lines, strict=True)]
    stream = [(kind, line) for kind, line in stream if kind == OpKind.load or not l1][:3000]
    assert len(stream) > 100
    chosen = plain(Replacement.lru, l1=l1)
    found, expected = counted(chosen, stream), pycachesim(chosen, stream)
    assert {name: n for name, n in found.items() if n} == {name: n for name, n in expected.items() if n}


# One set of four ways, by hand: (policy, lines loaded, lines that are left).
BY_HAND = [
    (Replacement.lru, [0, 1, 2, 3, 0, 4], {0, 2, 3, 4}),
    (Replacement.fifo, [0, 1, 2, 3, 0, 4], {1, 2, 3, 4}),
    # Ways fill 1, 2, 3, 0. The tree of way 0's last use points to 2, 3 and there to 2: line 1 goes.
    (Replacement.tree_plru, [0, 1, 2, 3, 4], {0, 2, 3, 4}),
    (Replacement.tree_plru, [0, 1, 2, 3, 1, 4], {1, 2, 3, 4}),  # uses in both halves: the other way of the first goes
    # Resistance to scans (Jaleel et al., ISCA 2010): a line that was used again outlives a scan of lines that are not.
    (Replacement.srrip, [0, 1, 0, 1, 10, 11, 12, 13, 14, 15], {0, 1, 14, 15}),
    (Replacement.lru, [0, 1, 0, 1, 10, 11, 12, 13, 14, 15], {12, 13, 14, 15}),
]


@pytest.mark.parametrize(("replacement", "lines", "left"), BY_HAND)
def test_a_policy_keeps_the_lines_it_should(replacement, lines, left):
    gpu = machines.gpu(l1__ways=4, l1__size_bytes=512, l1__replacement=str(replacement))
    flow = [instruction([(line, 15)]) for line in lines]
    system = System(machines.one_warp(*flow), gpu, 1, np.random.SeedSequence(0))
    system.run()
    assert set(system.machine.sms.cache.tags.tolist()) == left


def test_random_replacement_takes_every_way_alike():
    gpu = machines.gpu(l1__ways=4, l1__size_bytes=512, l1__replacement="random", l2__size_bytes=1 << 20)
    flow = [instruction([(line, 15)]) for line in range(2000)]
    tx = machines.one_warp(*flow)
    ages = []
    for seed in range(20):
        system = System(tx, gpu, 1, np.random.SeedSequence(seed))
        system.run()
        ages += [1999 - int(tag) for tag in system.machine.sms.cache.tags]
    # A line stays for each further miss with probability 3/4, so ages are geometric with mean 3.
    assert 2 < np.mean(ages) < 4.5


def test_bimodal_insertion_keeps_part_of_large_loop():
    """Jaleel et al., ISCA 2010: LRU and SRRIP lose every line of a cyclic walk before its next use, BRRIP does not."""
    flow = [instruction([(line, 15)]) for _ in range(60) for line in range(24)]
    hits = {}
    for policy in ("lru", "srrip", "brrip"):
        gpu = machines.gpu(l1__ways=16, l1__size_bytes=2048, l1__replacement=policy, l2__size_bytes=1 << 20)
        trial = System(machines.one_warp(*flow), gpu, 1, np.random.SeedSequence(0)).run()
        hits[policy] = int(trial.counters[0, Level.l1, Event.read_hit, CountUnit.transactions])
    # At best 15 ways of 24 lines stay.
    assert hits["lru"] == hits["srrip"] == 0 and 0.4 * len(flow) < hits["brrip"] < 15 / 24 * len(flow)


def test_hit_and_miss_cost_their_configured_latency():
    gpu = plain(Replacement.lru)
    for flow, latency in (
        ([instruction([(0, 15)]), instruction([(0, 15)], op=1)], gpu.l1.hit_latency_cycles),
        ([instruction([(0, 15)]), *(instruction([(k, 15)]) for k in range(16, 80, 16)), instruction([(0, 15)], op=1)],
         gpu.l2.hit_latency_cycles),
    ):  # fmt: skip
        trial = System(machines.one_warp(*flow), gpu, 1, np.random.SeedSequence(0)).run()
        assert trial.latency_sum[1] == latency and trial.latency_count[1] == 1
