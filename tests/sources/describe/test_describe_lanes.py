"""Values of lanes: arithmetic, masks, variables, atomics, vectors, shared memory; misuse."""

import ctypes

import numpy as np
import pytest
from describing import describe, program
from hypothesis import given
from hypothesis import strategies as st

import memsim
from memsim.sources import Launch, workload
from memsim.sources.describe import Constant, Texture
from memsim.support.errors import InputError
from memsim.trace.schema import NO_OP, OpKind, Space

WORDS = st.lists(st.integers(-(2**31), 2**31 - 1), min_size=32, max_size=32)


@given(WORDS, WORDS)
def test_integer_division_and_wrapping_are_those_of_c(first, second):
    second = [value or 1 for value in second]

    def kernel(t, a, b, quotient, remainder, total):
        i = t.global_id
        quotient[i], remainder[i], total[i] = a[i] // b[i], a[i] % b[i], a[i] * b[i] + 1

    a, b = np.array(first, np.int32), np.array(second, np.int32)
    q, r, s = np.zeros((3, 32), np.int32)
    describe(kernel, a=a, b=b, quotient=q, remainder=r, total=s)
    for x, y, quotient, remainder, total in zip(first, second, q, r, s, strict=True):
        exact = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        assert quotient == ctypes.c_int32(exact).value
        assert remainder == x - exact * y
        assert total == ctypes.c_int32(x * y + 1).value


def test_integers_are_divided_only_by_active_lanes():
    def kernel(t, a):
        with t.where(t.global_id < 0):
            a[t.global_id % 4] = t.global_id // 4

    _, chunk = describe(kernel, a=np.zeros(32, np.int32))
    assert (chunk.op == NO_OP).all()


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        ("i4", "i4", "i4"),
        ("i4", "u4", "u4"),
        ("u4", "i8", "i8"),
        ("i1", "i2", "i4"),
        ("i8", "f4", "f4"),
        ("f4", "f8", "f8"),
        ("?", "?", "i4"),
    ],
)
def test_types_convert_as_in_c(first, second, result):
    seen = {}

    def kernel(t, a, b):
        seen["sum"] = a[t.global_id].astype(first) + b[t.global_id].astype(second)
        if first == second == "?":
            seen["sum"] = seen["sum"] + 0

    describe(kernel, a=np.ones(32), b=np.ones(32))
    assert seen["sum"].dtype == np.dtype(result)


def test_literals_take_the_other_operands_type():
    seen = {}

    def kernel(t, a):
        x = a[t.global_id]
        seen.update(half=x * 0.5, one=t.global_id + 1, mixed=t.global_id * 0.5, root=np.sqrt(x), cast=x.astype("f8"))

    describe(kernel, a=np.ones(32, np.float32))
    assert {name: value.dtype.name for name, value in seen.items()} == {
        "half": "float32",
        "one": "int32",
        "mixed": "float32",
        "root": "float32",
        "cast": "float64",
    }


def test_assignments_reach_active_lanes_only():
    def kernel(t, out):
        i = t.global_id
        v = t.var(100)
        with t.where(i < 40):
            v += 1
            with t.where(i % 2 == 0):
                v.set(i)
            with t.otherwise:
                v *= 2
        with t.otherwise:
            v -= 1
        for k in t.range(i % 5):
            v += k
        out[i] = v

    out = np.zeros(96, np.int32)
    describe(kernel, block=96, out=out)
    expected = [(i if i % 2 == 0 else 202) if i < 40 else 99 for i in range(96)]
    expected = [value + sum(range(i % 5)) for i, value in enumerate(expected)]
    assert out.tolist() == expected


