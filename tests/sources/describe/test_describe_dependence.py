"""Where sequences start: Baghsorkhi 2012, section 2, "Bulk Instruction Scheduling"."""

import numpy as np
from describing import describe, program

from memsim.trace.schema import Flag


def integers(n=64):
    return np.arange(n, dtype=np.int32)


def starts(kernel, block=32, warp=0, **arrays):
    return program(*describe(kernel, block=block, **arrays), warp=warp)


def test_independent_loads_and_stored_sum_are_one_sequence():
    def kernel(t, a, b, c):
        i = t.global_id
        c[i] = a[i] + b[i]

    found = starts(kernel, a=integers(), b=integers(), c=integers())
    assert found == [("a[i]", True), ("b[i]", False), ("c[i]", False)]


def test_address_from_loaded_value_starts_sequence():
    def kernel(t, a, b, c):
        i = t.global_id
        j = a[i] * 2 // 2
        c[b[i] + 0] = b[j]

    found = starts(kernel, a=integers(), b=integers(), c=integers())
    # b[i] does not depend on a[i], and by then the value of a[i] has arrived with the sequence that b[j] waited for
    assert found == [("a[i]", True), ("b[j]", True), ("b[i]", False), ("c[b[i] + 0]", True)]


def test_a_value_from_an_earlier_sequence_starts_none():
    def kernel(t, a, b):
        i = t.global_id
        j = a[i]
        k = b[j]
        b[j] = k

    assert starts(kernel, a=integers(), b=integers()) == [("a[i]", True), ("b[j]", True), ("b[j]", False)]


def test_branch_on_loaded_value_starts_sequence():
    def kernel(t, a, b):
        i = t.global_id
        with t.where(a[i] > 3):
            b[i] = 1
        with t.otherwise:
            b[i + 32] = 2

    found = starts(kernel, a=integers(), b=integers())
    assert found == [("a[i]", True), ("b[i]", True), ("b[i + 32]", False)]


def test_a_branch_on_an_index_starts_none():
    def kernel(t, a, b):
        i = t.global_id
        with t.where(i < 7):
            b[i] = a[i]

    assert starts(kernel, a=integers(), b=integers()) == [("a[i]", True), ("b[i]", False)]


def test_variable_set_under_loaded_condition_depends_on_it():
    def kernel(t, a, b):
        i = t.global_id
        j = t.var(i)
        with t.where(a[i] > 3):
            j.set(0)
        b[j] = 1

    assert starts(kernel, a=integers(), b=integers()) == [("a[i]", True), ("b[j]", True)]


def test_every_back_edge_starts_sequence_of_its_warps():
    def kernel(t, a, b):
        for j in t.range(t.warp_id + 1):
            b[t.global_id] = a[j]
        a[t.global_id] = 0

    arrays = dict(a=integers(), b=integers())
    turn = [("a[j]", True), ("b[t.global_id]", False)]
    assert starts(kernel, block=64, warp=0, **arrays) == [*turn, ("a[t.global_id]", False)]
    assert starts(kernel, block=64, warp=1, **arrays) == [*turn, *turn, ("a[t.global_id]", False)]


def test_loaded_loop_bounds_are_waited_for_once():
    def kernel(t, a, b):
        for j in t.range(a[t.global_id] % 2, 2):
            b[t.global_id] = j

    found = starts(kernel, a=integers(), b=integers())
    assert found == [("a[t.global_id]", True), ("b[t.global_id]", True), ("b[t.global_id]", True)]


def test_uniform_loops_have_back_edges_python_loops_unroll():
    def kernel(t, a, b):
        for _ in t.range(2):
            a[t.global_id] = 1
        for _ in range(2):
            b[t.global_id] = 1

    a, b = "a[t.global_id]", "b[t.global_id]"
    assert starts(kernel, a=integers(), b=integers()) == [(a, True), (a, True), (b, False), (b, False)]


def test_while_conditions_that_load_are_waited_for():
    def kernel(t, a):
        p = t.var(t.global_id)
        for _ in t.while_(lambda: a[p] > 0):
            p.set(a[p] - 1)

    found = starts(kernel, a=np.array([0, 1, 2] + [0] * 29, np.int32))
    header, body = ("a[p]", True), ("a[p]", True)
    # each turn: the condition's load (dependent on p or after the back-edge), then the body, under that condition
    assert found == [header, body, header, body, header]


def test_barriers_start_sequences():
    def kernel(t, a):
        a[t.global_id] = 1
        t.sync()
        a[t.global_id] = 2

    found = starts(kernel, a=integers())
    assert found == [("a[t.global_id]", True), ("barrier", True), ("a[t.global_id]", True)]


def test_old_values_of_atomics_are_loaded_values():
    def kernel(t, counter, out):
        slot = counter.atomic_add(0, 1)
        out[slot] = t.global_id

    recorder, chunk = describe(kernel, counter=np.zeros(1, np.int32), out=np.zeros(32, np.int32))
    assert program(recorder, chunk) == [("counter.atomic_add(0, 1)", True), ("out[slot]", True)]
    assert [op.kind.name for op in recorder.ops] == ["atomic", "store"]


def test_dependence_is_by_warp():
    def kernel(t, a, b):
        j = t.var(t.global_id)
        with t.where(t.warp_id == 0):
            j.set(a[t.global_id])
        b[j] = 1

    arrays = dict(a=integers(), b=integers())
    assert starts(kernel, block=64, warp=0, **arrays) == [("a[t.global_id]", True), ("b[j]", True)]
    assert starts(kernel, block=64, warp=1, **arrays) == [("b[j]", True)]  # its first access


def test_store_waits_in_sequence_for_its_value():
    def kernel(t, a, b, c):
        i = t.global_id
        loaded = a[i]
        b[i] = 3
        c[i] = loaded + 1

    recorder, chunk = describe(kernel, a=integers(), b=integers(), c=integers())
    waits = {recorder.ops[op].text: bool(flags & Flag.data) for op, flags in zip(chunk.op, chunk.flags, strict=True)}
    assert waits == {"a[i]": False, "b[i]": False, "c[i]": True}


def test_overwritten_index_does_not_count_as_data():
    def kernel(t, a, out):
        i = t.lane_id
        v = t.var(a[i])
        out[v] = 1
        v.set(i)
        out[v] = 2

    recorder, _ = describe(kernel, a=np.zeros(32, np.int32), out=np.zeros(32, np.int32))
    assert [(op.line, op.by_data) for op in recorder.ops[1:]] == [
        (recorder.ops[0].line + 1, True), (recorder.ops[0].line + 3, False)
    ]  # fmt: skip
