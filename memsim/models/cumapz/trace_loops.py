"""Walks over the instructions of a trace, compiled: which loads fill buffers, what each op moves, how warps branch."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import loop
from memsim.models.cumapz.loops import SECTOR_BYTES
from memsim.trace.bits import popcount
from memsim.trace.coalesce_loop import ADDRESS, LANE, count_distinct, count_passes, emit_group, expand_lanes
from memsim.trace.coalescing_rules import BANKS_ATOMIC
from memsim.trace.schema import EXPLICIT, NO_OP, Flag, OpKind, Space

SEQUENCE, DATA, MASKED = int(Flag.sequence), int(Flag.data), int(Flag.masked)
LOAD, STORE = int(OpKind.load), int(OpKind.store)
GLOBAL, SHARED = int(Space.global_), int(Space.shared)

OP = np.dtype([("kind", "i8"), ("space", "i8"), ("width", "i8"), ("array", "i8")])

# An op's part in the use of buffers. The load of a fetch is what the paper calls a data fetch reference; an access to
# a buffer that does not fill it, an access reference.
OTHER, FETCH, FILL, SERVED, UNSERVED, PLAIN = range(6)

# Columns of an op's sums.
GROUPS, LANES_ACTIVE, BYTES_REQUESTED, BYTES_MOVED, PASSES = range(5)

MOST_PENDING = 64  # loads of a sequence whose values may still be stored
PENDING_OP, PENDING_MASK, PENDING_BYTES = range(3)


@loop
def find_fetches(first_instruction, columns, ops, pending, copied, loads, fills):
    """Find where the data of stores to shared memory come from.

    A store's data come from the latest load of its sequence, by some of its lanes, whose bytes no store has taken yet.

    Args:
        first_instruction: i8 [warps + 1].
        columns: (op, flags, mask) of the chunk.
        ops: OP records.
        pending: i8 [MOST_PENDING, 3], room.
        copied: b1 [n_ops], the ops all of whose loads are stored.
        loads: i8 [n_ops, 2], how often an op loads, and how often what it loads is stored; added to.
        fills: b1 [n_ops], the ops that store what copied ones load; written.
    """
    op, flags, mask = columns
    for warp in range(len(first_instruction) - 1):
        n = 0
        for i in range(first_instruction[warp], first_instruction[warp + 1]):
            if flags[i] & SEQUENCE or op[i] == NO_OP and not flags[i] & MASKED:
                n = 0
            if op[i] == NO_OP:
                continue
            number = np.int64(op[i])
            one = ops[number]
            if one.kind == STORE and one.space == SHARED and flags[i] & DATA:
                k = find_pending(pending, n, np.int64(mask[i]))
                if k >= 0:
                    source = pending[k, PENDING_OP]
                    fills[number] |= copied[source]
                    loads[source, 1] += pending[k, PENDING_BYTES] == ops[source].width
                    pending[k, PENDING_BYTES] -= one.width
            elif one.kind == LOAD:
                loads[number, 0] += 1
                push_pending(pending, n, number, np.int64(mask[i]), one.width)
                n += 1


@loop
def push_pending(pending, n, number, mask, width):
    """Note the sequence's n-th load, in place of the oldest where there is no room."""
    one = pending[n % MOST_PENDING]
    one[PENDING_OP], one[PENDING_MASK], one[PENDING_BYTES] = number, mask, width


@loop
def find_pending(pending, n, mask):
    """The place of the latest of n loads by some lanes of `mask` whose bytes are not used up, or -1."""
    for k in range(n - 1, max(n - MOST_PENDING, 0) - 1, -1):
        one = pending[k % MOST_PENDING]
        if one[PENDING_BYTES] > 0 and mask & one[PENDING_MASK] != 0:
            return np.int64(k % MOST_PENDING)
    return np.int64(-1)


@loop
def measure(columns, offsets, rules, ops, line_shift, position, room, sums):
    """Add to every op's sums of accesses to global and shared memory; the offsets that were used up.

    Args:
        columns: (op, mask, base, stride) of the chunk.
        offsets: of its explicit instructions' addresses.
        rules, line_shift, position: as :func:`memsim.trace.coalesce_loop.emit_group` takes them.
        room: (scratch, lines, masks) for the same.
        sums: i8 [n_ops, 5], added to.
    """
    op, mask, base, stride = columns
    scratch = room[0]
    offset = 0
    for i in range(len(op)):
        if op[i] == NO_OP:
            continue
        number = np.int64(op[i])
        active = np.int64(mask[i])
        if ops[number].space == GLOBAL or ops[number].space == SHARED:
            n = expand_lanes(active, np.int64(base[i]), np.int64(stride[i]), offsets, offset, scratch)
            measure_groups(n, rules[number], ops[number], line_shift, position, room, sums[number])
        if stride[i] == EXPLICIT:
            offset += popcount(active)
    return offset


