"""Memory and computation warp parallelism: Hong and Kim, An Analytical Model for a GPU Architecture with Memory-level
and Thread-level Parallelism Awareness, ISCA 2009. Equation numbers are the paper's, as in
docs/explanation/models/mwp_cwp.md.

MWP is how many warps of one SM can have memory requests under way together, CWP how many warps can compute while one
waits for memory (itself included), N how many warps the SM holds. Which of the three is the least decides what a
kernel's time is made of. Instructions are warp instructions, the same number as the paper's instructions of one thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LimitingCase(StrEnum):
    """What a kernel's time is made of."""

    few_warps = "few_warps"  # MWP = CWP = N: too few warps to use the parallelism there is (22)
    memory = "memory"  # CWP >= MWP: memory periods follow each other, computation hides behind them (23)
    computation = "computation"  # else: computation periods follow each other, memory hides behind them (24)


@dataclass(frozen=True)
class AnalyticMachine:
    """Rows 1 to 7 of the paper's table 1, and the SMs of table 3.

    Attributes:
        sms: SMs of the GPU.
        clock_mhz: the processor clock (Freq); cycles are its cycles.
        bandwidth_gb_per_s: of the memory (Mem_Bandwidth), 10^9 bytes per second.
        issue_cycles: to issue one warp instruction (Issue_cycles).
        mem_ld_cycles: round trip of one transaction to DRAM (Mem_LD).
        departure_del_coal_cycles, departure_del_uncoal_cycles: least delay between two coalesced memory warps of an SM,
            and between two transactions of an uncoalesced one.
    """

    sms: int
    clock_mhz: float
    bandwidth_gb_per_s: float
    issue_cycles: float
    mem_ld_cycles: float
    departure_del_coal_cycles: float
    departure_del_uncoal_cycles: float


@dataclass(frozen=True)
class AnalyticKernel:
    """Rows 8 to 21 of the paper's table 1: a launch, and what one warp executes.

    Attributes:
        warps_per_block, blocks: of the launch.
        active_blocks_per_sm: blocks one SM holds (occupancy).
        comp_insts: instructions that do not go to DRAM: arithmetic, shared memory, barriers.
        coal_mem_insts, uncoal_mem_insts: memory instructions of one transaction, and of several.
        uncoal_per_mw: transactions of an uncoalesced memory instruction.
        synch_insts: barriers, which are among `comp_insts` too.
        load_bytes_per_warp: bytes the lanes of one memory instruction ask for.
    """

    warps_per_block: int
    blocks: int
    active_blocks_per_sm: int
    comp_insts: float
    coal_mem_insts: float
    uncoal_mem_insts: float
    uncoal_per_mw: float = 32
    synch_insts: float = 0
    load_bytes_per_warp: float = 128

    def __post_init__(self) -> None:
        assert min(self.warps_per_block, self.blocks, self.active_blocks_per_sm) >= 1
        assert min(self.comp_insts, self.coal_mem_insts, self.uncoal_mem_insts, self.synch_insts) >= 0
        assert self.total_insts > 0, "a kernel executes something"

    @property
    def mem_insts(self) -> float:
        """#Mem_insts."""
        return self.coal_mem_insts + self.uncoal_mem_insts

    @property
    def total_insts(self) -> float:
        """#Total_insts."""
        return self.comp_insts + self.mem_insts

    @property
    def weight_uncoal(self) -> float:
        """(13); (14) is 1 minus it."""
        return self.uncoal_mem_insts / self.mem_insts

    @property
    def n(self) -> int:
        """N (20), #Active_warps_per_SM."""
        return self.warps_per_block * self.active_blocks_per_sm


@dataclass(frozen=True)
class Prediction:
    """What the model says of a kernel; cycles are of one SM, hence of the whole launch.

    Attributes:
        n: warps one SM holds (20).
        mem_l: latency of a memory warp (12).
        departure_delay: between two memory warps of an SM (15).
        mwp_without_bw_full: memory warps that fit into one latency (16).
        mwp_peak_bw: memory warps per SM that use up its share of the bandwidth (6).
        mwp, cwp_full, cwp: (5), (8), (9).
        mem_cycles, comp_cycles: memory waiting and computation of one warp (18), (19).
        rep: times an SM is filled (21).
        case: which of (22), (23), (24) applies.
        exec_cycles, synch_cycles: by that equation, and the cost of barriers (26).
        cpi: cycles an instruction of one warp (25), of the total with barriers.
    """

    n: int
    mem_l: float
    departure_delay: float
    mwp_without_bw_full: float
    mwp_peak_bw: float
    mwp: float
    cwp_full: float
    cwp: float
    mem_cycles: float
    comp_cycles: float
    rep: float
    case: LimitingCase
    exec_cycles: float
    synch_cycles: float
    cpi: float

    @property
    def cycles(self) -> float:
        """Exec_cycles_with_synch (27)."""
        return self.exec_cycles + self.synch_cycles


