"""Waits by count of loads, schedulers and pipes: times worked out by hand, and sequences as their special case."""

import machines
import numpy as np
import pytest
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st
from machines import instruction

from memsim.gpu.presets import override
from memsim.hierarchy.system import System
from memsim.trace.schema import MIX, NO_WAIT, OpKind

NONE = NO_WAIT, NO_WAIT, NO_WAIT
SEEN = "counters", "latency_histogram", "latency_sum", "instruction_latency_sum", "cycles", "transactions"


def cycles(gpu, *warps, mixes=None):
    """Of warps that are blocks of their own."""
    tx = machines.trace([[list(warp)] for warp in warps], mixes=mixes)
    return int(System(tx, gpu, len(warps), np.random.SeedSequence(0)).run().cycles)


def board(**changes):
    return machines.gpu(sm__dependence="scoreboard", **changes)


def load(line, waits=NONE, **more):
    return instruction([(line, 1)], sequence=False, waits=waits, **more)


@drawn(30)
@given(st.data())
def test_sequences_are_waits_for_everything(data):
    """Bulk scheduling is the scoreboard's special case: the same bits, where each sequence fits the scoreboard."""
    gpu = data.draw(machines.machines())
    tx = machines.in_turn(machines.without_mbarriers(data.draw(machines.traces(gpu))))  # by sequence, both are unknown
    tx = machines.without_control_codes(tx)
    at_starts = np.where(tx.instructions["flags"] & 7, 0, NO_WAIT)
    for name in ("wait_long", "wait_short", "wait_copies"):
        tx.instructions[name] = at_starts
    found = []
    for dependence in ("sequence", "scoreboard"):
        machine = override(gpu, {"sm.dependence": dependence, "sm.loads_per_warp": 64})
        trial = System(tx, machine, 2, np.random.SeedSequence(1)).run()
        found.append([np.asarray(getattr(trial, name)).tolist() for name in SEEN])
    assert found[0] == found[1]


def work(count, waits=NONE, **more):
    """Instructions that do not depend on each other, a cycle each."""
    return instruction(compute_run=count, off_path=count, sequence=False, waits=waits, **more)


LONG, SHORT, COPIES = (0, *NONE[1:]), (NO_WAIT, 0, NO_WAIT), (*NONE[:2], 0)


def test_use_waits_for_its_load_not_newer_ones():
    first = [load(0), instruction([(8, 1)], sequence=False, waits=NONE, compute_run=50, off_path=50)]
    memory = cycles(board(), [load(0)])
    assert cycles(board(), [*first, work(200, LONG)]) == cycles(machines.gpu(), [*first, work(200) | {"flags": 1}])
    assert cycles(board(), [*first, work(200, (1, *NONE[1:]))]) == memory + 200
    assert cycles(board(), [*first, work(200)]) < memory + 200


def test_hit_does_not_answer_before_older_miss():
    begin = [load(0), work(1, LONG), load(8), load(0)]  # the last one hits
    assert cycles(board(), [*begin, work(200, LONG)]) == cycles(board(), [*begin, work(200, (1, *NONE[1:]))])


def test_classes_wait_apart():
    """A use of shared data does not wait for a fetch from memory, nor for copies under way."""
    shared = instruction(slots=1, sequence=False, waits=NONE)
    copy = instruction([(0, 1)], sequence=False, waits=NONE, copy=True)
    memory = cycles(board(), [load(0)])
    for fetch in (load(0), copy):
        assert cycles(board(), [fetch, shared, work(300, SHORT)]) == 1 + 20 + 300
    assert cycles(board(), [load(0), shared, work(300, (0, 0, NO_WAIT))]) == memory + 300
    assert cycles(board(), [copy, shared, work(300, (0, 0, NO_WAIT))]) == 1 + 20 + 300
    assert cycles(board(), [copy, shared, work(300, COPIES)]) == memory + 300


def test_a_barrier_need_not_wait_for_loads():
    through = instruction(barrier=True, sequence=False, waits=NONE)
    memory = cycles(board(), [load(0)])
    assert cycles(board(), [load(0), through, work(300)]) == 1 + 1 + 300
    assert cycles(board(), [load(0), through, work(300, LONG)]) == memory + 300
    assert cycles(board(), [load(0), instruction(barrier=True, sequence=False, waits=LONG), work(300)]) == memory + 301