@loop
def measure_groups(n, rule, one, line_shift, position, room, sums):
    """Add what the groups of lanes of one instruction ask for and move, or their passes."""
    scratch, lines, masks = room
    sums[LANES_ACTIVE] += n
    end = 0
    while end < n:
        begin = end
        group = scratch[LANE, begin] >> rule.lanes
        while end < n and scratch[LANE, end] >> rule.lanes == group:
            end += 1
        sums[GROUPS] += 1
        if one.space == SHARED:
            every_lane = rule.rule == BANKS_ATOMIC
            sums[PASSES] += count_passes(begin, end, one.width, 1 << np.int64(rule.shift), every_lane, scratch)
            continue
        sums[BYTES_REQUESTED] += count_distinct(begin, end, scratch) * one.width
        position.buffered = 0
        emit_group(begin, end, rule, line_shift, position, scratch, lines, masks)
        for k in range(position.buffered):
            sums[BYTES_MOVED] += SECTOR_BYTES * popcount(masks[k])


@loop
def root_of(parent, op):
    """The op that stands for all that serve the same reference."""
    while parent[op] != op:
        op = parent[op]
    return op


@loop
def count_paths(first_instruction, columns, roles, state, totals):
    """Count references and the warps that diverge for them.

    One reference of the source is two ops where only some of its lanes are served by a buffer: an access to shared
    memory and one to global memory, next to each other, by different lanes. It counts as often as one sequence of a
    warp executes it: a loop's passes are sequences of their own, so only what the source repeats is counted again.

    Args:
        first_instruction: i8 [warps + 1].
        columns: (op, flags, mask).
        roles: i8 [n_ops].
        state: i8 [n_ops] each: (parent, sequence, times, split, warp, worst, most). Of the first op of each reference:
            the sequence for which times and split were counted, and the warp that has diverged for `worst` of them.
        totals: i8 [3]: sequences and warps so far, warps and references that diverge.
    """
    op, flags, mask = columns
    parent, sequence, times, split, of_warp, worst, most = state
    for warp in range(len(first_instruction) - 1):
        totals[1] += 1
        totals[0] += 1
        last = np.int64(-1)  # the instruction before, if it may be half of a reference
        for i in range(first_instruction[warp], first_instruction[warp + 1]):
            if flags[i] & SEQUENCE:
                totals[0] += 1
                last = np.int64(-1)
            if op[i] == NO_OP or roles[np.int64(op[i])] < SERVED:
                continue
            number = np.int64(op[i])
            if last >= 0 and is_other_half(op, mask, roles, last, i):
                merge_sets(parent, most, root_of(parent, np.int64(op[last])), root_of(parent, number))
                first = root_of(parent, number)
                split[first] += 1
                if of_warp[first] != totals[1]:
                    of_warp[first], worst[first] = totals[1], 0
                if split[first] > worst[first]:
                    worst[first] = split[first]
                    totals[2] += 1
                last = np.int64(-1)
                continue
            first = root_of(parent, number)
            if sequence[first] != totals[0]:
                sequence[first], times[first], split[first] = totals[0], 0, 0
            times[first] += 1
            most[first] = max(most[first], times[first])
            last = np.int64(i if roles[number] != PLAIN else -1)


@loop
def is_other_half(op, mask, roles, last, i):
    """Whether two accesses are of one reference: one to a buffer, one past it, by different lanes."""
    different = roles[np.int64(op[last])] + roles[np.int64(op[i])] == SERVED + UNSERVED
    return different and np.int64(mask[last]) & np.int64(mask[i]) == 0


@loop
def merge_sets(parent, most, first, second):
    """Let two ops stand for one reference."""
    parent[max(first, second)] = min(first, second)


@loop
def note_channels(begin, first_instruction, columns, offsets, roles, per_block, interleave, scratch, first, touched):
    """Note the channels that blocks access in their first phase: when a warp first comes to an op, past the buffers.

    Args:
        begin: number of the chunk's first warp.
        first_instruction: i8 [warps + 1].
        columns: (op, flags, mask, base, stride) of the chunk; offsets: of its explicit instructions' addresses.
        roles: i8 [n_ops].
        per_block: warps of a block.
        interleave: bytes of a channel's piece.
        first: i8 [n_ops, 2], room: warp and sequence that were the op's first.
        touched: b1 [first blocks, channels], written.
    """
    op, flags, mask, base, stride = columns
    offset = sequence = 0
    for k in range(min(len(first_instruction) - 1, len(touched) * per_block - begin)):
        warp = begin + k
        for i in range(first_instruction[k], first_instruction[k + 1]):
            sequence += np.int64(flags[i] & SEQUENCE) != 0
            if op[i] == NO_OP:
                continue
            number = np.int64(op[i])
            active = np.int64(mask[i])
            if first[number, 0] != warp:
                first[number, 0], first[number, 1] = warp, sequence
            if (roles[number] == FETCH or roles[number] == PLAIN) and first[number, 1] == sequence:
                n = expand_lanes(active, np.int64(base[i]), np.int64(stride[i]), offsets, offset, scratch)
                for lane in range(n):
                    touched[warp // per_block, scratch[ADDRESS, lane] // interleave % touched.shape[1]] = True
            if stride[i] == EXPLICIT:
                offset += popcount(active)


@loop
def count_fetches(first_instruction, columns, roles, totals):
    """Add, for every warp that fetches, the most fetches of one of its sequences, and one, to `totals`."""
    op, flags = columns
    for warp in range(len(first_instruction) - 1):
        most = n = 0
        for i in range(first_instruction[warp], first_instruction[warp + 1]):
            if flags[i] & SEQUENCE:
                n = 0
            if op[i] != NO_OP and roles[np.int64(op[i])] == FETCH:
                n += 1
                most = max(most, n)
        totals[0] += most
        totals[1] += most > 0
