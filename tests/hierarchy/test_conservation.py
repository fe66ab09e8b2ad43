"""Nothing is lost between the levels: what one sends, the next one gets; what is written is somewhere at the end."""

from __future__ import annotations

from collections import Counter

import machines
import numpy as np
from budget import drawn
from hypothesis import assume, given
from hypothesis import strategies as st
from machines import instruction

from memsim.gpu.choices import Inclusion, L1WritePolicy, WriteHit, WriteMiss
from memsim.gpu.config import GPU
from memsim.gpu.presets import override
from memsim.hierarchy.conservation import ATOMICS, NOT_HERE, READS, WRITES, broken_law
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.hierarchy.system import System
from memsim.trace.schema import OpKind
from memsim.trace.transactions import Transactions

KINDS = {OpKind.load: READS, OpKind.store: WRITES, OpKind.atomic: ATOMICS, OpKind.reduction: ATOMICS}


def finished(tx: Transactions, gpu: GPU, seed: int = 0) -> tuple[System, np.ndarray]:
    """(system after a run, its counters)."""
    system = System(tx, gpu, 2, np.random.SeedSequence(seed))
    return system, system.run().counters


def bits(masks) -> int:
    return sum(int(mask).bit_count() for mask in masks)


@drawn(60)
@given(st.data())
def test_every_transaction_is_counted_once_in_l1(data):
    gpu = data.draw(machines.machines())
    tx = data.draw(machines.traces(gpu))
    _, counters = finished(tx, gpu)
    asked: Counter = Counter()
    for i in tx.instructions:
        masks = tx.masks[i["first"] : i["first"] + i["count"]]
        asked[int(i["op"]), i["kind"], CountUnit.transactions] += len(masks)
        asked[int(i["op"]), i["kind"], CountUnit.sectors] += bits(masks)
    for op in range(tx.n_ops):
        for kinds in ([OpKind.load], [OpKind.store], [OpKind.atomic, OpKind.reduction]):
            for unit in CountUnit:
                counted = counters[op, Level.l1, KINDS[kinds[0]], unit].sum()
                assert counted == sum(asked[op, kind, unit] for kind in kinds)
    assert (counters[tx.n_ops, Level.l1] == 0).all()


@drawn(60)
@given(st.data())
def test_what_l1_sends_l2_gets(data):
    gpu = data.draw(machines.machines())
    tx = data.draw(machines.traces(gpu))
    _, counters = finished(tx, gpu)
    l1, l2 = counters[: tx.n_ops, Level.l1], counters[: tx.n_ops, Level.l2]  # the row behind them: page walks
    for unit in CountUnit:
        assert (l1[:, NOT_HERE, unit].sum(axis=1) == l2[:, READS, unit].sum(axis=1)).all()
        assert (l1[:, ATOMICS, unit].sum(axis=1) == l2[:, ATOMICS, unit].sum(axis=1)).all()
    sent, came = l1[:, WRITES].sum(axis=1), l2[:, WRITES].sum(axis=1)
    if gpu.l1.write_policy != L1WritePolicy.write_back or not gpu.l1.enabled:
        kept = tx.local > 0 if gpu.l1.policy_of_local is L1WritePolicy.write_back and len(tx.local) else slice(0)
        came[kept] = sent[kept] - merged_stores(tx)[kept]  # it is written back, or ends with its block
        assert (sent == came + merged_stores(tx)).all()
        assert l2[kept, WRITES, CountUnit.sectors].sum() <= sent[kept, CountUnit.sectors].sum()


def merged_stores(tx: Transactions) -> np.ndarray:
    """Transactions and sectors of stores that L1 merges into later ones, by op: i8 [n_ops, units]."""
    found = np.zeros((tx.n_ops, len(CountUnit)), np.int64)
    for i in tx.instructions:
        for k in range(int(i["first"]), int(i["first"]) + int(i["count"])) if len(tx.merged) else ():
            found[int(i["op"]), CountUnit.transactions] += tx.merged[k] == tx.masks[k]
            found[int(i["op"]), CountUnit.sectors] += int(tx.merged[k]).bit_count()
    return found