def predict(machine: AnalyticMachine, kernel: AnalyticKernel) -> Prediction:
    """Apply equations (5) to (27) to a kernel on a machine.

    The paper's table 2, where intermediate values are rounded (50738 cycles):

    >>> machine = AnalyticMachine(16, 1000, 80, 4, 420, 4, 10)
    >>> kernel = AnalyticKernel(4, 80, 5, comp_insts=27, coal_mem_insts=0, uncoal_mem_insts=6, synch_insts=6)
    >>> done = predict(machine, kernel)
    >>> done.mem_l, done.departure_delay, done.cwp, str(done.case), round(done.cycles)
    (730.0, 320.0, 20, 'memory', 50728)
    """
    n, comp_cycles = kernel.n, machine.issue_cycles * kernel.total_insts
    active_sms = min(machine.sms, kernel.blocks)
    rep = repetitions(kernel.blocks, kernel.active_blocks_per_sm, active_sms)
    if not kernel.mem_insts:
        exec_cycles, infinite = comp_cycles * n * rep, float("inf")
        cpi = cycles_per_instruction(exec_cycles, kernel, active_sms)
        return Prediction(
            n, 0.0, 0.0, infinite, infinite, n, 1.0, 1.0, 0.0, comp_cycles, rep, LimitingCase.computation,
            exec_cycles, 0.0, cpi,
        )  # fmt: skip
    mem_l, mem_cycles, departure_delay = latencies(machine, kernel)
    full = mem_l / departure_delay  # (16)
    per_warp = bandwidth_per_warp(machine.clock_mhz, kernel.load_bytes_per_warp, mem_l)
    peak = mwp_peak_bandwidth(machine.bandwidth_gb_per_s, per_warp, active_sms)
    mwp = min(full, n, peak)  # (5), (17)
    cwp_full = (mem_cycles + comp_cycles) / comp_cycles  # (8)
    cwp = min(cwp_full, n)  # (9)
    case = which_case(mwp, cwp, n, mem_cycles, comp_cycles)
    exec_cycles = execution_cycles(case, mwp, n, mem_l, mem_cycles, comp_cycles, kernel.mem_insts) * rep
    synch = synchronisation_cycles(departure_delay, mwp, kernel.synch_insts, kernel.active_blocks_per_sm) * rep
    cpi = cycles_per_instruction(exec_cycles + synch, kernel, active_sms)
    return Prediction(
        n, mem_l, departure_delay, full, peak, mwp, cwp_full, cwp, mem_cycles, comp_cycles, rep, case,
        exec_cycles, synch, cpi,
    )  # fmt: skip


def latencies(machine: AnalyticMachine, kernel: AnalyticKernel) -> tuple[float, float, float]:
    """Mem_L (10) to (12), Mem_cycles (18) and Departure_delay (15), in cycles."""
    uncoal = machine.mem_ld_cycles + (kernel.uncoal_per_mw - 1) * machine.departure_del_uncoal_cycles  # (10)
    coal = machine.mem_ld_cycles  # (11)
    weight = kernel.weight_uncoal
    mem_l = uncoal * weight + coal * (1 - weight)
    mem_cycles = uncoal * kernel.uncoal_mem_insts + coal * kernel.coal_mem_insts
    departure_uncoal = machine.departure_del_uncoal_cycles * kernel.uncoal_per_mw
    return mem_l, mem_cycles, departure_uncoal * weight + machine.departure_del_coal_cycles * (1 - weight)


def bandwidth_per_warp(clock_mhz: float, load_bytes: float, mem_l: float) -> float:
    """BW_per_warp (7), in GB/s: one warp's bytes every memory latency."""
    return clock_mhz * load_bytes / mem_l / 1000


def mwp_peak_bandwidth(bandwidth_gb_per_s: float, per_warp_gb_per_s: float, active_sms: int) -> float:
    """MWP_peak_BW (6): memory warps of one SM at which all SMs together use up the bandwidth.

    >>> round(mwp_peak_bandwidth(80, 0.175, 16), 2)
    28.57
    """
    return bandwidth_gb_per_s / (per_warp_gb_per_s * active_sms)


def repetitions(blocks: int, active_blocks_per_sm: int, active_sms: int) -> float:
    """#Rep (21): how often an SM is filled. Not rounded: the paper's model of an SM that is partly filled; at least 1.

    >>> repetitions(40, 2, 4)
    5.0
    """
    return max(1.0, blocks / (active_blocks_per_sm * active_sms))


def which_case(mwp: float, cwp: float, n: int, mem_cycles: float, comp_cycles: float) -> LimitingCase:
    """Which execution equation applies.

    Kernels with Comp_cycles > Mem_cycles are printed next to the condition of (23), but section 3.2.2 and figure 7
    (case 5) give them the cost of (3), which is (24); they go there, unless bandwidth leaves an SM less than one warp.
    """
    if mwp == n and cwp == n:
        return LimitingCase.few_warps
    if mwp > cwp or (comp_cycles > mem_cycles and mwp >= 1):
        return LimitingCase.computation
    return LimitingCase.memory


def execution_cycles(
    case: LimitingCase, mwp: float, n: int, mem_l: float, mem_cycles: float, comp_cycles: float, mem_insts: float
) -> float:
    """Exec_cycles_app for one filling of an SM: (22), (23) or (24).

    An MWP below 1, which the bandwidth can force, starts no computation period early: MWP - 1 counts as 0 then.
    """
    period = comp_cycles / mem_insts * max(mwp - 1, 0)  # (2): Comp_p, as often as warps start before memory answers
    if case == LimitingCase.few_warps:
        return mem_cycles + comp_cycles + period
    if case == LimitingCase.memory:
        return mem_cycles * n / mwp + period
    return mem_l + comp_cycles * n


def synchronisation_cycles(departure_delay: float, mwp: float, synch_insts: float, active_blocks: int) -> float:
    """Synch_cost (26) for one filling of an SM: after a barrier, a block's memory warps depart one after the other."""
    return departure_delay * max(mwp - 1, 0) * synch_insts * active_blocks


def cycles_per_instruction(cycles: float, kernel: AnalyticKernel, active_sms: int) -> float:
    """CPI (25): cycles of an SM over the warp instructions it executes."""
    return cycles / (kernel.total_insts * kernel.warps_per_block * kernel.blocks / active_sms)
