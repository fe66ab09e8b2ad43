"""How long each part of a machine is busy with a kernel, at its own rate and with nothing in its way.

The longest is nearest to the kernel's time and names what limits it: the throughput model of Zhang and Owens (A
quantitative performance analysis model for GPU architectures, HPCA 2011), with the rates of the GPU's components
instead of micro-benchmarks, and the busiest slice and channel instead of the mean one. Caches are at their best:
L1 keeps all that a block has loaded, L2 all that the traced blocks have touched.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from memsim.gpu.config import GPU
from memsim.gpu.memory import L2
from memsim.gpu.occupancy import resident_blocks
from memsim.hierarchy.mapping import layout
from memsim.jit.compiled import loop
from memsim.models.machine import idle_miss_cycles, peak_bandwidth
from memsim.trace.bits import popcount, popcounts
from memsim.trace.coalescing_rules import SECTOR_BYTES
from memsim.trace.reader import Trace
from memsim.trace.schema import Flag, OpKind
from memsim.trace.transactions import BYPASS_FLAG, CONSTANT_FLAG, Transactions

_LOAD, _STORE, _ATOMIC = int(OpKind.load), int(OpKind.store), int(OpKind.atomic)
_WAITS = int(Flag.sequence | Flag.barrier | Flag.data)
UNIT_CYCLES = np.dtype([(name, "<i8") for name in (
    "instruction", "pass_", "shared", "lookup", "l1", "l2", "memory", "in_l1", "in_l2",
)])  # fmt: skip
_READ, _WRITTEN, _OF_BLOCK = range(3)


class BusyPart(StrEnum):
    """What can be busy."""

    issue = "issue"
    load_store = "load-store unit"
    port = "port from L2"
    slices = "L2 slices"
    channels = "memory channels"
    latency = "latency"


@dataclass(frozen=True)
class TracedWork:
    """What the traced blocks ask of a machine.

    Attributes:
        instructions: warp instructions, those that access no memory included.
        transactions: of the load-store units, after coalescing.
        requests: instructions that the load-store units serve.
        wavefronts: of the load-store units, for the transactions.
        passes: of the load-store units, for shared memory, and for constants that have no unit of their own.
        sectors: that the transactions ask for.
        replies: sectors that reach an SM from beyond its L1.
        l2_sectors: sectors that reach L2, or what stands in its place.
        slice_cycles: cycles for which the slices of L2 are busy with them, all slices together.
        memory_sectors: sectors that reach main memory.
        slice_skew, channel_skew: cycles of the busiest slice, or sectors of the busiest channel, over the mean of all;
            1 when there are none.
        block_cycles: from a block's start to its end on an idle machine, mean.
    """

    instructions: int
    transactions: int
    requests: int
    wavefronts: int
    passes: int
    sectors: int
    replies: int
    l2_sectors: int
    slice_cycles: int
    memory_sectors: int
    slice_skew: float
    channel_skew: float
    block_cycles: float


def work_of(transactions: Transactions, gpu: GPU) -> TracedWork:
    """Count the work of coalesced blocks."""
    tx, lines = transactions, len(transactions.line_address)
    requested, replied, masks = *np.zeros((2, lines), np.int64), np.zeros((3, lines), np.uint8)
    path_cycles = np.zeros(len(tx.first_instruction) - 1, np.int64)
    sent = np.asarray(tx.masks) & ~np.asarray(tx.merged) if len(tx.merged) else tx.masks
    _walk(tx.instructions, tx.lines, sent, tx.first_instruction, tx.first_warp, _unit_cycles(gpu),
          requested, replied, masks, np.full(lines, -1, np.int32), path_cycles)  # fmt: skip
    cached = popcounts(masks[_READ].astype(np.uint32)) + popcounts(masks[_WRITTEN].astype(np.uint32))
    fetched = cached if gpu.l2.enabled else requested
    partial = np.bincount(tx.lines, popcounts(tx.partial.astype(np.uint32)), lines)
    mapping = layout(tx, gpu).mapping[:lines]
    served = _slice_cycles(requested, replied, partial, mapping["slice"], gpu.l2)
    rows, constant = tx.instructions, tx.instructions["flags"] & CONSTANT_FLAG > 0
    return TracedWork(
        instructions=int(tx.instructions["compute_run"].sum(dtype=np.int64)) + len(tx.instructions),
        transactions=int(tx.instructions["count"].sum(dtype=np.int64)),
        requests=int(np.count_nonzero((rows["count"] > 0) | ((rows["slots"] > 0) & ~constant))),
        wavefronts=int(tx.instructions["wavefronts"].sum(dtype=np.int64)),
        passes=int(rows["slots"][~constant].sum(dtype=np.int64)),
        sectors=int(popcounts(tx.masks.astype(np.uint32)).sum()),
        replies=int(replied.sum()),
        l2_sectors=int(requested.sum()),
        slice_cycles=round(float(served.sum())),
        memory_sectors=int(fetched.sum()),
        slice_skew=_skew(mapping["slice"], served, gpu.l2.slices),
        channel_skew=_skew(mapping["channel"], fetched, gpu.dram.channels),
        block_cycles=float(np.maximum.reduceat(path_cycles, tx.first_warp[:-1]).mean()),
    )


def _slice_cycles(
    requested: np.ndarray, replied: np.ndarray, partial: np.ndarray, slices: np.ndarray, l2: L2
) -> np.ndarray:
    """Cycles for which slices are busy with each line, f8 [lines].

    The few atomics count as reads. A slice is taken to get its stores in random order, so that the store before one
    was to the same line as often as the line has a share of the slice's stores.

    Args:
        requested, replied: sectors that reach L2, and those that it sends to an SM, by line.
        partial: sectors that stores cover in part, by line.
        slices: of the lines.
    """
    stored = requested - replied
    served = replied * l2.sector_cycles / (l2.read_sectors or 1) + stored * l2.sector_cycles
    share = stored / np.maximum(1, np.bincount(slices, stored, l2.slices))[slices]
    repeated = partial * share
    served += partial * (l2.of_partial_store - l2.sector_cycles)
    return np.asarray(served + repeated * (l2.of_repeated_store - l2.of_partial_store))


def _unit_cycles(gpu: GPU) -> np.ndarray:
    """Cycles of a warp's steps on an idle machine: UNIT_CYCLES [1]."""
    unit_cycles = np.zeros(1, UNIT_CYCLES)
    unit_cycles["instruction"], unit_cycles["pass_"] = gpu.sm.instruction_cycles, gpu.sm.pass_cycles
    unit_cycles["shared"], unit_cycles["lookup"] = gpu.sm.shared_latency_cycles, gpu.sm.lookup_cycles
    unit_cycles["l1"], unit_cycles["l2"] = gpu.l1.hit_latency_cycles, gpu.l2.hit_latency_cycles
    unit_cycles["memory"] = idle_miss_cycles(gpu)
    unit_cycles["in_l1"], unit_cycles["in_l2"] = gpu.l1.enabled, gpu.l2.enabled
    return unit_cycles


