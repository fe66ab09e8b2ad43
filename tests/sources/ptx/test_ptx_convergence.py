"""Lanes of a warp that wait for each other go on together, also where a function calls itself."""

from __future__ import annotations

import numpy as np

from memsim.sources.ptx.machine.codes import LANES, N_GROUPS, PARKED
from memsim.sources.ptx.machine.control import let_converge, park, wait_alike

PLACE, ELSEWHERE = 7, 3


def parked(here: int, elsewhere: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    pcs, masks = np.zeros(LANES, np.int64), np.zeros(LANES, np.int64)
    record = np.zeros(max(N_GROUPS, PARKED) + 1, np.int64)
    park(pcs, masks, record, PLACE, here)
    if elsewhere:
        park(pcs, masks, record, ELSEWHERE, elsewhere)
    return pcs, masks, record


def sets(outer: int, inner: int) -> np.ndarray:
    """The inner lanes wait for themselves, the others of the outer ones for all of these."""
    return np.array([inner if inner >> lane & 1 else outer for lane in range(LANES)], np.int64)


def test_outer_lanes_wait_for_inner_calls():
    pcs, masks, record = parked(0b1111, 0)
    assert not wait_alike(sets(0b1111, 0b1100), 0b1111)
    assert let_converge(pcs, masks, record, PLACE, sets(0b1111, 0b1100))
    assert list(pcs[:2]) == [PLACE, PLACE + 1] and list(masks[:2]) == [0b0011, 0b1100] and record[PARKED] == 0b0011


def test_lanes_of_one_set_go_together():
    pcs, masks, record = parked(0b1111, 0)
    assert wait_alike(sets(0b1111, 0), 0b1111)
    assert let_converge(pcs, masks, record, PLACE, sets(0b1111, 0))
    assert record[N_GROUPS] == 1 and pcs[0] == PLACE + 1 and masks[0] == 0b1111 and record[PARKED] == 0


def test_lanes_wait_for_those_elsewhere():
    pcs, masks, record = parked(0b0111, 0b1000)
    assert not let_converge(pcs, masks, record, PLACE, sets(0b1111, 0))
    assert record[PARKED] == 0b1111
