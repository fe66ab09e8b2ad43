"""What a trace says that each thread accessed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from memsim.trace.reader import Trace
from memsim.trace.schema import EXPLICIT, NO_OP


def lane_accesses(trace: Trace, starts: Mapping[str, int]) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """(Line of the source, byte offset in its array) of all accesses, by (block, thread), in the order of the trace.

    Args:
        starts: addresses of the arrays, by name.
    """
    found: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    per_block = trace.launch.warps_per_block
    for chunk in trace.chunks():
        for w, warp in enumerate(chunk.warps):
            listed = int(chunk.first_address[w])
            for i in range(int(chunk.first_instruction[w]), int(chunk.first_instruction[w + 1])):
                lanes = [lane for lane in range(32) if int(chunk.mask[i]) >> lane & 1]
                base, stride = int(chunk.base[i]), int(chunk.stride[i])
                if chunk.stride[i] == EXPLICIT:
                    offsets = chunk.addresses[listed : listed + len(lanes)].astype(np.int64).tolist()
                    listed += len(lanes)
                else:
                    offsets = [stride * (lane - lanes[0]) for lane in lanes]
                if chunk.op[i] == NO_OP:
                    continue
                op = trace.ops[chunk.op[i]]
                start = starts[trace.arrays[op.array].name]
                for lane, offset in zip(lanes, offsets, strict=True):
                    key = int(trace.block_ids[warp // per_block]), warp % per_block * 32 + lane
                    found[key].append((op.line, base + offset - start))
    return found