@drawn(60)
@given(st.data())
def test_what_l2_fetches_dram_reads(data):
    gpu = override(data.draw(machines.machines()), {"l2.fetch_bytes": 32, "l2.write_hit": str(WriteHit.any)})
    tx = data.draw(machines.traces(gpu))
    _, counters = finished(tx, gpu)
    l2 = counters[:, Level.l2, :, CountUnit.sectors].sum(axis=0)
    fetched = l2[NOT_HERE].sum() + l2[[Event.atomic_miss, Event.atomic_sector_miss]].sum()
    if gpu.l2.enabled and gpu.l2.write_miss in (WriteMiss.fetch, WriteMiss.update_memory):
        fetched += l2[[Event.write_miss, Event.write_sector_miss]].sum()
    read, written = (counters[:, Level.dram, kinds, CountUnit.sectors].sum() for kinds in (READS, WRITES))
    completed = written if gpu.l2.max_partial_ways else 0  # at most: memory completes a sector before it is written
    assert fetched <= read <= fetched + completed


def writes_once(gpu: GPU, rng: np.random.Generator) -> tuple[Transactions, int]:
    """A trace that writes no sector twice, among loads that push lines out: (trace, sectors written)."""
    per_line = gpu.l1.line_bytes // 32
    whole = (1 << per_line) - 1
    left = {line: whole for line in range(24)}
    written = 0
    blocks = []
    for _ in range(3):
        warp = []
        for _ in range(40):
            line = int(rng.integers(24))
            mask = int(rng.integers(1, whole + 1)) & left[line]
            if mask and rng.random() < 0.5:
                left[line] ^= mask
                written += mask.bit_count()
                kind = OpKind(int(rng.choice([OpKind.store, OpKind.store, OpKind.atomic, OpKind.reduction])))
                warp.append(instruction([(line, mask)], kind))
            else:
                warp.append(instruction([(line, whole)]))
        blocks.append([warp])
    return machines.trace(blocks, range(24)), written


