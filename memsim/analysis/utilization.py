"""How busy each part of the GPU is over a kernel's time: what it did over what it could have done, 0 to 1."""

from __future__ import annotations

from dataclasses import dataclass

from memsim.analysis.result import Result

SECTOR_BYTES = 32
ISSUE, LOAD_STORE, L2, DRAM, TENSOR = "issue", "load-store units and L1", "L2", "DRAM", "tensor cores"


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
    parts = [Part(ISSUE, _issue(result), "warp instructions of the trace over issue slots"), *_pipe(result)]
    elsewhere = "constant" if sm.get("constant_cycles") else None  # in a unit of their own
    passes = sum(op.get("profile", {}).get("passes", 0) for op in result.trials.ops if op["space"] != elsewhere)
    taken = _wavefronts(result) * sm["lookup_cycles"] + passes * sm["pass_cycles"]
    parts.append(Part(LOAD_STORE, taken / (sm["count"] * cycles), "wavefronts and shared-memory passes"))
    if l2["enabled"]:
        counts = result.counters["l2"]["sectors"]
        sectors = counts["reads"] + counts["writes"] + counts["atomics"]
        longer = max(0, (l2.get("partial_store_cycles") or 0) - l2["sector_cycles"])
        taken = sectors * l2["sector_cycles"] + longer * _profiled(result, "partial_sectors")
        busy = min(1.0, taken / (l2["slices"] * cycles))  # stores may wait in slices when the last warp has ended
        parts.append(Part(L2, busy, "sectors of its slices, those stored in part too"))
    return [*parts, Part(DRAM, bandwidth_used(result), "bytes moved over what its data bus could move")]


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


def _profiled(result: Result, field: str) -> int:
    """A field of the ops' profiles, added up; 0 in results that do not tell."""
    return sum(op.get("profile", {}).get(field, 0) for op in result.trials.ops)


def _wavefronts(result: Result) -> float:
    """What the load-store units' transactions took; one each in results that do not tell."""
    return float(_profiled(result, "wavefronts") or result.performance["transactions_per_trial"])


def _pipe(result: Result) -> list[Part]:
    """The busiest of what executes the instructions between accesses, where the trace tells their classes."""
    about = result.trials.about
    taken = about.get("executed", {}).get("pipe_cycles") or {}
    if not any(taken.values()):
        return []
    busiest = max(taken, key=lambda name: taken[name])
    name = TENSOR if busiest == "tensor" else f"{busiest} pipes"
    busy = taken[busiest] / (about["gpu"]["sm"]["count"] * result.cycles.mean)
    return [Part(name, busy, "instructions of the class over what its lanes could do; the busiest class")]


def _issue(result: Result) -> float:
    sm = result.trials.about["gpu"]["sm"]
    slots = sm["count"] * result.cycles.mean * sm["issue_per_cycle"] / sm["issue_cycles"]
    return warp_instructions(result) / slots