def busy_cycles(work: TracedWork, trace: Trace, gpu: GPU) -> dict[BusyPart, float]:
    """SM cycles for which each part is busy with the whole launch, of which the traced blocks are taken to be typical.

    A part's work is shared out evenly among the SMs, or unevenly as it is among slices and channels. Latency is that of
    one block after the other where they run; it is an estimate, the other components are bounds.
    """
    sm, l2, sms = gpu.sm, gpu.l2, min(gpu.sm.count, trace.n_blocks)
    launches = trace.launch.n_blocks / trace.n_blocks
    clocks_of_sector = SECTOR_BYTES / peak_bandwidth(gpu) * sm.clock_mhz / 1000
    rounds = trace.launch.n_blocks / _blocks_at_once(trace, gpu)
    of_unit = work.wavefronts * sm.lookup_cycles + work.passes * sm.pass_cycles
    cycles = {
        BusyPart.issue: launches * work.instructions * sm.issue_cycles / sm.issue_per_cycle / sms,
        BusyPart.load_store: launches * max(of_unit, work.requests * sm.request_cycles) / sms,
        BusyPart.port: launches * work.replies * SECTOR_BYTES / sm.reply_bytes_per_cycle / sms,
        BusyPart.slices: launches * l2.enabled * work.slice_cycles * work.slice_skew / l2.slices / gpu.l2_clocks,
        BusyPart.channels: launches * work.memory_sectors * work.channel_skew * clocks_of_sector,
        BusyPart.latency: rounds * work.block_cycles + (rounds - 1) * sm.launch_cycles,
    }
    return {part: float(value) for part, value in cycles.items()}


