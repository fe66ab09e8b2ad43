"""Needs of loads by number become counts of loads; mixes are entered once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memsim.sources.mixes import MIX_FIELDS, mix_number, new_mixes
from memsim.sources.rows import ROW, STATE
from memsim.sources.waits import LOADS, issue_load, need, take_waits
from memsim.trace.schema import MIX, MOST_MIXES, NO_WAIT, WAIT_COLUMNS, LoadClass

STEPS = st.lists(
    st.tuples(st.sampled_from(["load", "use", "row"]), st.sampled_from(list(LoadClass)), st.integers(0, 300)),
    max_size=60,
) | st.lists(st.just(("load", LoadClass.long, 0)), min_size=300, max_size=300).flatmap(
    lambda loads: st.integers(0, 299).map(lambda back: [*loads, ("use", LoadClass.long, back), ("row", 0, 0)])
)


def unanswered_allowed(wait, loads):
    return range(max(len(loads) - wait, 0), len(loads)) if wait != NO_WAIT else range(len(loads))


@given(STEPS)
def test_row_waits_for_needed_loads_only(steps):
    """Compared with a list of loads, each with whether the program may rely on its answer."""
    state, row = np.zeros((2, STATE), np.int64), np.zeros(1, ROW)
    loads = {each: [] for each in LoadClass}  # whether the load has answered for sure
    needed = {each: 0 for each in LoadClass}
    for what, load_class, back in steps:
        if what == "load":
            loads[load_class].append(False)
            assert issue_load(state, 1, int(load_class)) == len(loads[load_class])
        elif what == "use" and back < len(loads[load_class]):
            number = len(loads[load_class]) - back
            need(state, 1, int(load_class), number)
            needed[load_class] = max(needed[load_class], number)
        elif what == "row":
            take_waits(row[0], state, 1)
            for each, column in zip(LoadClass, WAIT_COLUMNS, strict=True):
                wait, known, count = int(row[0][column]), sum(loads[each]), len(loads[each])
                if needed[each] <= known:
                    assert wait == NO_WAIT
                    continue
                answered = max(needed[each], count - (NO_WAIT - 1))  # no column holds a larger count
                assert wait == count - answered
                loads[each][:answered] = [True] * answered
    assert not state[0].any() and state[1, LOADS] == len(loads[LoadClass.long])


def test_mixes_are_entered_once_until_table_is_full():
    mixes, counts = new_mixes(), np.zeros(MIX_FIELDS, np.int64)
    assert mix_number(mixes, counts) == 0
    for number in range(1, MOST_MIXES):
        counts[0], counts[3] = number % 7 + 1, number
        assert mix_number(mixes, counts) == number
    counts[3] += 1
    assert mix_number(mixes, counts) == 0  # no room: not known
    counts[0], counts[3] = 3, 2
    assert mix_number(mixes, counts) == 2
    table = mixes.table()
    assert len(table) == MOST_MIXES and table[2]["count_integer"] == 3 and table[2]["critical_fp32"] == 2
    assert MIX.names[0] == "count_integer" and MIX.names[3] == "critical_fp32"
