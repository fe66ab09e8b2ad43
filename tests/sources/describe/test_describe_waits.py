"""What described kernels wait for and compute, by hand, and compared with sets of loads and with PTX."""

import numpy as np
from budget import drawn
from describing import describe
from hypothesis import given
from hypothesis import strategies as st

from memsim.trace.schema import INSTRUCTION_CLASSES, NO_OP, NO_WAIT, Flag, LoadClass, OpKind
from tests.sources.ptx.test_ptx_rows import ADDRESS, rows_of

PLACES = 64


def integers():
    return np.arange(PLACES, dtype=np.int32)


def waits(recorder, chunk, warp=0):
    """(Source text or "barrier", long loads that may be unanswered, short ones, copies) of a warp's rows."""
    rows = range(chunk.first_instruction[warp], chunk.first_instruction[warp + 1])
    texts = [op.text for op in recorder.ops]
    return [
        (
            texts[chunk.op[i]] if chunk.op[i] != NO_OP else "barrier" if chunk.flags[i] & Flag.barrier else "end",
            *(None if column[i] == NO_WAIT else int(column[i]) for column in _columns(chunk)),
        )
        for i in rows
    ]


def _columns(chunk):
    return chunk.wait_long, chunk.wait_short, chunk.wait_copies


def longs(kernel, **arrays):
    return [row[:2] for row in waits(*describe(kernel, **arrays))]


def test_address_waits_for_its_load_only():
    def kernel(t, a, b, c):
        i = t.global_id
        j = a[i]
        b[i]
        c[j]

    assert longs(kernel, a=integers(), b=integers(), c=integers()) == [("a[i]", None), ("b[i]", None), ("c[j]", 1)]


def test_unused_arithmetic_does_not_wait_at_back_edge():
    def kernel(t, a, b):
        i = t.global_id
        ahead = t.var(a[i])
        total = t.var(0)
        for _ in t.range(2):
            now = +ahead
            ahead.set(a[i + 1])
            total += now * b[i]

    found = longs(kernel, a=np.arange(PLACES, dtype=np.int32), b=integers())
    turn = [("a[i + 1]", None), ("b[i]", None)]
    # the loads of `now` and of b are used; that of the next turn came before b's and so has answered with it
    assert found[:3] == [("a[i]", None), *turn] and found[3] == ("a[i + 1]", 0)

    def later(t, a, b):
        i = t.global_id
        ahead, total = t.var(a[i]), t.var(0)
        for _ in t.range(2):
            total += ahead * b[i]
            ahead.set(a[i + 1])

    found = longs(later, a=integers(), b=integers())
    assert found[:4] == [("a[i]", None), ("b[i]", None), ("a[i + 1]", None), ("b[i]", 1)]


def test_stores_and_conditions_wait_for_their_loads():
    def kernel(t, a, b, c):
        i = t.global_id
        x, y = a[i], b[i]
        c[i] = x
        with t.where(y > 3):
            c[i + 32] = 1

    found = longs(kernel, a=integers(), b=integers(), c=integers())
    assert found[2:4] == [("c[i]", 1), ("c[i + 32]", 0)]


def test_classes_wait_apart_and_barriers_for_copies():
    def kernel(t, a):
        i = t.global_id
        tile = t.shared(32, np.int32)
        tile.copy_async(i, a, i)
        x = a[i + 32]
        t.sync()
        y = tile[i]
        tile[y] = 1
        tile[i] = x

    recorder, chunk = describe(kernel, a=integers())
    rows = waits(recorder, chunk)
    assert [row[1:] for row in rows] == [
        (None, None, None), (None, None, None), (None, None, 0), (None, None, None), (None, 0, None), (0, None, None)
    ]  # fmt: skip
    assert [op.async_copy for op in recorder.ops] == [True, False, False, False, False]


def test_what_may_be_reduction_is_not_counted_on():
    def kernel(t, a, b, c):
        i = t.global_id
        x = a[i]
        b.atomic_add(i, 1)
        c[x]
        old = b.atomic_add(i, 1)
        a[i + 32]
        c[old]

    recorder, chunk = describe(kernel, a=integers(), b=integers(), c=integers())
    assert [op.kind for op in recorder.ops].count(OpKind.reduction) == 1
    assert [row[1] for row in waits(recorder, chunk)] == [None, None, 0, None, None, 1]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["load", "shared", "gather", "add", "store", "atomic", "barrier"]),
        st.integers(0, 7),
        st.integers(0, 7),
    ),
    min_size=1,
    max_size=12,
)


