"""How busy each part of the GPU is over a kernel's time: what it did over what it could have done, 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memsim.analysis.l2_rates import l2_clocks, partial_store_cycles, read_cycles, slice_cycles
from memsim.montecarlo.trials import Trials

if TYPE_CHECKING:  # analysis.result uses this module
    from memsim.analysis.result import RunResult

SECTOR_BYTES = 32
ISSUE, LOAD_STORE, L2, DRAM, TENSOR = "issue", "load-store units and L1", "L2", "DRAM", "tensor cores"
_PIPE_NAMES = {"alu": "ALU", "fma": "FMA", "fma_heavy": "FMAHeavy", "fp16": "FP16", "fp64": "FP64", "xu": "XU"}
CONSTANTS = "constants' unit"
SLICE = "busiest slice of L2"
LATENCY = "latency"  # what bounds a kernel where no component is busy for long
LIMITING_SHARE = 0.6  # a component that is busy for more of the time limits the kernel
_CROWDED = 1.75  # times the mean of all slices: chance alone gives the busiest of 64 slices 1.3 times as much


@dataclass(frozen=True)
class ComponentUtilization:
    """One part of the GPU.

    Attributes:
        name: what it is.
        busy: share of the time in which it worked, 0 to 1; nan where the file does not state it.
        rests_on: how that was counted.
    """

    name: str
    busy: float
    rests_on: str


def utilization(result: RunResult) -> list[ComponentUtilization]:
    """Every part's share of busy time, averaged over its units and the trials, from the SMs down to DRAM.

    No part can be busier than all of the time, so the busiest shows what bounds a kernel from below; what is left is
    waiting. An SM's issue slots count the instructions that the trace knows.
    """
    gpu, cycles = result.trials.about["gpu"], result.cycles.mean
    sm = gpu["sm"]
    components = [
        ComponentUtilization(ISSUE, _issue(result), "warp instructions over issue slots"),
        *_pipe(result),
    ]
    busy = _load_store(result) / (sm["count"] * cycles)
    components.append(ComponentUtilization(LOAD_STORE, busy, "wavefronts and shared-memory passes"))
    if constants := sum(constant_cycles(op, sm) for op in result.trials.ops):
        components.append(
            ComponentUtilization(
                CONSTANTS, constants / (sm["count"] * cycles), "distinct addresses of constant accesses"
            )
        )
    if gpu["l2"]["enabled"]:
        busy = min(
            1.0, float(slice_cycles(result.trials).mean()) / cycles
        )  # stores may wait when the last warp has ended
        components.append(ComponentUtilization(L2, busy, "sectors of its slices, partial stores included"))
        one = max((busiest_slice_cycles(op, gpu) for op in result.trials.ops), default=0.0) / cycles
        if one >= _CROWDED * busy:
            components.append(
                ComponentUtilization(SLICE, min(1.0, one), "sectors of the slice that an instruction uses most")
            )
    return [
        *components,
        ComponentUtilization(DRAM, bandwidth_used(result), "bytes moved over what its data bus could move"),
    ]


def busy_shares(result: RunResult) -> dict[str, float]:
    """By component of the GPU, the share of the time in which it is busy; those that are not known are left out."""
    return {part.name: part.busy for part in utilization(result) if part.busy == part.busy}


def busiest_component(result: RunResult) -> tuple[str, float]:
    """The component that is busy for most of the time, and its share."""
    shares = busy_shares(result)
    name = max(shares, key=lambda part: shares[part])
    return name, shares[name]


def bound_by(result: RunResult) -> tuple[str, float]:
    """What bounds a kernel, the busiest component or LATENCY, and the busiest component's share of the time."""
    name, busy = busiest_component(result)
    return name if busy >= LIMITING_SHARE else LATENCY, busy


def busiest_slice_cycles(op: Mapping[str, Any], gpu: Mapping[str, Any]) -> float:
    """SM cycles in which the busiest L2 slice works for a memory instruction, in a trial; 0 if not known.

    Args:
        op: one of ``Trials.ops``.
        gpu: the GPU's fields.

    >>> profile = {"busiest_slice": 30, "slice_sectors": 40, "partial_sectors": 40}
    >>> gpu = {"sm": {"clock_mhz": 1000}, "l2": {"sector_cycles": 1, "partial_store_cycles": 4}}
    >>> busiest_slice_cycles({"profile": profile}, gpu)
    120.0
    """
    of, l2 = op.get("profile", {}), gpu["l2"]
    if not of.get("slice_sectors"):
        return 0.0
    full = read_cycles(l2) if op.get("kind") == "load" else l2["sector_cycles"]
    each = full + partial_store_cycles(op, l2) / of["slice_sectors"]
    return float(of["busiest_slice"] * each / l2_clocks(gpu))


