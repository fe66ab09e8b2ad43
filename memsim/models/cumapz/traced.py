"""CuMAPz's factors of a kernel that was traced: its references and buffers are found in the trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memsim.gpu.config import GPU
from memsim.gpu.occupancy import Occupancy
from memsim.models.cumapz import trace_loops as loops
from memsim.models.cumapz.accesses import CountedAccesses
from memsim.models.cumapz.factors import Factors, factors_of, first_blocks
from memsim.trace import coalesce_loop
from memsim.trace.coalescing_rules import SECTOR_BYTES, make_rules
from memsim.trace.reader import Trace
from memsim.trace.schema import Flag, KnownWaits, OpKind, Space


@dataclass(frozen=True)
class Traced:
    """What CuMAPz says of a trace, and what it took for what. Ops are rows of the trace's table.

    Attributes:
        factors: the six factors and MPE.
        fetches: loads that fill a buffer: data fetch references.
        accesses: of a buffer, other than to fill it: access references.
        beyond: loads of a buffered array past its buffer.
        fetches_together: independent fetches, of one sequence; mean of the warps that fetch.
        first_blocks: of equation 4.
        skew_seen: whether the trace has them, and ch_skew is counted; 1 is put for it otherwise.
        fetches_seen: whether the trace shows which stores to shared memory keep what was loaded; without, it has no
            buffers.
    """

    factors: Factors
    fetches: list[int]
    accesses: list[int]
    beyond: list[int]
    fetches_together: float
    first_blocks: int
    skew_seen: bool
    fetches_seen: bool


def estimate_trace(trace: Trace, gpu: GPU, held: Occupancy) -> Traced:
    """The factors of a traced kernel.

    Walks over the trace find which loads fill buffers, what every op moves, which ops are one reference, how often
    references are executed and by how many diverging warps.

    Args:
        trace: one that :func:`memsim.trace.coalesce.coalesce` takes.
        held: what an SM holds of it.
    """
    widest = max((a.element_bytes for a in trace.arrays if a.space == Space.global_), default=4)
    span = first_blocks(gpu, held.blocks, trace.launch.block[0], widest)
    roles, sums = _roles(trace), _sums(trace, gpu)
    seen = trace.n_blocks >= span
    counted = _counted(roles, sums, _touched(trace, gpu, roles, span) if seen else np.zeros((0, 1), bool))
    together = _fetches_together(trace, roles)
    width = np.array([op.width for op in trace.ops], np.int64)
    branch_eff, counted.diverged = _branches(trace, roles)
    return Traced(
        factors_of(
            counted,
            bytes_reused=int((sums[:, loops.LANES_ACTIVE] * width)[roles == loops.SERVED].sum()),
            fetches=together,
            occupied=held.fraction,
            branch_eff=branch_eff,
            skewed=seen,
        ),
        fetches=np.flatnonzero(roles == loops.FETCH).tolist(),
        accesses=np.flatnonzero(roles == loops.SERVED).tolist(),
        beyond=np.flatnonzero(roles == loops.UNSERVED).tolist(),
        fetches_together=together,
        first_blocks=span,
        skew_seen=seen,
        fetches_seen=_fetches_seen(trace),
    )


def _fetches_seen(trace: Trace) -> bool:
    """Not in traces that count what each instruction waits for, as those of PTX do, and mark no store."""
    stores = any(op.space is Space.shared and op.kind is OpKind.store for op in trace.ops)
    if trace.issue.dependence is KnownWaits.sequence or not stores:
        return True
    return any(np.any(chunk.flags & Flag.data) for chunk in trace.chunks())


def _roles(trace: Trace) -> np.ndarray:
    """By op, i8 [n_ops]: what it has to do with buffers, which are the shared arrays that fetches fill."""
    ops = _table(trace)
    pending = np.zeros((loops.MOST_PENDING, 3), np.int64)
    copied = fills = np.zeros(len(ops), bool)
    walks = 2 if ((ops["space"] == Space.shared) & (ops["kind"] == OpKind.store)).any() else 0
    for _ in range(walks):  # the first finds which loads are copied
        loads, fills = np.zeros((len(ops), 2), np.int64), np.zeros(len(ops), bool)
        for chunk in trace.chunks():
            columns = chunk.op, chunk.flags, chunk.mask
            loops.find_fetches(chunk.first_instruction, columns, ops, pending, copied, loads, fills)
        copied = (ops["space"] == Space.global_) & (loads[:, 0] > 0) & (loads[:, 0] == loads[:, 1])
    in_global, load = ops["space"] == Space.global_, ops["kind"] == OpKind.load
    roles = np.full(len(ops), loops.OTHER, np.int64)
    roles[in_global] = loops.PLAIN
    roles[in_global & load & np.isin(ops["array"], ops["array"][copied])] = loops.UNSERVED
    roles[(ops["space"] == Space.shared) & np.isin(ops["array"], ops["array"][fills])] = loops.SERVED
    roles[fills], roles[copied] = loops.FILL, loops.FETCH
    return roles


def _sums(trace: Trace, gpu: GPU) -> np.ndarray:
    """By op, i8 [n_ops, 5]: what its accesses ask for and move, over the traced warps."""
    ops, rules = _table(trace), make_rules(trace.ops, gpu, trace.arrays)
    shift = (gpu.l1.line_bytes // SECTOR_BYTES).bit_length() - 1
    most = coalesce_loop.MOST_TRANSACTIONS
    room = _scratch(), np.empty(most, np.int64), np.empty(most, np.uint8)
    position = np.zeros(1, coalesce_loop.POSITION)
    sums = np.zeros((len(ops), 5), np.int64)
    for chunk in trace.chunks():
        columns = chunk.op, chunk.mask, chunk.base.view(np.int64), chunk.stride
        loops.measure(columns, chunk.addresses, rules, ops, shift, position[0], room, sums)
    return sums


def _table(trace: Trace) -> np.ndarray:
    return np.array([(op.kind, op.space, op.width, op.array) for op in trace.ops], loops.OP)


def _counted(roles: np.ndarray, sums: np.ndarray, touched: np.ndarray) -> CountedAccesses:
    shared = sums[sums[:, loops.PASSES] > 0]
    return CountedAccesses(
        touched,
        reused=int(sums[roles == loops.SERVED, loops.LANES_ACTIVE].sum()),
        bytes_buffered=int(sums[roles == loops.FETCH, loops.BYTES_MOVED].sum()),
        bytes_moved=int(sums[:, loops.BYTES_MOVED].sum()),
        bytes_requested=int(sums[:, loops.BYTES_REQUESTED].sum()),
        shared=int(shared[:, loops.GROUPS].sum()),
        passes=int(shared[:, loops.PASSES].sum()),
    )


def _touched(trace: Trace, gpu: GPU, roles: np.ndarray, span: int) -> np.ndarray:
    """The channels that the first traced blocks access at first: b1 [span, channels]."""
    touched = np.zeros((span, gpu.dram.channels), bool)
    first = np.full((len(roles), 2), -1, np.int64)
    per_block = trace.launch.warps_per_block
    for chunk in trace.chunks():
        if chunk.warps.start >= span * per_block:
            break
        columns = chunk.op, chunk.flags, chunk.mask, chunk.base.view(np.int64), chunk.stride
        loops.note_channels(
            chunk.warps.start, chunk.first_instruction, columns, chunk.addresses, roles, per_block,
            gpu.dram.interleave_bytes, _scratch(), first, touched,
        )  # fmt: skip
    return touched


def _fetches_together(trace: Trace, roles: np.ndarray) -> float:
    """Most fetches that one sequence of a warp makes, mean of the warps that fetch; 0 without."""
    if not (roles == loops.FETCH).any():
        return 0.0
    totals = np.zeros(2, np.int64)
    for chunk in trace.chunks():
        loops.count_fetches(chunk.first_instruction, (chunk.op, chunk.flags), roles, totals)
    return float(totals[0] / totals[1])


def _branches(trace: Trace, roles: np.ndarray) -> tuple[float, int]:
    """Equation 7, and the warps and references that diverge."""
    parent = np.arange(len(roles))
    for _ in range(2 if (roles == loops.SERVED).any() else 1):  # the first of two finds which ops are one reference
        state, totals = (parent, *np.zeros((6, len(roles)), np.int64)), np.zeros(3, np.int64)
        for chunk in trace.chunks():
            loops.count_paths(chunk.first_instruction, (chunk.op, chunk.flags, chunk.mask), roles, state, totals)
    paths = trace.n_warps * int(state[-1].sum()) + int(totals[2])
    return (trace.n_warps / paths if paths else 1.0), int(totals[2])


def _scratch() -> np.ndarray:
    return np.full(coalesce_loop.SCRATCH_SHAPE, coalesce_loop.EMPTY, np.int64)