@given(st.lists(st.integers(0, 12), min_size=256, max_size=256), st.integers(1, 3))
def test_divergent_loops_run_as_each_lane_asks(trips, step):
    def kernel(t, trips, out, step):
        i = t.global_id
        n = t.var(0)
        for j in t.range(0, trips[i], step):
            n += j + 1
        for _ in t.while_(lambda: n > 100):
            n.set(n - 100)
        out[i] = n

    out = np.zeros(256, np.int32)
    describe(kernel, block=64, grid=4, trips=np.array(trips, np.int32), out=out, step=step)
    for count, n in zip(trips, out, strict=True):
        total = sum(j + 1 for j in range(0, count, step))
        assert n == total - max(0, -(-(total - 100) // 100)) * 100


def test_descending_ranges():
    def kernel(t, out):
        for j in t.range(t.global_id, -1, -3):
            out.atomic_add(j, 1)

    out = np.zeros(32, np.int32)
    describe(kernel, out=out)
    expected = np.zeros(32, int)
    for i in range(32):
        expected[list(range(i, -1, -3))] += 1
    assert out.tolist() == expected.tolist()


def test_atomics_act_per_lane_and_return_old_values():
    def kernel(t, add, low, high, last, lock, old):
        i = t.global_id
        old[i] = add.atomic_add(0, i)
        low.atomic_min(0, i)
        high.atomic_max(0, i)
        last.atomic_exch(0, i)
        won = lock.atomic_cas(0, 0, i + 1)
        with t.where(won == 0):
            lock[1] = i

    arrays = {name: np.full(2, 0, np.int32) for name in ("add", "high", "last", "lock")}
    old, low = np.zeros(64, np.int32), np.array([99], np.int32)
    recorder, _ = describe(kernel, block=64, old=old, low=low, **arrays)
    assert old.tolist() == np.concatenate([[0], np.cumsum(np.arange(63))]).tolist()
    assert [arrays[name][0] for name in ("add", "high", "last", "lock")] == [sum(range(64)), 63, 63, 1]
    assert low[0] == 0 and arrays["lock"][1] == 0
    kinds = {recorder.arrays[op.array].name: op.kind for op in recorder.ops if op.kind is not OpKind.store}
    unused = OpKind.reduction
    assert kinds == dict(add=OpKind.atomic, low=unused, high=unused, last=unused, lock=OpKind.atomic)


def test_vector_accesses_are_one_instruction_of_their_width():
    def kernel(t, a, out):
        x, y, z, w = a.load(t.global_id * 4, width=4)
        out.store(t.global_id * 2, (x + y, z + w))

    a, out = np.arange(128, dtype=np.float32), np.zeros(64, np.float32)
    recorder, chunk = describe(kernel, a=a, out=out)
    np.testing.assert_array_equal(out, a.reshape(-1, 2).sum(axis=1))
    assert [op.width for op in recorder.ops] == [16, 8] and len(chunk.op) == 2
    assert chunk.stride.tolist() == [16, 8]


def test_shared_memory_belongs_to_block_in_order():
    def kernel(t, out):
        little = t.shared(3, np.int8)
        wide = t.shared((2, 64), np.float32)
        wide[0, t.thread_idx.x] = t.block_idx.x
        t.sync()
        out[t.global_id] = wide[0, 63 - t.thread_idx.x]
        with t.where(t.thread_idx.x == 0):
            little[0] = 1

    out = np.zeros(192, np.float32)
    recorder, _ = describe(kernel, grid=3, block=64, out=out)
    assert out.tolist() == np.repeat([0, 1, 2], 64).tolist()
    shared = {array.name: (array.base, array.bytes) for array in recorder.arrays if array.space is Space.shared}
    assert shared == {"little": (0, 3), "wide": (16, 512)}
    assert recorder.launch.shared_bytes == 528


def test_positions_are_cudas():
    def kernel(t, out):
        x = t.block_idx.x * t.block_dim.x + t.thread_idx.x
        y = t.block_idx.y * t.block_dim.y + t.thread_idx.y
        z = t.block_idx.z * t.block_dim.z + t.thread_idx.z
        out[z, y, x] = t.global_id

    out = np.zeros((2, 6, 8), np.int32)
    describe(kernel, grid=(2, 3, 1), block=(4, 2, 2), out=out)
    for (z, y, x), found in np.ndenumerate(out):
        block = (y // 2) * 2 + x // 4
        assert found == block * 16 + (z * 2 + y % 2) * 4 + x % 4


def test_gaps_count_operations_once_per_executing_warp():
    def kernel(t, a):
        i = t.global_id
        j = i + 1 - 1  # two
        with t.where(i < 32):  # one, for the comparison
            t.compute(10)
        a[j] = 1
        _ = i * 2

    _, chunk = describe(kernel, block=64, a=np.zeros(64))
    assert chunk.compute_run.tolist() == [13, 1, 3, 1]


def test_work_without_loads_joins_sequence_of_its_warps():
    def kernel(t, a):
        for _ in t.range(2):
            a[t.global_id]
            with t.where(t.warp_id == 0):
                t.compute(10, while_loading=True)

    recorder, chunk = describe(kernel, block=64, a=np.zeros(64))
    alone = chunk.op == NO_OP
    assert chunk.compute_run[alone].tolist() == [10, 10, 1, 1]  # then what each warp issues after its last load
    assert (chunk.flags[alone] == 0).all()
    assert program(recorder, chunk) == [("a[t.global_id]", True)] * 2


def test_warp_computes_while_its_loads_are_under_way(tmp_path):
    def cycles(instructions, while_loading):
        def kernel(t, a):
            for step in t.range(8):
                a[1024 * step]
                t.compute(instructions, while_loading)

        @workload
        def loop() -> Launch:
            return Launch(kernel, 1, 32, dict(a=np.zeros(8192, np.float32)))

        trace = memsim.trace(loop, out=tmp_path / f"{instructions}{while_loading}.h5")
        settings = {"sm.instruction_cycles": 20, "stochastic.start_alignment": False}
        return memsim.simulate(trace, "tesla-c2050", trials=1, settings=settings).cycles.mean

    alone = cycles(0, False)
    assert cycles(10, True) == alone  # 200 cycles within a latency that is longer
    assert cycles(10, False) == pytest.approx(alone + 7 * 200, abs=10)  # the last is waited for by nobody
    assert cycles(100, True) > alone + 7 * 1000


@pytest.mark.slow
def test_a_warp_issues_one_independent_instruction_a_cycle(tmp_path):
    def cycles(chain, warps=1):
        def kernel(t, a):
            t.compute(120, chain=chain)
            a[t.lane_id] = 0

        @workload
        def straight() -> Launch:
            return Launch(kernel, 1, 32 * warps, dict(a=np.zeros(32, np.float32)))

        trace = memsim.trace(straight, out=tmp_path / f"{chain}-{warps}.h5")
        settings = {"sm.instruction_cycles": 20, "sm.issue_per_cycle": 2, "stochastic.start_alignment": False}
        return memsim.simulate(trace, "tesla-c2050", trials=1, settings=settings).cycles.mean

    store = cycles(120) - 120 * 20
    assert [cycles(chain) - store for chain in (50, 7, 6, 0)] == [1000, 140, 120, 120]
    assert cycles(0, 2) == pytest.approx(cycles(0), abs=4)  # a scheduler each
    assert cycles(0, 4) - cycles(0, 2) == pytest.approx(120, abs=4)  # two warps a scheduler


def test_arrays_lie_apart_at_aligned_addresses():
    def kernel(t, a, b, c):
        c[0] = a[0] + b[0]

    recorder, _ = describe(kernel, a=np.zeros(3), b=Constant(np.zeros(200)), c=np.zeros(1))
    a, b, c = recorder.arrays
    assert all(array.base % 512 == 0 and array.base > 0 for array in (a, b, c))
    assert a.base + a.bytes <= b.base and b.base + b.bytes <= c.base and b.space is Space.constant


def _index_too_large(t, a):
    a[t.global_id + 1] = 0


def _index_negative(t, a):
    a[t.global_id - 1] = 0


def _index_by_float(t, a):
    a[t.global_id * 0.5] = 0


def _used_outside(t, a):
    with t.where(t.global_id < 3):
        v = t.global_id + 1
    a[v] = 0


def _rebound_in_loop(t, a):
    total = 0
    for j in t.range(t.global_id):
        total += j
    a[total] = 0


def _truth_of_lanes(t, a):
    if t.global_id < 3:
        a[0] = 0


def _endless(t, a):
    for _ in t.while_(lambda: t.global_id >= 0, limit=50):
        pass


def _barrier_in_branch(t, a):
    with t.where(t.global_id < 3):
        t.sync()


def _integer_division_by_slash(t, a):
    a[t.global_id] = t.global_id / 2


def _zero_divisor(t, a):
    a[t.global_id] = 1 // t.global_id


def _unaligned_vector(t, a):
    a.load(t.global_id, width=2)


def _python_error(t, a):
    a[0] = 1 / 0


def _zero_step(t, a):
    for _ in t.range(0, t.global_id, t.global_id):
        pass


def _outside_an_extent(t, a):
    tile = t.shared((4, 8))
    tile[0, t.lane_id] = 0


def _too_many_dimensions(t, a):
    a[0, t.lane_id] = 0


def _three_wide(t, a):
    a.load(t.global_id * 3, width=3)


def _too_many_bytes(t, a):
    t.shared(64, np.float64).load(t.lane_id * 4, width=4)


MISUSE = [
    (_three_wide, "a vector access cannot have 3 elements of 4 bytes"),
    (_too_many_bytes, "a vector access cannot have 4 elements of 8 bytes"),
    (_outside_an_extent, "an index of tile is outside its extent of 8"),
    (_too_many_dimensions, "a has 1 dimensions, not 2"),
    (_index_too_large, "index 32 of a is outside 0 to 31"),
    (_index_negative, "index -1 of a is outside 0 to 31"),
    (_index_by_float, "indexed by float32"),
    (_used_outside, "t.var"),
    (_rebound_in_loop, "t.var"),
    (_truth_of_lanes, "t.where"),
    (_endless, "not over after 50 iterations"),
    (_barrier_in_branch, "some lanes"),
    (_integer_division_by_slash, "//"),
    (_zero_divisor, "ZeroDivisionError"),
    (_unaligned_vector, "no multiple of 2"),
    (_python_error, "raised ZeroDivisionError: division by zero"),
    (_zero_step, "step of t.range is 0"),
]


@pytest.mark.parametrize(("kernel", "message"), MISUSE, ids=[kernel.__name__ for kernel, _ in MISUSE])
def test_misuse_is_one_line_naming_kernel_line(kernel, message):
    with pytest.raises(InputError) as error:
        describe(kernel, a=np.zeros(32, np.float32))
    text, first = str(error.value), kernel.__code__.co_firstlineno
    assert message in text and "\n" not in text
    line = int(text.split("line ")[1].split()[0])
    assert text.startswith("kernel.py: line ") and first < line <= first + 4


def test_shuffles_move_values_and_last_lanes_keep_theirs():
    def kernel(t, a, down, across, rotated):
        i = t.global_id
        value = a[i]
        down[i], across[i] = t.shuffle_down(value, 4), t.shuffle_xor(value, 3)
        rotated[i] = t.shuffle(value, t.lane_id + 1)

    a = np.arange(32, dtype=np.int32) ** 2
    down, across, rotated = np.zeros((3, 32), np.int32)
    describe(kernel, a=a, down=down, across=across, rotated=rotated)
    assert down.tolist() == [*a[4:], *a[28:]] and across.tolist() == [a[k ^ 3] for k in range(32)]
    assert rotated.tolist() == [*a[1:], a[0]]


def test_shuffle_from_inactive_lane_is_refused():
    def kernel(t, a):
        value = a[t.global_id]
        with t.where(t.lane_id < 8):
            a[t.global_id] = t.shuffle_down(value, 8)

    with pytest.raises(InputError, match="a shuffle reads a lane that is not active"):
        describe(kernel, a=np.zeros(32))


def test_asynchronous_copy_is_load_and_wide_bypasses_l1():
    def kernel(t, a, b, out):
        narrow, wide = t.shared(32, np.float32, "narrow"), t.shared(128, np.float32, "wide")
        narrow.copy_async(t.lane_id, a, t.lane_id)
        wide.copy_async(4 * t.lane_id, b, 4 * t.lane_id, 4)
        t.wait_async()
        out[t.lane_id] = narrow[t.lane_id] + wide[4 * t.lane_id + 3]

    a, b, out = np.arange(32, dtype=np.float32), np.arange(128, dtype=np.float32), np.zeros(32, np.float32)
    recorder, *_ = describe(kernel, a=a, b=b, out=out)
    assert out.tolist() == [k + 4 * k + 3 for k in range(32)]
    loads = [op for op in recorder.ops if op.space is Space.global_ and op.kind is OpKind.load]
    assert [(op.width, op.bypass_l1) for op in loads] == [(4, False), (16, True)]
    assert not [op for op in recorder.ops if op.space is Space.shared and op.kind is OpKind.store]


def test_copies_to_shared_memory_take_few_bytes():
    def same(t, a):
        a.copy_async(t.lane_id, a, t.lane_id)

    def narrow(t, a):
        t.shared(32, np.int16, "tile").copy_async(t.lane_id, a, t.lane_id)

    with pytest.raises(InputError, match="from global to shared"):
        describe(same, a=np.zeros(32, np.float32))
    with pytest.raises(InputError, match="2 bytes per lane; give 4, 8 or 16"):
        describe(narrow, a=np.zeros(32, np.int16))


def test_textures_are_read_only():
    def kernel(t, a):
        a[t.lane_id] = 1.0

    with pytest.raises(InputError, match="a is a texture; a kernel cannot write it"):
        describe(kernel, a=Texture(np.zeros(32)))


def test_parallel_chains_make_gap_with_one_critical_path():
    def kernel(t, a):
        i = t.lane_id
        a[i] = 0.0
        t.compute(12)
        a[i] = 1.0
        t.compute(12, chain=5)
        a[i] = 2.0
        with t.independent(4):
            t.compute(12)
            a[i] = 3.0
            with t.where(i < 8):
                t.compute(9)
                a[i] = 4.0
            t.compute(3)
        t.compute(2)
        a[i] = 5.0

    _, chunk = describe(kernel, a=np.zeros(32, np.float32))
    assert chunk.compute_run.tolist() == [0, 12, 12, 12, 10, 5]
    # 10 = comparison and 9: two whole rounds of four, two over; with 3 more another round, and one over
    assert (chunk.compute_run - chunk.off_path).tolist() == [0, 12, 5, 3, 2, 3]


def test_a_chain_is_part_of_its_instructions():
    def kernel(t, a, chain):
        t.compute(3, chain=chain)

    for chain in (-1, 4):
        with pytest.raises(InputError, match=f"chain is {chain}; give 0 to 3"):
            describe(kernel, a=np.zeros(32, np.float32), chain=chain)
