"""Scoreboards and stall counts of machine code: times worked out by hand."""

import machines
import numpy as np
import pytest
from machines import instruction
from test_scoreboard import LONG, NONE, board, cycles, load, mix, work

from memsim.trace.schema import NO_SCOREBOARD, NO_WAIT, RESULT_CLASSES, OpKind

SB0, SB1, BOTH = 1, 2, 3  # wait masks


def sets(number, wait=0, stall=1):
    return dict(control=(number, wait, stall, 0))


def waits(mask, stall=0):
    return dict(control=(NO_SCOREBOARD, mask, stall, 0))


def result(of, number, latency_of=1, **more):
    """An instruction whose result sets a scoreboard."""
    return work(1, instruction_mix=1, control=(number, 0, 1, RESULT_CLASSES.index(of) + 1), **more)


def test_warp_waits_for_scoreboards_that_it_names():
    """By class a use of the older load would wait as well; a scoreboard tells them apart whatever their order."""
    miss, hit = load(8, **sets(0)), load(0, **sets(1))
    warm = [load(0, **sets(2)), work(1, **waits(1 << 2))]
    memory = cycles(board(), [load(0)])
    both = [*warm, miss, hit]
    alone = cycles(board(), [*warm, miss])
    assert cycles(board(), [*both, work(500, **waits(SB1))]) == memory + 1 + 1 + 1 + 10 + 500 - 1
    assert cycles(board(), [*both, work(500, **waits(SB0))]) == alone + 500
    assert cycles(board(), [*both, work(500, **waits(BOTH))]) == alone + 500
    assert cycles(board(), [*both, work(500)]) < memory + 1 + 10 + 500


def test_a_scoreboard_counts_all_that_set_it():
    gpu = board(dram__channels=8, dram__interleave_bytes=128)
    loads = [load(k, **sets(0)) for k in range(4)]
    assert cycles(gpu, [*loads, work(300, **waits(SB0))]) == cycles(gpu, loads) + 300


def test_machines_by_sequence_know_no_scoreboards():
    rows = [load(0, **sets(0)), work(300, **waits(SB0))]
    assert cycles(machines.gpu(), rows) == cycles(machines.gpu(), [load(0), work(300)])


@pytest.mark.parametrize(("of", "field"), [("special", "special"), ("register", "register"), ("control", "control")])
def test_a_result_is_there_after_its_latency(of, field):
    """Twenty cycles from its issue, with what issues meanwhile within them."""
    gpu = board(sm__schedulers=1, sm__pipes={f"{field}_cycles": 20})
    one = mix(**{f"count_{'control' if of == 'register' else of}": 1})
    for meanwhile in (1, 7, 15):
        rows = [result(of, 0), work(meanwhile), work(100, **waits(SB0))]
        assert cycles(gpu, [*rows], mixes=one) == 20 + 100
    assert cycles(gpu, [result(of, 0), work(40), work(100, **waits(SB0))], mixes=one) == 1 + 40 + 100
    assert cycles(gpu, [result(of, 0), work(5), work(100, **waits(SB1))], mixes=one) == 1 + 5 + 100


def test_a_result_waits_for_its_pipe_to_begin():
    """Two special functions of eight cycles each in their pipe: the second begins when the first is over."""
    gpu = board(sm__schedulers=1, sm__pipes=dict(special_cycles=20, special_lanes=4))
    rows = [result("special", 0), work(100, **waits(SB0))]
    assert cycles(gpu, rows, mixes=mix(count_special=1)) == 20 + 100
    assert cycles(gpu, rows, rows, mixes=mix(count_special=1)) == 8 + 20 + 100 + 100 - 8  # both issue 100 at one port


def test_stall_counts_are_the_time_of_a_gap():
    """Ten instructions whose stall counts add up to 47, whatever a chain would take."""
    assert cycles(board(), [work(10, instruction_mix=1)], mixes=mix(count_fp32=10, stall_cycles=47)) == 47
    assert cycles(board(), [work(10, instruction_mix=1)], mixes=mix(count_fp32=10, stall_cycles=4)) == 10  # issue ports