def _blocks_at_once(trace: Trace, gpu: GPU) -> int:
    """Blocks of the launch that are resident together."""
    shape = trace.launch
    held = resident_blocks(gpu, shape.threads_per_block, shape.registers, shape.shared_bytes)
    return min(held * gpu.sm.count, shape.n_blocks)


def _skew(mapping: np.ndarray, sectors: np.ndarray, units: int) -> float:
    """Sectors of the busiest unit over the mean.

    >>> _skew(np.array([0, 1, 1]), np.array([4, 2, 4]), 2)
    1.2
    """
    found = np.bincount(mapping, weights=sectors, minlength=units)
    return float(found.max() / found.mean()) if found.any() else 1.0


@loop
def _walk(
    instructions, lines, masks, first_instruction, first_warp, unit_cycles, requested, replied, seen, block_of,
    path_cycles,
):  # fmt: skip
    """Count what goes beyond L1, and what each warp waits for, block after block.

    Args:
        first_instruction, first_warp: i8, of every warp and of every block, and one more.
        unit_cycles: UNIT_CYCLES [1].
        requested, replied: i8 [lines], sectors that reach L2, and those that it sends to an SM.
        seen: u1 [3, lines], sectors read, sectors written, and those that the block in `block_of` has loaded.
        path_cycles: i8 [warps], cycles from a warp's start to its end on an idle machine.
    """
    cycles = unit_cycles[0]
    for block in range(len(first_warp) - 1):
        for warp in range(first_warp[block], first_warp[block + 1]):
            path = longest = 0
            for number in range(first_instruction[warp], first_instruction[warp + 1]):
                instruction = instructions[number]
                kind, flags = np.int64(instruction["kind"]), np.int64(instruction["flags"])
                if flags & _WAITS:  # for what its sequence's loads bring
                    path, longest = path + longest, 0
                path += np.int64(instruction["compute_run"]) * cycles["instruction"]
                path += np.int64(instruction["slots"]) * cycles["pass_"]
                if instruction["slots"] > 0 and kind != _STORE:
                    longest = max(longest, cycles["shared"])
                cached = cycles["in_l1"] > 0 and kind == _LOAD and flags & BYPASS_FLAG == 0
                first = instruction["first"]
                latency = cycles["l1"]
                for k in range(first, first + np.int64(instruction["count"])):
                    line, mask = np.int64(lines[k]), np.int64(masks[k])
                    if cached:
                        if block_of[line] != block:
                            block_of[line] = block
                            seen[_OF_BLOCK, line] = 0
                        loaded = np.int64(seen[_OF_BLOCK, line])
                        seen[_OF_BLOCK, line] = np.uint8(loaded | mask)
                        mask &= ~loaded
                    known = np.int64(seen[_READ, line] | seen[_WRITTEN, line])
                    if mask & ~known or (mask and cycles["in_l2"] == 0):
                        latency = max(latency, cycles["memory"])
                    elif mask:
                        latency = max(latency, cycles["l2"])
                    requested[line] += popcount(mask)
                    if kind != _STORE:
                        replied[line] += popcount(mask)
                        seen[_READ, line] |= np.uint8(mask)
                    if kind != _LOAD:
                        seen[_WRITTEN, line] |= np.uint8(mask)
                path += np.int64(instruction["wavefronts"]) * cycles["lookup"]
                if instruction["count"] > 0 and kind in (_LOAD, _ATOMIC):
                    longest = max(longest, latency)
            path_cycles[warp] = path + longest