class Sets:
    """The same program on sets of loads: what each access needs, in the order of execution."""

    def __init__(self):
        self.values, self.used, self.now = [frozenset()], frozenset(), frozenset()
        self.needs, self.atomics = [], 0  # of each row; how many atomics there were

    def row(self, needed, brings=False):
        """Log an access or barrier; the value that it brings is the set of its own number."""
        self.needs.append(self.now | needed)
        self.now = frozenset()
        return frozenset([len(self.needs) - 1]) if brings else None

    def pick(self, number):
        return self.values[number % len(self.values)]

    def step(self, what, first, second):
        if what in ("load", "shared"):
            self.values.append(self.row(frozenset(), True))
        elif what == "gather":
            self.values.append(self.row(self.pick(first), True))
        elif what == "add":
            self.used |= self.pick(first) | self.pick(second)
            self.values.append(self.pick(first) | self.pick(second))
        elif what == "store":
            self.row(self.pick(first))
        elif what == "atomic":
            self.atomics += 1
            self.values.append(self.row(frozenset(), True))
        elif what == "barrier":
            self.row(self.used)
        else:
            self.now |= self.used


def run(t, a, out, tile, steps, values):
    """A turn of the program as a kernel."""
    for what, first, second in steps:
        one, other = values[first % len(values)], values[second % len(values)]
        if what == "load":
            values.append(a[t.lane_id])
        elif what == "shared":
            values.append(tile[t.lane_id])
        elif what == "gather":
            values.append(a[one])
        elif what == "add":
            values.append(one + other)
        elif what == "store":
            out[t.lane_id] = one
        elif what == "atomic":
            values.append(out.atomic_add(t.lane_id, 1))
        elif what == "barrier":
            t.sync()


@drawn(200)
@given(st.lists(STEPS, min_size=1, max_size=3))
def test_waits_are_those_of_the_values(turns):
    """Every access has all that it needs; where no atomic makes counts unsure, nothing newer."""

    def kernel(t, a, out):
        tile, values = t.shared(32, np.int32), [t.lane_id]
        for turn in t.range(len(turns)):
            run(t, a, out, tile, turns[turn], values)

    recorder, chunk = describe(kernel, a=np.zeros(1 << 12, np.int32), out=np.zeros(32, np.int32))
    sets = Sets()
    for turn in turns:
        for step in turn:
            sets.step(*step)
        sets.step("turn", 0, 0)
    count, answered = dict.fromkeys(LoadClass, 0), dict.fromkeys(LoadClass, 0)
    number = {}  # row -> its class, and place among the loads that answer
    rows = [i for i in range(len(chunk.op)) if chunk.op[i] != NO_OP or chunk.flags[i] & Flag.barrier]
    for i, needed in zip(rows, sets.needs, strict=True):
        asked = {
            each: max((number[row][1] for row in needed if number[row][0] is each), default=0) for each in LoadClass
        }
        for each, column in zip(LoadClass, _columns(chunk), strict=True):
            before = answered[each]
            if column[i] != NO_WAIT:
                answered[each] = max(before, count[each] - int(column[i]))
            assert answered[each] >= asked[each]
            if not sets.atomics:
                assert answered[each] == max(before, asked[each])
        kind = recorder.ops[chunk.op[i]].load_class if chunk.op[i] != NO_OP else None
        if kind is not None:
            count[kind] += 1
            number[i] = kind, count[kind]
        elif chunk.op[i] != NO_OP and recorder.ops[chunk.op[i]].kind is OpKind.reduction:
            number[i] = LoadClass.long, 0


def surely_answered(chunk, ops):
    """Of a kernel's one warp: (loads of each class so far, those that have answered) at each access, in order."""
    count, answered, found = dict.fromkeys(LoadClass, 0), dict.fromkeys(LoadClass, 0), []
    for i in range(len(chunk.op)):
        for each, column in zip(LoadClass, _columns(chunk), strict=True):
            if column[i] != NO_WAIT:
                answered[each] = max(answered[each], count[each] - int(column[i]))
        if chunk.op[i] != NO_OP:
            found.append((tuple(count.values()), tuple(answered.values())))
            kind = ops[chunk.op[i]].load_class
            if kind is not None:
                count[kind] += 1
    return found