def test_stall_count_holds_back_what_follows_access():
    gpu = board(sm__schedulers=1, sm__memory_issue=True)
    store = instruction([(0, 1)], OpKind.store, sequence=False, waits=NONE)
    times = {
        stall: cycles(gpu, [store | dict(control=(NO_SCOREBOARD, 0, stall, 0, NO_WAIT)), work(100)])
        for stall in (1, 4, 13)
    }
    assert times == {1: 101, 4: 104, 13: 113}
    assert np.ptp([cycles(gpu, [load(0, **sets(0, stall=k)), work(9, LONG)]) for k in (1, 13)]) == 0


def test_a_branch_is_resolved_before_the_next_instruction():
    """Two branches of three cycles each, in addition to stall counts, where the GPU states them."""
    mixes = mix(count_control=2, count_fp32=8, stall_cycles=47, critical_resolve=2)
    assert cycles(board(), [work(10, instruction_mix=1)], mixes=mixes) == 47
    assert cycles(board(sm__pipes=dict(resolve_cycles=3)), [work(10, instruction_mix=1)], mixes=mixes) == 47 + 2 * 3


GROUP_MACS = 16384  # of a warp of wgmma.m64n64k16: 32 cycles of a scheduler's share of 512 per cycle
TENSOR = dict(sm__schedulers=1, sm__pipes=dict(tensor_group_f16_macs=512))
PRODUCTS = mix(count_tensor=1, count_tensor_group_f16=GROUP_MACS)


def products(of="group"):
    return work(1, instruction_mix=1, control=(NO_SCOREBOARD, 0, 0, RESULT_CLASSES.index(of) + 1))


def waits_for_groups(left, count=100):
    return work(count, control=(NO_SCOREBOARD, 0, 0, 0, left))


def test_wait_lasts_until_products_are_done():
    """What issues meanwhile costs nothing; a wait that leaves groups unfinished is over when the older ones are."""
    gpu = board(**TENSOR)
    assert cycles(gpu, [products(), waits_for_groups(0)], mixes=PRODUCTS) == 32 + 100
    assert cycles(gpu, [products(), work(20), waits_for_groups(0)], mixes=PRODUCTS) == 32 + 100
    assert cycles(gpu, [products(), work(50), waits_for_groups(0)], mixes=PRODUCTS) == 1 + 50 + 100
    assert cycles(gpu, [*[products()] * 4, waits_for_groups(0)], mixes=PRODUCTS) == 4 * 32 + 100
    assert cycles(gpu, [*[products()] * 4, waits_for_groups(1)], mixes=PRODUCTS) == 3 * 32 + 100
    assert cycles(gpu, [products("product"), products(), waits_for_groups(0)], mixes=PRODUCTS) == 2 * 32 + 100
    assert cycles(gpu, [products(), products("product"), waits_for_groups(0)], mixes=PRODUCTS) == 32 + 100
    assert cycles(gpu, [products()], mixes=PRODUCTS) == 32  # a warp ends when its products are done


def test_chain_of_products_runs_at_tensor_rate():
    """As many warps of a scheduler as there are, and whatever each of them waits for."""
    gpu, chain = board(**TENSOR), [row for _ in range(50) for row in (products(), waits_for_groups(0, 1))]
    for warps in (1, 2, 4):
        found = cycles(gpu, *[chain] * warps, mixes=PRODUCTS)
        assert 50 * 32 * warps <= found <= 50 * 32 * warps + 50 * (warps == 1) + 50


def test_loads_overlap_with_products():
    """A load that misses takes longer than eight products; both together take as long as the longer one."""
    gpu, work_behind = board(**TENSOR), work(100, control=(NO_SCOREBOARD, SB0, 0, 0))
    memory = cycles(gpu, [load(0, **sets(0)), work_behind], mixes=PRODUCTS)
    assert memory > 100 + 2 * 32
    assert cycles(gpu, [products(), load(0, **sets(0)), work_behind], mixes=PRODUCTS) == memory
    many = [products()] * 20
    assert cycles(gpu, [load(0, **sets(0)), *many, work_behind], mixes=PRODUCTS) == 1 + 19 * 32 + 100
    assert cycles(gpu, [*many, load(0, **sets(0)), work_behind], mixes=PRODUCTS) == 19 * 32 + memory


def test_products_without_rate_hold_nothing_back():
    rows = [products(), waits_for_groups(0)]
    assert cycles(board(sm__schedulers=1), rows, mixes=PRODUCTS) == 1 + 100