def l1_sectors(system: System, field: str) -> list[tuple[int, int, int]]:
    """(SM, line, mask) of every line in an L1."""
    tags, ways = system.machine.sms.cache.tags, system.machine.sms.cache.ways
    per_sm = len(ways) // len(system.machine.sms.sms)
    held = np.flatnonzero(tags >= 0)
    return [(int(way) // per_sm, int(tags[way]), int(ways[field][way])) for way in held]


def l2_sectors(system: System, gpu: GPU, field: str) -> dict[int, int]:
    """L1 line -> mask over its L2 lines."""
    per = gpu.l1.line_bytes // gpu.l2.line_bytes
    tags, ways = system.machine.slices.cache.tags, system.machine.slices.cache.ways
    found: dict[int, int] = {}
    for way in np.flatnonzero(tags >= 0):
        line, position = divmod(int(tags[way]), per)
        found[line] = found.get(line, 0) | int(ways[field][way]) << position * gpu.l2.line_bytes // 32
    return found


@drawn(60)
@given(machines.machines(), st.integers(0, 1000))
def test_every_written_sector_is_dirty_or_in_memory(gpu, seed):
    tx, written = writes_once(gpu, np.random.default_rng(seed))
    system, counters = finished(tx, gpu, seed)
    in_memory = counters[:, Level.dram, WRITES, CountUnit.sectors].sum()
    in_l1 = bits(mask for _, _, mask in l1_sectors(system, "dirty"))
    in_l2 = bits(l2_sectors(system, gpu, "dirty").values())
    assert in_memory + in_l1 + in_l2 == written


@drawn(60)
@given(st.data())
def test_an_inclusive_l2_includes(data):
    """Clean sectors of every L1, that is: what a store alone put into a write-back L1 has never been in L2."""
    gpu = data.draw(machines.machines())
    assume(gpu.l1.enabled and L1WritePolicy.write_allocate not in (gpu.l1.write_policy, gpu.l1.local_write_policy))
    one_part = {"l2.enabled": True, "l2.partitions": 1, "l2.partition_cycles": 0}
    gpu = override(gpu, {"l2.inclusion": str(Inclusion.inclusive)} | one_part)
    seed = data.draw(st.integers(0, 1000))
    tx, _ = writes_once(gpu, np.random.default_rng(seed))
    system, _ = finished(tx, gpu, seed)
    below = l2_sectors(system, gpu, "valid")
    dirty = {(sm, line): mask for sm, line, mask in l1_sectors(system, "dirty")}
    for sm, line, valid in l1_sectors(system, "valid"):
        assert valid & ~dirty[sm, line] & ~below.get(line, 0) == 0


def test_l2_that_is_not_inclusive_does_not_include():
    """The test above can fail: one line stays in L1 by its use there, unseen by L2, which others push it out of."""
    gpu = machines.gpu(l1__ways=2, l1__size_bytes=1024, l2__ways=2, l2__size_bytes=256)
    flow = [instruction([(line, 15)]) for k in range(4, 40, 4) for line in (0, k)]
    tx = machines.one_warp(*flow, addresses=range(40))
    for inclusion, kept in ((Inclusion.non_inclusive, True), (Inclusion.inclusive, False)):
        chosen = override(gpu, {"l2.inclusion": str(inclusion)})
        system, _ = finished(tx, chosen)
        below = l2_sectors(system, chosen, "valid")
        held = {line for _, line, valid in l1_sectors(system, "valid") if valid}
        assert (held <= set(below)) is not kept


@drawn(60)
@given(st.data())
def test_results_obey_the_laws_of_every_replay(data):
    """Cold and warm; and what was counted at one level cannot become another number."""
    gpu = data.draw(machines.machines())
    tx = data.draw(machines.traces(gpu))
    config = gpu.model_dump(mode="json")
    trial = System(tx, gpu, 2, np.random.SeedSequence(0)).run(data.draw(st.booleans()), np.random.default_rng(1))
    assert broken_law(trial, config) is None
    op = data.draw(st.integers(0, tx.n_ops))
    for event in (Event.read_hit, Event.read_miss, Event.atomic_hit):
        trial.counters[op, Level.l1, event, CountUnit.transactions] += 1
        assert broken_law(trial, config)
        trial.counters[op, Level.l1, event, CountUnit.transactions] -= 1
    for event in (Event.read_hit, Event.read_miss, Event.atomic_miss):
        trial.counters[op, Level.l2, event] += 1
        assert broken_law(trial, config)
        trial.counters[op, Level.l2, event] -= 1
    assert broken_law(trial, config) is None


@drawn(30)
@given(st.data())
def test_nothing_is_left_under_way(data):
    gpu = data.draw(machines.machines())
    tx = data.draw(machines.traces(gpu))
    system, _ = finished(tx, gpu)
    machine = system.machine
    assert len(machine.sms.requests) == machine.sms.free_requests[0]
    for state, names in ((machine.sms.sms, ("loads", "stores", "ready", "events")),
                         (machine.slices.slices, ("fetches", "write_backs", "done")),
                         (machine.channels.channels, ("reads", "writes"))):  # fmt: skip
        assert all((state[name] == 0).all() for name in names)
    for level in (machine.sms, machine.slices):
        tags = level.cache.tags
        reserved = (level.cache.ways["pending"] == 255) & (tags < 0)
        assert (level.cache.ways["pending"][~reserved] == 0).all()
        assert (level.cache.ways["valid"][tags < 0] == 0).all() and (level.cache.ways["dirty"][tags < 0] == 0).all()
    assert len(machine.sms.mshr_targets) == machine.sms.free_mshr_targets[0]
    assert len(machine.sms.loads) == machine.sms.free_loads[0]


def test_packet_waits_for_all_outstanding_fetches():
    """Of two sectors the second one is on its way already when the first is asked for: it comes first."""
    gpu = machines.gpu(sm__count=2, l1__line_bytes=128, l2__line_bytes=32, l2__size_bytes=4096)
    early = [instruction([(0, 0b10)])]
    late = [instruction(compute_run=1, sequence=False), instruction([(0, 0b11)], op=1)]
    trial = System(machines.trace([[early], [late]]), gpu, 1, np.random.SeedSequence(0)).run()
    assert trial.counters[1, Level.l2, Event.read_merge, CountUnit.sectors] == 1
    first, second = trial.latency_sum[:2]
    assert trial.latency_count[:2].tolist() == [1, 1] and second > first - gpu.sm.instruction_cycles
