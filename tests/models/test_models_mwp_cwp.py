"""MWP/CWP: the paper's worked example digit by digit, its figures, and a timeline that is played out."""

from __future__ import annotations

import heapq
import math

import pytest
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st

from memsim.gpu.presets import load_gpu
from memsim.models.machine import machine_of
from memsim.models.mwp_cwp import (
    AnalyticKernel,
    AnalyticMachine,
    LimitingCase,
    bandwidth_per_warp,
    execution_cycles,
    mwp_peak_bandwidth,
    predict,
    synchronisation_cycles,
    which_case,
)

# Section 3.6: 80 GB/s, 1 GHz, 16 SMs; a tiled matrix product of 80 blocks of 128 threads, five an SM.
MACHINE = AnalyticMachine(
    sms=16, clock_mhz=1000, bandwidth_gb_per_s=80, issue_cycles=4, mem_ld_cycles=420, departure_del_coal_cycles=4,
    departure_del_uncoal_cycles=10,
)  # fmt: skip
TILED = AnalyticKernel(
    warps_per_block=4, blocks=80, active_blocks_per_sm=5, comp_insts=27, coal_mem_insts=0, uncoal_mem_insts=6,
    uncoal_per_mw=32, synch_insts=6, load_bytes_per_warp=128,
)  # fmt: skip


def test_table_2_row_by_row():
    """Each row from the rows above it as they are printed: the paper rounds as it goes."""
    said = predict(MACHINE, TILED)
    assert (said.n, said.departure_delay, said.mem_l, said.rep) == (20, 320, 730, 1)
    assert round(said.mwp_without_bw_full, 2) == 2.28
    assert f"{bandwidth_per_warp(1000, 128, 730):.3f}" == "0.175"
    assert f"{mwp_peak_bandwidth(80, 0.175, 16):.2f}" == "28.57"
    assert f"{min(2.28, 28.57, 20):.2f}" == f"{said.mwp:.2f}" == "2.28"
    assert (said.comp_cycles, said.mem_cycles) == (132, 4380)
    assert f"{said.cwp_full:.2f}" == "34.18" and said.cwp == 20
    assert said.case == which_case(2.28, 20, 20, 4380, 132) == LimitingCase.memory
    execution = math.ceil(execution_cycles(LimitingCase.memory, 2.28, 20, 730, 4380, 132, 6))  # 38449.2, printed 38450
    synchronisation = synchronisation_cycles(320, 2.28, 6, 5)
    assert (execution, round(synchronisation, 6), round(execution + synchronisation)) == (38450, 12288, 50738)


def test_table_2_without_rounding():
    said = predict(MACHINE, TILED)
    assert said.mwp == 730 / 320
    assert said.exec_cycles == pytest.approx(4380 * 20 / (730 / 320) + 22 * (730 / 320 - 1))
    assert said.cycles == pytest.approx(50738, rel=3e-4)
    assert said.cpi == pytest.approx(said.cycles / (33 * 4 * 80 / 16))  # (25)


# Figures 5 to 8. A computation period is 100 cycles; what is counted there is periods on the time axis.
@pytest.mark.parametrize(
    ("mwp", "cwp", "n", "mem_insts", "mem", "case", "computations", "memories"),
    [
        (2, 4, 8, 1, 300, LimitingCase.memory, 1, 4),  # case 1; (1) and figure count 2, (23) and table 2 one less
        (2, 4, 4, 2, 300, LimitingCase.memory, 1, 4),  # case 2
        (8, 4, 8, 1, 300, LimitingCase.computation, 8, 1),  # case 3
        (4.5, 4, 4, 2, 300, LimitingCase.computation, 8, 1),  # case 4
        (8, 1.5, 8, 1, 50, LimitingCase.computation, 8, 1),  # case 5: computation is longer than memory
        (1, 1, 1, 1, 300, LimitingCase.few_warps, 1, 1),  # case 6
        (2, 2, 2, 2, 300, LimitingCase.few_warps, 3, 2),  # case 7
    ],
)
def test_figures_5_to_8(mwp, cwp, n, mem_insts, mem, case, computations, memories):
    assert which_case(mwp, cwp, n, mem * mem_insts, 100 * mem_insts) == case
    cycles = execution_cycles(case, mwp, n, mem, mem * mem_insts, 100 * mem_insts, mem_insts)
    assert cycles == computations * 100 + memories * mem


