"""What the kernel's time is made of by the MWP/CWP model (Hong and Kim, ISCA 2009).

See docs/explanation/models/mwp_cwp.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from memsim.analysis.percent import percent
from memsim.analysis.result import RunResult
from memsim.gpu.config import GPU
from memsim.gpu.occupancy import occupancy
from memsim.models.kernel_counts import TraceCounts, kernel_of
from memsim.models.machine import machine_of
from memsim.models.mwp_cwp import AnalyticKernel, AnalyticMachine, LimitingCase, Prediction, predict
from memsim.profile.op_profile import OpProfile
from memsim.why.finding import Cause, Finding
from memsim.why.source_access import kernel_location


@dataclass(frozen=True)
class Regime:
    """The model's view of a result.

    Attributes:
        machine, kernel: what the model was given, counted in the traced warps.
        prediction: what it says.
        limiters: what limits the resident warps.
        max_warps: that one SM can hold.
    """

    machine: AnalyticMachine
    kernel: AnalyticKernel
    prediction: Prediction
    limiters: tuple[str, ...]
    max_warps: int


def regime(result: RunResult, gpu: GPU) -> Regime | None:
    """The regime of a result's kernel; None if its warps execute nothing."""
    counts = _counts(result)
    if not counts.comp_insts + counts.mem_insts:
        return None
    about = result.trials.about
    trace, executed = about["trace"], about["executed"]
    held = occupancy(gpu, prod(trace["block"]), executed["registers"], executed["shared_bytes"])
    blocks = prod(trace["grid"])
    launched = -(-blocks // gpu.sm.count)
    machine = machine_of(gpu)
    kernel = kernel_of(counts, held.warps_per_block, blocks, min(held.blocks, launched))
    limiters = ("the launch",) if launched < held.blocks else held.limiters
    return Regime(machine, kernel, predict(machine, kernel), limiters, held.max_warps)


def _counts(result: RunResult) -> TraceCounts:
    """What models.counts counts in a trace, from the profiles kept with the result."""
    ops, executed = result.trials.ops, result.trials.about["executed"]
    pairs = [(op, OpProfile(**op["profile"])) for op in ops]
    off_chip = [(op, of) for op, of in pairs if op["space"] not in ("shared", "constant")]
    return TraceCounts(
        warps=executed["warps"],
        non_memory_insts=executed["compute_instructions"],
        on_chip_insts=sum(of.instructions for _, of in pairs) - sum(of.instructions for _, of in off_chip),
        barriers=executed["barriers"],
        coal_mem_insts=sum(of.coalesced for _, of in off_chip),
        uncoal_mem_insts=sum(of.instructions - of.coalesced for _, of in off_chip),
        coal_transactions=sum(of.coalesced_transactions for _, of in off_chip),
        uncoal_transactions=sum(of.transactions - of.coalesced_transactions for _, of in off_chip),
        bytes=sum(of.lanes * op["width"] for op, of in off_chip),
    )


_ROOM = {  # by what limits the resident warps: what makes room for more
    "the launch": "launch more threads: more blocks with less work each, or several kernels concurrently (streams)",
    "registers": "use fewer registers per thread (__launch_bounds__, smaller tiles), or keep more loads in flight",
    "shared memory": "use less shared memory per block, or let larger blocks share it",
    "blocks": "use larger blocks: an SM holds no more blocks, however small they are",
    "warps": "choose a block size that divides the number of warps that an SM holds",
}


def find_too_few_warps(of: Regime, result: RunResult, busiest: float) -> Iterator[Finding]:
    """Attributable share: the share of SMs that get no block, or what the model predicts a full SM saves within what
    the warps allow, whichever is more; and no more than the busiest component leaves."""
    said, limiters = of.prediction, of.limiters
    idle, evidence = _idle_sms(of), []
    if idle:
        limiters, blocks = ("the launch",), of.kernel.blocks
        evidence.append(
            f"{blocks} block{'s' * (blocks != 1)} for {of.machine.sms} SMs: {percent(idle)} of the SMs are idle"
        )
    gain = 0.0
    if said.case == LimitingCase.few_warps and said.n < of.max_warps:
        gain = _gain_of_full_sms(of)
        less = f"{percent(gain)} less" if gain >= 0.005 else "no less"
        evidence.append(
            f"an SM holds {said.n} of {of.max_warps} warps, limited by {' and '.join(of.limiters)}; the MWP/CWP model, "
            f"which has no caches, predicts {less} time with full SMs"
        )
    if not evidence:
        return
    share = min(max(idle, min(gain, 1 - said.n / of.max_warps)), 1 - busiest)
    trace = result.trials.about["trace"]
    launch = f"grid {'x'.join(map(str, trace['grid']))}, block {'x'.join(map(str, trace['block']))}"
    where = kernel_location(result), launch, ""
    advice = "; ".join(_ROOM[limiter] for limiter in limiters)
    yield Finding(Cause.few_warps, *where, share, share, "; ".join(evidence), advice)


def _idle_sms(of: Regime) -> float:
    """Share of the SMs that get no block."""
    return max(0.0, 1 - of.kernel.blocks / of.machine.sms)


def _gain_of_full_sms(of: Regime) -> float:
    """Share of the time that the model says a full SM would take less."""
    active = max(1, of.max_warps // of.kernel.warps_per_block)
    full = replace(of.kernel, active_blocks_per_sm=active, blocks=active * of.machine.sms)
    return 1 - _cycles_per_warp(predict(of.machine, full)) / _cycles_per_warp(of.prediction)


def _cycles_per_warp(said: Prediction) -> float:
    return said.cycles / (said.n * said.rep)
