"""What a trace says that each thread accessed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from memsim.trace.reader import Trace
from memsim.trace.schema import EXPLICIT, NO_OP, Chunk


def lane_accesses(trace: Trace, starts: Mapping[str, int]) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """(Line of the source, byte offset in its array) of all accesses, by (block, thread).

    Args:
        starts: addresses of the arrays, by name.
    """
    found: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    per_block = trace.launch.warps_per_block
    for number, places in accesses(trace).items():
        op = trace.ops[number]
        start = starts[trace.arrays[op.array].name]
        for warp, lane, address in places:
            key = int(trace.block_ids[warp // per_block]), warp % per_block * 32 + lane
            found[key].append((op.line, address - start))
    return found


def accesses(trace: Trace) -> dict[int, list[tuple[int, int, int]]]:
    """(Warp, lane, address) of all accesses by static instruction, in the order of the trace."""
    found: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for chunk in trace.chunks():
        for w, warp in enumerate(chunk.warps):
            listed = int(chunk.first_address[w])
            for i in range(int(chunk.first_instruction[w]), int(chunk.first_instruction[w + 1])):
                lanes, offsets, listed = _lanes(chunk, i, listed)
                if chunk.op[i] != NO_OP:
                    base = int(chunk.base[i])
                    found[int(chunk.op[i])] += [
                        (warp, lane, base + at) for lane, at in zip(lanes, offsets, strict=True)
                    ]
    return dict(found)


def _lanes(chunk: Chunk, i: int, listed: int) -> tuple[list[int], list[int], int]:
    """A row's active lanes, their offsets from its base, and where the next row's listed ones begin."""
    lanes = [lane for lane in range(32) if int(chunk.mask[i]) >> lane & 1]
    if chunk.stride[i] != EXPLICIT:
        return lanes, [int(chunk.stride[i]) * (lane - lanes[0]) for lane in lanes], listed
    offsets = chunk.addresses[listed : listed + len(lanes)].astype(np.int64).tolist()
    return lanes, offsets, listed + len(lanes)