def timeline(warps: int, periods: int, comp: float, mem_l: float, delay: float) -> float:
    """Play warps that alternate between the SM, one at a time, and a memory that takes one request every `delay`."""
    ready = [(0.0, warp, periods) for warp in range(warps)]
    sm = memory = end = 0.0
    while ready:
        time, warp, left = heapq.heappop(ready)
        sm = max(sm, time) + comp
        memory = max(memory + delay, sm)
        end = max(end, memory + mem_l)
        if left > 1:
            heapq.heappush(ready, (memory + mem_l, warp, left - 1))
    return end


@drawn(300)
@given(
    warps=st.integers(1, 32),
    periods=st.integers(20, 60),
    comp=st.integers(2, 200),
    transactions=st.integers(1, 32),
    mem_ld=st.integers(100, 800),
)
def test_a_played_timeline_takes_as_long(warps, periods, comp, transactions, mem_ld):
    """One SM, no barriers, ample bandwidth: near where one of three limits is clear, within half or twice anywhere."""
    machine = AnalyticMachine(1, 1000, 1e9, 4, mem_ld, 10, 10)
    uncoalesced = periods if transactions > 1 else 0
    kernel = AnalyticKernel(warps, 1, 1, periods * (comp - 1), periods - uncoalesced, uncoalesced, transactions)
    said = predict(machine, kernel)
    played = timeline(warps, periods, 4 * comp, said.mem_l, said.departure_delay)
    by_memory, by_sm, by_latency = warps * said.departure_delay, warps * 4 * comp, said.mem_l + 4 * comp
    *_, second, first = sorted((by_memory, by_sm, by_latency))
    assert 0.45 < said.cycles / played < 2
    if first > 2 * second:
        assert said.cycles == pytest.approx(played, rel=0.1)


@given(st.integers(1, 8), st.integers(1, 200), st.floats(0, 50), st.floats(0, 50), st.floats(0.1, 500))
def test_bandwidth_bounds_memory_time(active, blocks, coal, uncoal, comp):
    """What the memory could bring in the time predicted is never less than what the warps asked for."""
    machine = AnalyticMachine(16, 1350, 20, 4, 420, 4, 10)
    active = min(active, -(-blocks // 16))
    kernel = AnalyticKernel(4, blocks, active, comp, coal, uncoal)
    said = predict(machine, kernel)
    if said.case == LimitingCase.memory:
        requested_bytes = (coal + uncoal) * 128 * 4 * blocks
        could = said.cycles / machine.clock_mhz * machine.bandwidth_gb_per_s * 1000
        assert requested_bytes <= could * 1.01


def test_without_memory_instructions_time_is_computation():
    said = predict(MACHINE, AnalyticKernel(4, 160, 5, comp_insts=100, coal_mem_insts=0, uncoal_mem_insts=0))
    assert (said.case, said.cycles, said.cpi) == (LimitingCase.computation, 400 * 20 * 2, 4)


# Tables 3 and 6: SMs, MHz, GB/s, Mem_LD, departure delays uncoalesced and coalesced
@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("geforce-8800gtx", (16, 1350, 86.4, 420, 10, 4)),
        ("quadro-fx5600", (16, 1350, 76.8, 420, 10, 4)),
        ("geforce-8800gt", (14, 1500, 57.6, 420, 10, 4)),
        ("geforce-gtx280", (30, 1300, 141.7, 450, 40, 4)),
    ],
)
def test_presets_are_tables_3_and_6(name, row):
    machine = machine_of(load_gpu(name))
    assert machine.issue_cycles == 4
    assert (
        machine.sms, machine.clock_mhz, round(machine.bandwidth_gb_per_s, 1), machine.mem_ld_cycles,
        machine.departure_del_uncoal_cycles, machine.departure_del_coal_cycles,
    ) == row  # fmt: skip
