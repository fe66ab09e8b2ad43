"""Blocks that run in the same slot have the same local memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from fake_trace import ALL, FakeTrace, chunk_of, machine, static_instruction

from memsim.gpu.presets import override
from memsim.trace.coalesce import coalesce
from memsim.trace.local_memory import local_address
from memsim.trace.schema import ArrayInfo, LaunchShape, OpKind, Space

BLOCKS = 5


@dataclass
class SpillingTrace(FakeTrace):
    """Blocks of one warp, each of which stores two words of local memory and one of global memory."""

    first_warp = np.arange(BLOCKS + 1)

    @property
    def first_instruction(self):
        return np.arange(BLOCKS + 1) * 3

    def chunks(self, max_instructions):
        for warps in (range(2), range(2, BLOCKS)):  # chunks hold whole warps
            base = [at for warp in warps for at in (local_address(warp, 0, 0, 4), local_address(warp, 0, 4, 4), 0)]
            n = len(base)
            columns = dict(op=[0, 0, 1] * len(warps), base=base, stride=[4] * n, mask=[ALL] * n)
            chunk = chunk_of([3] * len(warps), **columns)
            object.__setattr__(chunk, "warps", warps)
            yield chunk


def lines(arrays=(), **changes):
    """Line addresses of each block's local stores, on a GPU that holds three blocks."""
    stores = [static_instruction(4, OpKind.store, space) for space in (Space.local, Space.global_)]
    gpu = override(machine("7.0"), {"sm.count": 1, "sm.max_blocks": 3, **changes})
    trace = SpillingTrace(stores, [], launch=LaunchShape((BLOCKS, 1, 1), (32, 1, 1)), arrays=list(arrays))
    found = coalesce(trace, gpu)
    assert (found.line_address[found.lines[2::3]] == 0).all()  # global memory stays where it is
    return np.stack([found.line_address[found.lines[k::3]] for k in range(2)], axis=1).tolist()


def test_blocks_in_same_slot_share_local_memory():
    first, second, third, *others = lines()
    assert others == [first, second]
    assert len({*first, *second, *third}) == 6 and first[1] == first[0] + 1


def test_local_memory_of_known_size_is_contiguous():
    first, *_ = every = lines([ArrayInfo("local", Space.local, 0, 16, 4)])
    assert np.subtract(every, first).tolist() == [[4 * (block % 3)] * 2 for block in range(BLOCKS)]


def test_switched_off_blocks_share_no_local_memory():
    assert len({line for block in lines(**{"sm.local_memory_by_slot": False}) for line in block}) == 2 * BLOCKS


@pytest.mark.parametrize(("policy", "local"), [(None, []), ("write_back", [1, 0])])
def test_only_stores_with_a_policy_are_marked(policy, local):
    stores = [static_instruction(4, OpKind.store, space) for space in (Space.local, Space.global_)]
    gpu = override(machine("7.0"), {"l1.local_write_policy": policy})
    assert coalesce(SpillingTrace(stores, []), gpu).local.tolist() == local
