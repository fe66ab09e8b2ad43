"""Races on shared memory: warps, barriers, kinds and bytes decide."""

from __future__ import annotations

import numpy as np
import pytest

import memsim
from memsim import Launch, Thread, workload
from memsim.judge.races import shared_races

BLOCK, GPU = 128, "tesla-v100"


def exchanged(t: Thread, a, b, how):
    s = t.shared(BLOCK)
    s[t.lane_id + 32 * t.warp_id] = a[t.global_id]
    if how != "no barrier":
        t.sync()
    if how == "own warp":
        b[t.global_id] = s[31 - t.lane_id + 32 * t.warp_id]
    else:
        b[t.global_id] = s[BLOCK - 1 - t.lane_id - 32 * t.warp_id]
    if how == "written too early":
        s[t.lane_id + 32 * t.warp_id] = a[t.global_id]
    if how == "written later":
        t.sync()
        s[t.lane_id + 32 * t.warp_id] = a[t.global_id]
    if how == "one word":
        t.sync()
        s[t.lane_id] = a[t.global_id]


@workload
def exchange(how: str = "right") -> Launch:
    """Threads exchange values through shared memory."""
    arrays = dict(a=np.zeros(4 * BLOCK, np.float32), b=np.zeros(4 * BLOCK, np.float32))
    return Launch(exchanged, 4, BLOCK, arrays | {"how": how})


@pytest.mark.parametrize(
    ("how", "kinds"),
    [
        ("right", []),
        ("own warp", []),
        ("written later", []),
        ("no barrier", [("store", "load")]),
        ("written too early", [("load", "store")]),
        ("one word", [("store", "store")]),
    ],
)
def test_warps_without_barrier_race(how, kinds, tmp_path):
    trace = memsim.trace(exchange, gpu=GPU, blocks="all", out=tmp_path / "t.h5", how=how)
    races, note = shared_races(trace)
    found = [(trace.ops[one.first].kind.name, trace.ops[one.second].kind.name) for one in races]
    assert (found, note) == (kinds, "")
    assert all(one.blocks == 4 for one in races)
