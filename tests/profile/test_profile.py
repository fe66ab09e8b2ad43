"""What static instructions ask for, against sets and lists kept in plain Python, and numpy."""

from __future__ import annotations

import numpy as np
import pytest
from budget import seeds
from profile_traces import random_transactions

import memsim
from memsim.gpu.presets import load_gpu
from memsim.hierarchy.execution import Execution
from memsim.montecarlo.shared_stages import prepared
from memsim.profile.op_profile import OCTAVES
from memsim.profile.ops import profile
from memsim.profile.order import interleaved
from memsim.profile.reuse import EVERY_SM, ReuseLevel, distances, in_sets
from memsim.profile.skew import RUNS, skew
from memsim.support.scratch import Scratch
from memsim.trace.bits import popcounts
from memsim.trace.coalesce import coalesce

GPU = load_gpu("tesla-v100")


def _profile(trace):
    with Scratch() as folder:
        return profile(trace, prepared(Execution.of(trace, GPU, folder), trace)[0])


def _by_sets(trace, tx):
    """first_sectors and block_sectors by op, from sets."""
    ops = len(trace.ops)
    ever, first, of_block = set(), [0] * ops, [0] * ops
    for block in range(trace.n_blocks):
        here = set()
        begin, end = tx.first_instruction[tx.first_warp[block : block + 2]]
        for row in tx.instructions[begin:end]:
            for k in range(row["first"], row["first"] + row["count"]):
                for sector in range(8):
                    if tx.masks[k] >> sector & 1:
                        unit = int(tx.lines[k]), sector
                        first[row["op"]] += unit not in ever
                        of_block[row["op"]] += unit not in here
                        ever.add(unit)
                        here.add(unit)
    return first, of_block


@pytest.mark.parametrize(
    "name, parameters", [("spmv", dict(rows=512, nnz_per_row=7)), ("matmul", dict(n=32, variant="tiled"))]
)
def test_first_uses_are_those_of_sets(name, parameters):
    trace = memsim.trace(name, blocks="all", **parameters)
    transactions = coalesce(trace, GPU)
    found = _profile(trace)
    first, of_block = _by_sets(trace, transactions)
    assert [op.first_sectors for op in found] == first
    assert [op.block_sectors for op in found] == of_block
    assert sum(op.transactions for op in found) == len(transactions.lines)
    assert sum(op.sectors for op in found) == int(np.unpackbits(transactions.masks).sum())
    assert sum(op.instructions for op in found) == trace.n_instructions - np.count_nonzero(
        transactions.instructions["op"] >= len(trace.ops)
    )


def test_scattered_lanes_conflicts_and_reuse_by_hand():
    def of(name, **parameters):
        trace = memsim.trace(name, blocks="all", **parameters)
        profiles = _profile(trace)
        return {op.text: found for op, found in zip(trace.ops, profiles, strict=True)}

    copy = of("saxpy", n=4096)["x[i]"]
    assert (copy.instructions, copy.lanes, copy.sectors, copy.least_sectors) == (128, 4096, 512, 512)
    scattered = of("saxpy", n=1 << 18, variant="block", grid=64, block=128)["x[first + k]"]  # 32 floats a thread
    assert scattered.sectors == 8 * scattered.least_sectors and scattered.block_sectors == scattered.least_sectors
    transposed = of("transpose", n=64, variant="tiled")
    read = next(op for text, op in transposed.items() if text.startswith("tile[") and op.passes > op.instructions)
    assert read.passes == 32 * read.least_passes  # the textbook's 32-way conflict


def _uses(tx, order, sm=EVERY_SM):
    """(op, transaction) in order."""
    for row, owner in zip(order.instructions, order.sms, strict=True):
        i = tx.instructions[row]
        if sm in (EVERY_SM, owner):
            yield from ((int(i["op"]), k) for k in range(i["first"], i["first"] + i["count"]))


@pytest.mark.parametrize("seed", seeds(3))
def test_each_instruction_is_taken_once_in_warp_order(seed):
    tx, sms, resident = random_transactions(seed), 2, 2
    order = interleaved(tx, sms, resident)
    taken = order.instructions.astype(int)
    assert sorted(taken) == list(range(len(tx.instructions)))
    warp = np.searchsorted(tx.first_instruction, taken, "right") - 1
    block = np.searchsorted(tx.first_warp, warp, "right") - 1
    position = np.argsort(taken)  # when each instruction is taken
    for w in range(len(tx.first_instruction) - 1):
        assert (np.diff(position[tx.first_instruction[w] : tx.first_instruction[w + 1]]) > 0).all()
    span = [(np.flatnonzero(block == b).min(), np.flatnonzero(block == b).max()) for b in range(7)]
    for sm in range(sms):
        mine = [span[b] for b in range(7) if order.sms[span[b][0]] == sm]
        assert max(sum(low <= at <= high for low, high in mine) for at in range(len(taken))) <= resident
    for round_ in np.split(warp, np.flatnonzero(order.begins)[1:]):
        assert len(set(round_)) == len(round_)  # a warp takes one instruction in a turn


