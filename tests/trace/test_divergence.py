"""Where warps diverge: random programs of branches, whose divergences are checked lane by lane."""

from time import process_time

import numpy as np
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st

from memsim.trace.divergence import find_divergences
from memsim.trace.schema import NO_OP, NO_WAIT, Flag
from memsim.trace.transactions import DIVERGENCE, INSTRUCTION, NO_ANSWER

ALL = (1 << 32) - 1
LOAD, USE, WORK, BARRIER = range(4)
PATH_SWITCH = int(Flag.path_switch)


@st.composite
def programs(draw, mask=ALL, depth=3):
    """Rows (what, mask) of a warp as a source logs them: what is before a branch, a side, the turn, the other side."""
    rows = []
    for _ in range(draw(st.integers(0, 3))):
        rows += [(draw(st.sampled_from([LOAD, USE, USE, WORK, WORK])), mask)]
    if depth and mask & (mask - 1) and draw(st.integers(0, 3)):
        lanes = mask & draw(st.sampled_from([0xFFFF, 0xFF00FF, 0x55555555, 1]))
        first = draw(programs(lanes, depth - 1)) if lanes else []
        second = draw(programs(mask & ~lanes, depth - 1)) if lanes != mask else []
        rows += [(WORK, mask), *first]
        if lanes and lanes != mask and (second or draw(st.booleans())):
            rows += [(PATH_SWITCH << 8, mask & ~lanes), *second]
        rows += draw(st.lists(st.just((BARRIER, mask)), max_size=1)) if mask == ALL else []
        rows += draw(programs(mask, depth - 1))
    return rows


def divergences_of(*warps):
    """Partings of warps; a use waits for all loads before."""
    flat = [row for warp in warps for row in warp]
    rows = np.zeros(len(flat), INSTRUCTION)
    rows["op"], rows["answers"] = NO_OP, NO_ANSWER
    for name in ("wait_long", "wait_short", "wait_copies"):
        rows[name] = NO_WAIT
    what = np.array([one for one, _ in flat], np.int64)
    rows["op"][what == LOAD], rows["answers"][what == LOAD] = 0, 0
    rows["wait_long"][np.isin(what, [USE, BARRIER])] = 0
    flags = np.select([what == PATH_SWITCH << 8, what == BARRIER], [PATH_SWITCH, int(Flag.barrier)], 0).astype("u1")
    masks = np.array([mask for _, mask in flat], "<u4")
    found = np.zeros(len(flat), DIVERGENCE)
    starts = np.cumsum([0, *map(len, warps)])
    find_divergences(starts, flags, masks, rows, np.zeros(len(flat), np.uint8), found)
    return found


def together(masks):
    return int(np.bitwise_or.reduce(np.array(masks, np.int64))) if masks else 0


@drawn(300)
@given(programs(), programs())
def test_concurrent_paths_share_no_lane_load_or_barrier(one, two):
    """So each lane's own order is kept, and a side that counts its own loads alone knows all it waits for."""
    found = divergences_of(one, two)
    flat, last = [*one, *two], 0
    for first in np.flatnonzero(found["reconvergence"]).tolist():
        second, join = first + int(found["second"][first]), first + int(found["reconvergence"][first])
        assert last <= first < second < join and (join <= len(one) or first >= len(one))
        assert flat[second][0] == PATH_SWITCH << 8
        paths = [[mask for _, mask in flat[begin:end]] for begin, end in ((first, second), (second, join))]
        assert together(paths[0]) & together(paths[1]) == 0
        assert all(what != BARRIER for what, _ in flat[first:join])
        warp, begin = (one, 0) if first < len(one) else (two, len(one))
        assert not pending(warp, first - begin) and not pending(warp, join - begin)
        last = join


def pending(warp, at):
    """Whether loads before a row are not yet waited for when more than instructions follows."""
    loads = False
    for k, (what, _) in enumerate(warp):
        loads = loads and what not in (USE, BARRIER)
        if k >= at and what in (LOAD, USE, BARRIER):
            return loads
        loads = loads or what == LOAD
    return False


def test_two_sides_and_what_stays_in_turn():
    low, high = 0xFFFF, 0xFFFF0000
    before, turn = (WORK, ALL), (PATH_SWITCH << 8, high)
    paths = [before, (LOAD, low), (USE, low), turn, (LOAD, high), (USE, high)]

    def found(*rows):
        return [(int(k), *map(int, one)) for k, one in enumerate(divergences_of(rows)) if one["reconvergence"]]

    assert found(*paths) == found(*paths, (USE, ALL)) == [(1, 2, 5)]
    assert found(*paths, *paths) == [(1, 2, 5), (7, 2, 5)]
    assert found(before, (LOAD, low), (USE, low), (LOAD, high)) == []  # one skipped, then the other: no turn
    assert found(before, turn, (USE, high)) == []  # one side alone
    assert found((LOAD, ALL), *paths) == []  # neither path waits for that load
    assert found((LOAD, ALL), before, (USE, low), turn, (USE, high)) == [(2, 1, 3)]  # it is used at once
    assert found(before, (LOAD, low), turn, (LOAD, high), (USE, ALL)) == [(1, 1, 3)]  # both are used behind
    assert found(before, (LOAD, low), turn, (LOAD, high), (LOAD, ALL), (USE, ALL)) == []
    assert found(*paths[:3], (BARRIER, low), *paths[3:]) == []


def test_of_nested_branches_the_outermost():
    quarter, other, half = 0xFF, 0xFF00, 0xFFFF
    inner = [(WORK, half), (USE, quarter), (PATH_SWITCH << 8, other), (USE, other)]
    outer = [(WORK, ALL), *inner, (PATH_SWITCH << 8, ALL & ~half), (USE, ALL & ~half)]
    found = divergences_of(outer)
    assert [(int(k), *map(int, found[k])) for k in np.flatnonzero(found["reconvergence"])] == [(1, 4, 6)]


def test_last_of_three_cases_diverges_from_the_others():
    cases = [(USE, 1), (PATH_SWITCH << 8, 2), (USE, 2), (PATH_SWITCH << 8, 4), (USE, 4), (WORK, 7)]
    found = divergences_of([(WORK, 7), *cases])
    assert [(int(k), *map(int, found[k])) for k in np.flatnonzero(found["reconvergence"])] == [(1, 3, 5)]


def test_where_lanes_meet_ends_the_second_side():
    """Its lanes alone may do what comes next, by its predicate, or none."""
    paths = [(WORK, ALL), (USE, 1), (PATH_SWITCH << 8, 2), (USE, 2)]
    for after in ((USE, 2), (WORK, 0)):
        assert divergences_of([*paths, (WORK, 3), after])["reconvergence"].tolist() == [0, 3, 0, 0, 0, 0]


def test_many_turns_take_no_longer_each():
    """Of a file that means ill: no row is looked at by each turn before it."""
    rows = 1 << 17
    alike, by_turns = [(PATH_SWITCH << 8, 1)] * rows, [(PATH_SWITCH << 8, 1), (PATH_SWITCH << 8, 2)] * (rows // 2)
    divergences_of([(WORK, 1)])  # compiled
    begin = process_time()
    assert not divergences_of(alike)["reconvergence"].any()
    assert divergences_of(by_turns)["reconvergence"].tolist() == [2, 0] * (rows // 2)
    assert process_time() - begin < 5  # quadratic: minutes
