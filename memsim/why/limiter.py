"""Which component of the GPU limits the kernel: the one that is busy most of the time, or, where none is, latency."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memsim.analysis.percent import percent
from memsim.analysis.result import RunResult
from memsim.analysis.time_breakdown import TimeCause, time_breakdown
from memsim.analysis.utilization import DRAM, ISSUE, L2, LIMITING_SHARE, LOAD_STORE, TENSOR, busiest_component
from memsim.why.finding import ADVICE, LEAST_SHARE, MERGED_ACCESSES, Cause, Finding
from memsim.why.source_access import SourceAccess, kernel_location

BANKS = 32
WORD_BYTES = 4  # of a bank
_PIPES = " pipes"
_FEWER = {  # by the pipes that are busiest: what takes less of them
    "ALU": "compute indices outside of loops, in 32 bits, with powers of two for divisors; unroll",
    "FMAHeavy": "multiply indices outside of loops, in 32 bits; divide by powers of two",
    "FMA": "compute less: products and sums in one instruction (fma), factors outside of loops; or in half precision, "
    "two at a time (half2), or on tensor cores",
    "FP16": "compute two at a time (half2), or on tensor cores",
    "FP64": "compute in single precision where that is enough; a GPU of this kind has few units for double",
    "XU": "call fewer roots, exponentials and sines: tables, polynomials, or values kept from before; convert once, "
    "when data come in or go out, not in loops",
    "branch": "reduce branches: unroll, or select values instead of branching",
    "shuffle": "shuffle less: let each lane add up more by itself first",
}
FAR = 0.7  # of the predicted time: a kernel with a longer best possible time is near it
_ONCE = {  # by the component and why it moves data again: how to move them once
    (DRAM, TimeCause.cold): "let a launch find its data in L2: work on parts of the data that fit L2, each part by all "
    "launches before the next one, or do the work of several launches in one",
    (DRAM, TimeCause.repeated): "let blocks that share data run close together in time, tile for L2, "
    "and store whole lines",
    (L2, TimeCause.repeated): "larger tiles in shared memory or registers, so that fewer blocks load the same data",
}

_AVOIDABLE = (TimeCause.cold, TimeCause.repeated, TimeCause.queueing)


def find_limiting_component(result: RunResult, accesses: list[SourceAccess]) -> Iterator[Finding]:
    """What the busiest component is busy with, or what warps wait for.

    Attributable share: of a component, its share of the time; of waiting, an access's share, for as long as no
    component is busy.
    """
    name, most = busiest_component(result)
    if most < LIMITING_SHARE:
        yield from _waiting(accesses, name, most)
    elif name == LOAD_STORE:
        yield from _shared(accesses, most)
    elif name in (DRAM, L2):
        yield from _traffic(result, accesses, name, most)
    elif name.endswith((ISSUE, _PIPES)) or name == TENSOR:
        cause = Cause.tensor_bound if name == TENSOR else Cause.issue_bound
        trace = result.trials.about["trace"]
        evidence = f"{name}: busy for {percent(most)} of the time, counted from the trace's instructions"
        where = kernel_location(result), trace["kernel"], ""
        advice = _FEWER.get(name.removesuffix(_PIPES), ADVICE[cause])
        yield Finding(cause, *where, most, most, evidence, advice, removed_work={name: most})


def _waiting(accesses: list[SourceAccess], name: str, most: float) -> Iterator[Finding]:
    for access in accesses:
        if access.waited:
            evidence = (
                f"no part of the GPU is busy for more than {percent(most)} of the time ({name}); "
                f"{percent(access.waited)} of the waiting is here"
            )
            yield access.finding(Cause.latency, access.waited * (1 - most), evidence)


def _shared(accesses: list[SourceAccess], most: float) -> Iterator[Finding]:
    """Of accesses that keep the load-store units busy without bank conflicts and idle lanes too: these come first."""
    if most - sum(_avoidable(access) for access in accesses) < LIMITING_SHARE:
        return
    for access in accesses:
        if access.on_chip and access.busy[LOAD_STORE] > 0:
            of = access.profile
            evidence = (
                f"the load-store units are busy for {percent(most)} of the time, "
                f"{percent(access.busy[LOAD_STORE])} of it here: {of.instructions:,} instructions of "
                f"{access.width} bytes per lane, {of.passes / of.instructions:.1f} passes each"
            )
            saved = 1 - 1 / MERGED_ACCESSES
            yield access.finding(
                Cause.shared_bound, access.busy[LOAD_STORE] * saved, evidence, issue=saved, load_store=saved
            )


def _traffic(result: RunResult, accesses: list[SourceAccess], name: str, most: float) -> Iterator[Finding]:
    """Of a kernel far from its best possible time: the time in which data move again, or wait for the component."""
    time = time_breakdown(result)
    if time is None or time.of_best > FAR:
        return
    cause = Cause.dram_bound if name == DRAM else Cause.l2_bound
    parts = {one.cause: one.milliseconds / time.milliseconds for one in time.parts if one.cause in _AVOIDABLE}
    avoidable = sum(parts.values())
    again = max(TimeCause.cold, TimeCause.repeated, key=lambda one: parts[one])
    listed = ", ".join(f"{one} {percent(share)}" for one, share in parts.items() if share >= LEAST_SHARE)
    evidence = f"{name} is busy for {percent(most)} of the time; the time beyond needed work: {listed}"
    advice = ADVICE[cause] if 2 * parts[TimeCause.queueing] > avoidable else _ONCE.get((name, again), ADVICE[cause])
    removed = max(0.0, most - (1 - avoidable)) / most
    for access in accesses:
        work = access.busy[name]
        found = access.finding(cause, avoidable * work / most, evidence)
        yield replace(found, advice=advice, removed_work={name: work * removed})


def _avoidable(access: SourceAccess) -> float:
    """Share of the time that the load-store units work for conflicts and idle lanes of a shared-memory access."""
    of = access.profile
    needed = of.lanes * access.width / (BANKS * WORD_BYTES)
    return access.busy[LOAD_STORE] * max(0.0, 1 - needed / of.passes) if of.passes else 0.0