def bandwidth_used(result: RunResult) -> float:
    """DRAM's bytes moved over what it could move at most in the same time."""
    gpu = result.trials.about["gpu"]
    dram, timing = gpu["dram"], gpu["dram"]["timing"]
    moved = sum(result.counters["dram"]["sectors"].values())
    microseconds = result.cycles.mean / gpu["sm"]["clock_mhz"]
    return moved * timing["burst"] / (dram["channels"] * dram["clock_mhz"] * microseconds)


def states_work(trials: Trials) -> bool:
    """Whether a result states all that its trace executes; older ones do not."""
    return "executed" in trials.about and all("profile" in op for op in trials.ops)


def warp_instructions(trials: Trials) -> float:
    """Warp instructions of a trial that the trace knows, those between memory instructions too; nan if not known."""
    about = trials.about
    if not states_work(trials):
        return float("nan")
    memory = sum(op["profile"]["instructions"] for op in trials.ops)
    return float(memory + about["executed"]["compute_instructions"] + about["executed"]["masked"])


def load_store_cycles(op: Mapping[str, Any], sm: Mapping[str, Any]) -> float:
    """SM cycles of a trial in which load-store units work for a static instruction, all SMs together; 0 if not known.

    Passes of constants are none of theirs where these have a unit of their own; transactions of results from before
    wavefronts were counted take one each.

    Args:
        op: one of ``Trials.ops``.
        sm: the GPU's fields.

    >>> profile = {"wavefronts": 0, "transactions": 0, "passes": 40}
    >>> sm = {"lookup_cycles": 1, "pass_cycles": 2, "constant_cycles": 1}
    >>> [load_store_cycles({"space": space, "profile": profile}, sm) for space in ("shared", "constant")]
    [80.0, 0.0]
    >>> load_store_cycles({"space": "global", "profile": {"wavefronts": 8, "instructions": 8}},
    ...     {"lookup_cycles": 1, "pass_cycles": 1, "warp_size": 32, "load_store_lanes": 16})
    16.0
    """
    of = op.get("profile", {})
    passes = 0 if constant_cycles(op, sm) else of.get("passes", 0)
    looked_up = of.get("wavefronts") or of.get("transactions", 0)
    return float(max(looked_up * sm["lookup_cycles"] + passes * sm["pass_cycles"], lane_cycles(op, sm)))


def lane_cycles(op: Mapping[str, Any], sm: Mapping[str, Any]) -> float:
    """SM cycles in which load-store units accept the lanes of a static instruction; 0 where a preset does not say."""
    lanes = sm.get("load_store_lanes")
    if not lanes or constant_cycles(op, sm):
        return 0.0
    return float(op.get("profile", {}).get("instructions", 0) * -(-sm["warp_size"] // lanes))


def constant_cycles(op: Mapping[str, Any], sm: Mapping[str, Any]) -> float:
    """SM cycles of a trial in which the constants' units work for a static instruction; 0 where constants have none.

    Args:
        op: one of ``Trials.ops``.
        sm: the GPU's fields.

    >>> constant_cycles({"space": "constant", "profile": {"passes": 40}}, {"constant_cycles": 4})
    160.0
    """
    taken = (sm.get("constant_cycles") or 0) if op["space"] == "constant" else 0
    return float(taken * op.get("profile", {}).get("passes", 0))


def _load_store(result: RunResult) -> float:
    """SM cycles of a trial in which load-store units work; in results without profiles, one per transaction."""
    ops, sm = result.trials.ops, result.trials.about["gpu"]["sm"]
    if not any("profile" in op for op in ops):
        return result.performance["transactions_per_trial"] * sm["lookup_cycles"]
    return sum(load_store_cycles(op, sm) for op in ops)


def pipe_name(pipe: str) -> str:
    """What reports call one of memsim.gpu.pipes.PIPES.

    >>> pipe_name("fma_heavy"), pipe_name("shuffle"), pipe_name("tensor")
    ('FMAHeavy pipes', 'shuffle pipes', 'tensor cores')
    """
    return TENSOR if pipe == "tensor" else f"{_PIPE_NAMES.get(pipe, pipe)} pipes"


def _pipe(result: RunResult) -> list[ComponentUtilization]:
    """The busiest of what executes the instructions between accesses, where the trace states their classes."""
    about = result.trials.about
    taken = about.get("executed", {}).get("pipe_cycles") or {}
    if not any(taken.values()):
        return []
    busiest = max(taken, key=lambda name: taken[name])
    name = pipe_name(busiest)
    busy = taken[busiest] / (about["gpu"]["sm"]["count"] * result.cycles.mean)
    return [ComponentUtilization(name, busy, "instructions of the busiest pipe over its capacity")]


def _issue(result: RunResult) -> float:
    sm = result.trials.about["gpu"]["sm"]
    slots = sm["count"] * result.cycles.mean * sm["issue_per_cycle"] / sm["issue_cycles"]
    return warp_instructions(result.trials) / slots