def test_waits_are_those_of_same_kernel_in_ptx(tmp_path):
    """A gather, then a loop, kept rolled, that adds what it loaded one turn ago while the next element is under way."""

    def kernel(t, x):
        i = t.thread_idx.x
        place, other = x[i], x[i + 128]
        ahead, total = t.var(x[place]), t.var(other)
        for k in t.range(3):
            now = +ahead
            total += now
            ahead.set(x[i + 256 + k])
        x[i] = total

    body = f"""{ADDRESS}
    ld.global.u32 %r2, [%rd3]; ld.global.u32 %r3, [%rd3+512]; mul.wide.u32 %rd4, %r2, 4; add.s64 %rd5, %rd1, %rd4;
    ld.global.u32 %r4, [%rd5]; mov.u32 %r5, 0;
    again: .pragma "nounroll";
    ld.global.u32 %r6, [%rd3+1024]; add.u32 %r3, %r3, %r4; mov.u32 %r4, %r6; add.s64 %rd3, %rd3, 4; add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, 3; @%p1 bra again;
    st.global.u32 [%rd1], %r3;"""
    trace, captured = rows_of(body, tmp_path)
    recorder, described = describe(kernel, x=np.zeros(4096, np.uint32))
    assert surely_answered(described, recorder.ops) == surely_answered(captured, trace.ops)


def test_gaps_are_counted_by_class():
    def kernel(t, a, b, out):
        i = t.lane_id
        x = a[i] * a[i + 32] + 1  # a place and a product with its sum: integer, fp32
        y = np.exp2(x) + b[i].astype(np.float32)  # two and one of fp32, a comparison on the ALU, special, conversion
        with t.where(y > 0):  # compared by the ALU: integer
            out[i + 1] = t.shuffle_xor(y, 1)  # integer, shuffle

    floats = np.ones(PLACES, np.float32)
    recorder, chunk = describe(kernel, a=floats, b=floats.astype(np.float64), out=np.zeros(PLACES))
    counted = {}
    for number in chunk.instruction_mix.tolist():
        mix = recorder.issue.mixes[number]
        for each in INSTRUCTION_CLASSES:
            counted[each] = counted.get(each, 0) + int(mix[f"count_{each}"])
    assert recorder.issue.issued[chunk.instruction_mix].tolist() == chunk.compute_run.tolist()
    given = {"integer": 4, "fp32": 4, "special": 1, "conversion": 1, "shuffle": 1}
    assert {each: n for each, n in counted.items() if n} == given


def test_mix_has_chain_length_unless_instructions_were_charged():
    def kernel(t, a):
        i = t.lane_id
        with t.independent(4):
            j = i + 1 - 1 + 1 - 1 + 1 - 1 + 1 - 1
        a[j] = -a[j]
        t.compute(5)
        a[i] = 0

    recorder, chunk = describe(kernel, a=np.ones(PLACES, np.float32))
    mixes = recorder.issue.mixes[chunk.instruction_mix]
    chains = sum(mixes[f"critical_{each}"] for each in INSTRUCTION_CLASSES)
    assert chains[:2].tolist() == [2, 1] == (chunk.compute_run - chunk.off_path)[:2].tolist()
    assert (
        mixes["count_integer"].tolist() == [8, 0, 0]
        and chunk.compute_run.tolist() == [8, 1, 5]
        and chunk.instruction_mix[2] == 0
    )


def test_product_fuses_with_first_sum_that_uses_it():
    def kernel(t, a, out):
        x = a[t.lane_id]
        y = x * x
        z = (y + 1) - (y - x)  # a multiply-add, then two sums
        out[t.lane_id] = z

    recorder, chunk = describe(kernel, a=np.ones(32, np.float32), out=np.ones(32, np.float32))
    assert recorder.issue.mixes[chunk.instruction_mix[1]]["count_fp32"] == chunk.compute_run[1] == 3