@pytest.mark.parametrize("limit", [1, 2, 4])
def test_loads_under_way_are_bounded(limit):
    """Of independent misses of one warp, so many are under way at a time."""
    gpu = board(sm__loads_per_warp=limit, dram__channels=8, dram__interleave_bytes=128)
    one, eight = cycles(gpu, [load(0)]), cycles(gpu, [load(k) for k in range(8)])
    assert (8 // limit - 1) * one < eight <= 8 // limit * (one + 8)


def mix(**counts):
    mixes = np.zeros(2, MIX)
    for name, number in counts.items():
        mixes[1][name] = number
    return mixes


def test_pipes_are_as_wide_as_they_are():
    """100 double-precision instructions: 32 lanes over so many a cycle; single precision issues meanwhile."""
    some = work(100, instruction_mix=1)
    for lanes, expected in ((32, 100), (16, 200), (2, 1600)):
        assert cycles(board(sm__pipes=dict(fp64_lanes=lanes)), [some], mixes=mix(count_fp64=100)) == expected
    both = mix(count_fp64=50, count_fp32=50)
    assert cycles(board(sm__pipes=dict(fp64_lanes=16, fp32_lanes=32)), [some], mixes=both) == 100
    chained = mix(count_fp64=100, critical_fp64=30)
    assert cycles(board(sm__pipes=dict(fp64_lanes=32, fp64_cycles=8)), [some], mixes=chained) == 240
    assert cycles(board(), [some], mixes=chained) == 120  # links of sm.instruction_cycles


def test_classes_that_share_a_pipe_take_turns():
    """Of 32 cycles each at one scheduler: instructions of different pipes overlap, those of one pipe do not."""
    pipes = dict.fromkeys(("integer_lanes", "multiply_lanes", "special_lanes", "conversion_lanes"), 16) | {
        "fp32_lanes": 32
    }
    gpu, some = board(sm__pipes=pipes), work(32, instruction_mix=1)
    for counts, expected in (
        (dict(integer=16, multiply=16), 32),  # the ALU, and half of the FMA pipe
        (dict(integer=16, fp32=16), 32),
        (dict(multiply=16, fp32=16), 32),  # FMAHeavy for 32 cycles, the FMA pipe with both of its halves for 32
        (dict(multiply=8, fp32=24), 32),
        (dict(multiply=24, fp32=8), 48),
        (dict(special=16, conversion=16), 64),  # both in the XU
    ):
        mixes = mix(**{f"count_{name}": number for name, number in counts.items()})
        assert cycles(gpu, [some], mixes=mixes) == expected, counts


def test_tensor_cores_take_their_rate():
    some = work(10, instruction_mix=1)
    mixes = mix(count_tensor=10, count_tensor_f16=10 * 2048)
    gpu = board(sm__pipes=dict(tensor_f16_macs=512, tensor_cycles=30))
    assert cycles(gpu, [some], mixes=mixes) == 40
    assert cycles(gpu, *[[some]] * 8, mixes=mixes) == 8 * 40
    four = board(sm__schedulers=4, sm__issue_per_cycle=4, sm__pipes=dict(tensor_f16_macs=512, tensor_cycles=30))
    assert cycles(four, *[[some]] * 8, mixes=mixes) == 8 * 40  # a quarter each, to two warps


def test_schedulers_have_warps_and_ports_of_their_own():
    """Slots go to schedulers in turn: two warps of one scheduler share its port while others idle."""
    some = work(100)
    four = board(sm__schedulers=4, sm__issue_per_cycle=4)
    assert cycles(four, *[[some]] * 4) == 100
    assert cycles(four, *[[some]] * 5) == cycles(four, *[[some]] * 8) == 200
    assert cycles(board(sm__issue_per_cycle=4), *[[some]] * 5) == 125  # where all warps share four ports
    slow = board(sm__schedulers=2, sm__issue_per_cycle=2, sm__memory_issue=True)
    assert (
        cycles(slow, [instruction([(0, 1)], OpKind.store, sequence=False, compute_run=9, off_path=9, waits=NONE)]) == 10
    )
