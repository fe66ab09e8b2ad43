"""How busy each part of the GPU is over a kernel's time: what it did over what it could have done, 0 to 1."""

from __future__ import annotations

from dataclasses import dataclass

from memsim.analysis.result import Result

SECTOR_BYTES = 32


@dataclass(frozen=True)
class Part:
    """One part of the GPU.

    Attributes:
        name: what it is.
        busy: share of the time in which it worked, 0 to 1; nan where the file does not tell.
        rests_on: how that was counted.
    """

    name: str
    busy: float
    rests_on: str


def utilization(result: Result) -> list[Part]:
    """Every part's share of busy time, averaged over its units and the trials, from the SMs down to DRAM.

    No part can be busier than all of the time, so the busiest tells what bounds a kernel from below; what is left is
    waiting. An SM's issue slots count the instructions that the trace knows.
    """
    gpu, cycles = result.trials.about["gpu"], result.cycles.mean
    sm, l2 = gpu["sm"], gpu["l2"]
    parts = [Part("issue", _issue(result), "warp instructions of the trace over issue slots")]
    elsewhere = "constant" if sm.get("constant_cycles") else None  # in a unit of their own
    passes = sum(op.get("profile", {}).get("passes", 0) for op in result.trials.ops if op["space"] != elsewhere)
    taken = _wavefronts(result) * sm["lookup_cycles"] + passes * sm["pass_cycles"]
    parts.append(Part("load-store units and L1", taken / (sm["count"] * cycles), "wavefronts and shared-memory passes"))
    if l2["enabled"]:
        counts = result.counters["l2"]["sectors"]
        sectors = counts["reads"] + counts["writes"] + counts["atomics"]
        parts.append(
            Part(
                "L2", sectors * l2["sector_cycles"] / (l2["slices"] * cycles), "sectors of its slices, each as if whole"
            )
        )
    return [*parts, Part("DRAM", bandwidth_used(result), "bytes moved over what its data bus could move")]


def bandwidth_used(result: Result) -> float:
    """DRAM's bytes moved over what it could move at most in the same time."""
    gpu = result.trials.about["gpu"]
    dram, timing = gpu["dram"], gpu["dram"]["timing"]
    moved = sum(result.counters["dram"]["sectors"].values())
    microseconds = result.cycles.mean / gpu["sm"]["clock_mhz"]
    return moved * timing["burst"] / (dram["channels"] * dram["clock_mhz"] * microseconds)


def warp_instructions(result: Result) -> float:
    """Warp instructions of a trial that the trace knows, those between memory instructions too; nan if not told."""
    about = result.trials.about
    if "executed" not in about or not all("profile" in op for op in result.trials.ops):
        return float("nan")
    memory = sum(op["profile"]["instructions"] for op in result.trials.ops)
    return float(memory + about["executed"]["gap_instructions"])


def _wavefronts(result: Result) -> float:
    """What the load-store units' transactions took; one each in results that do not tell."""
    counted = sum(op.get("profile", {}).get("wavefronts", 0) for op in result.trials.ops)
    return float(counted or result.performance["transactions_per_trial"])


def _issue(result: Result) -> float:
    sm = result.trials.about["gpu"]["sm"]
    slots = sm["count"] * result.cycles.mean * sm["issue_per_cycle"] / sm["issue_cycles"]
    return warp_instructions(result) / slots
