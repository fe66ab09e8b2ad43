"""Waits for scoreboards as counts of long loads, against lists of the loads that each scoreboard stands for."""

from __future__ import annotations

import numpy as np
from budget import drawn
from fake_trace import chunk_of
from hypothesis import given
from hypothesis import strategies as st

from memsim.trace.schema import NO_SCOREBOARD, NO_WAIT, SCOREBOARDS
from memsim.trace.scoreboards import waits_for_long

ROW = st.tuples(st.sampled_from([NO_SCOREBOARD, 0, 1, 5]), st.sampled_from([0, 0, 1, 2, 3, 33]), st.booleans())
WARPS = st.lists(st.lists(ROW, max_size=12), min_size=1, max_size=3)


def expected(warp):
    """Of each row: how many newer loads may be unanswered, and which scoreboards long loads alone have set."""
    set_by = {number: [] for number in range(SCOREBOARDS)}  # numbers of loads, None of another instruction
    loads = 0
    for sets, wait, is_long in warp:
        named = {k: set_by[k] for k in range(SCOREBOARDS) if wait >> k & 1}
        due = {k: found for k, found in named.items() if found and None not in found}
        newest = max((max(found) for found in due.values()), default=None)
        yield NO_WAIT if newest is None else loads - newest, sum(1 << k for k in due)
        for found in named.values():
            found.clear()
        loads += is_long
        if sets != NO_SCOREBOARD:
            set_by[sets].append(loads if is_long else None)


@drawn(60)
@given(WARPS)
def test_scoreboards_become_counts_of_loads(warps):
    flat = [row for warp in warps for row in warp]
    chunk = chunk_of(
        [len(warp) for warp in warps], scoreboard_set=[r[0] for r in flat], scoreboard_wait=[r[1] for r in flat]
    )
    waits, bits = waits_for_long(chunk, np.array([r[2] for r in flat], bool))
    assert list(zip(waits.tolist(), bits.tolist(), strict=True)) == [row for warp in warps for row in expected(warp)]