@pytest.mark.parametrize(("seed", "sm", "parts"), [(0, EVERY_SM, 1), (1, 1, 1), (2, EVERY_SM, 2), (3, 0, 4)])
def test_stack_distances_equal_move_to_front_list(seed, sm, parts):
    tx, capacity, sectors = random_transactions(seed), 9, 4 // parts
    order, skips = interleaved(tx, 2, 2), np.array([0, 0, 1], "u1")
    found = distances(tx, order, ReuseLevel(sm, skips, 0, parts, sectors, capacity))
    uses, far, histogram = np.zeros(3, int), np.zeros(3, int), np.zeros((3, OCTAVES), int)
    stack, seen = [], {}
    for op, k in _uses(tx, order, sm):
        for part in range(parts):
            mask, line = int(tx.masks[k]) >> part * sectors & (1 << sectors) - 1, (int(tx.lines[k]), part)
            if skips[op] or not mask:
                continue
            uses[op] += 1
            if mask & seen.get(line, 0):
                distance = stack.index(line)
                far[op] += distance >= capacity
                histogram[op, distance.bit_length()] += 1
            if line in stack:
                stack.remove(line)
            stack.insert(0, line)
            seen[line] = seen.get(line, 0) | mask
    assert far.sum() and (found.far == far).all() and (found.uses == uses).all()
    assert (found.histogram == histogram).all()


def test_a_sample_of_lines_tells_the_same_distances():
    tx = random_transactions(5, n_lines=4000, blocks=200)
    order, skips = interleaved(tx, 4, 4), np.zeros(3, "u1")
    exact, sampled = (
        distances(tx, order, ReuseLevel(EVERY_SM, skips, 0, 1, 4, 2000), most) for most in (1 << 20, 1 << 12)
    )
    assert (sampled.uses != exact.uses).any()
    assert sampled.uses.sum() == pytest.approx(exact.uses.sum(), rel=0.1)
    assert sampled.far.sum() / sampled.uses.sum() == pytest.approx(exact.far.sum() / exact.uses.sum(), abs=0.03)


def test_late_reuses_equal_those_of_lists_per_set():
    tx, set_of = random_transactions(6), np.arange(40, dtype="u4") % 3
    order = interleaved(tx, 2, 2)
    found = in_sets(tx, order, ReuseLevel(1, np.zeros(3, "u1"), 0, 1, 4, 12), set_of, 4)
    late, requested, seen, sets = np.zeros(3, int), np.zeros((3, 3), int), {}, [[], [], []]
    for op, k in _uses(tx, order, 1):
        line, mask = int(tx.lines[k]), int(tx.masks[k])
        held = sets[line % 3]
        late[op] += line not in held and bool(mask & seen.get(line, 0))
        held[:] = [line, *(other for other in held if other != line)][:4]
        requested[op, line % 3] += mask.bit_count()
        seen[line] = seen.get(line, 0) | mask
    assert late.sum() and (found.late == late).all()
    assert (found.sectors == requested.sum(axis=1)).all() and (found.busiest == requested.max(axis=1)).all()


def test_skew_equals_numpys_over_whole_rounds():
    tx, units = random_transactions(7, blocks=60), 2
    order = interleaved(tx, 2, 2)
    unit = (np.arange(40) % 3 == 0).astype("u2")
    found = skew(tx, order, unit, (units, 32), (np.zeros(3, "u1"), 0), 0)
    rounds = np.repeat(np.cumsum(order.begins, dtype=int), tx.instructions["count"][order.instructions])
    of = np.array([(op, k, round_) for (op, k), round_ in zip(_uses(tx, order), rounds, strict=True)])
    sectors, where = popcounts(tx.masks[of[:, 1]].astype("u4")), unit[tx.lines[of[:, 1]]]
    busiest, total, interval = np.zeros(3, int), np.zeros(3, int), np.zeros(len(of), bool)
    for round_ in range(1, of[-1, 2] + 1):
        if sectors[interval].sum() >= 64 * units:
            top = np.bincount(where[interval], sectors[interval]).argmax()
            busiest += np.bincount(of[interval, 0], sectors[interval] * (where[interval] == top), 3).astype(int)
            total += np.bincount(of[interval, 0], sectors[interval], 3).astype(int)
            interval[:] = False
        interval |= of[:, 2] == round_
    assert total.sum() and (found.sectors == total).all() and (found.busiest == busiest).all()
    assert 1.2 < busiest.sum() / total.sum() * units < 1.5  # two thirds of the lines go to one of two


def test_skew_omits_cached_lines_and_short_intervals():
    trace = memsim.trace("saxpy", n=1 << 18, blocks="all")
    tx = coalesce(trace, GPU)
    order, unit = interleaved(tx, 80, 8), np.zeros(len(tx.line_address), "u2")
    served = np.array([op.kind.name == "load" for op in trace.ops], "u1")
    full = skew(tx, order, unit, (2, 32), (served, 0), 0)
    assert full.sectors.sum() == full.busiest.sum() == pytest.approx(3 * (1 << 15), rel=0.05)
    behind = skew(tx, order, unit, (2, 32), (served, 1 << 10), 1 << 16)  # x and y are read once, y stored where read
    loads, store = (behind.sectors[[op.kind.name == kind for op in trace.ops]].sum() for kind in ("load", "store"))
    assert loads == pytest.approx(2 * (1 << 15), rel=0.05) and store == 0
    assert skew(tx, order, unit, (64, RUNS * 32 * 64), (served, 0), 0).sectors.sum() == 0


def test_block_reads_back_its_first_store():
    def of(name, **parameters):
        trace = memsim.trace(name, blocks="all", **parameters)
        return _profile(trace)

    through_memory = of("warp_sum", n=1 << 12, variant="memory")
    back = [found for found in through_memory if found.read_back]
    assert back and all(found.read_back == found.sectors for found in back)
    assert not any(found.read_back for found in of("saxpy", n=4096))  # y is loaded, then stored
    assert sum(found.copied for found in of("staged_axpy", n=4096)) == 2 * 4096 // 32
    assert not any(found.copied for found in of("staged_axpy", n=4096, variant="async"))
