"""Which part of the GPU bounds the kernel: the one that is busy most of the time, or, where none is, waiting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memsim.analysis.result import RunResult
from memsim.analysis.utilization import ISSUE, LOAD_STORE, TENSOR, utilization
from memsim.why.finding import ADVICE, JOINED_ACCESSES, Cause, Finding
from memsim.why.site import LANES, Site, kernel_file

WORD_BYTES = 4  # of a bank
BOUND = 0.6  # a part that is busy for more of the time bounds the kernel
_PIPES = " pipes"
_FEWER = {  # by the pipes that are busiest: what takes less of them
    "ALU": "compute indices outside of loops, in 32 bits, with powers of two for divisors; unroll",
    "FMA": "compute less: products and sums in one instruction (fma), factors outside of loops; or in half precision, "
    "two at a time (half2), or on tensor cores",
    "FMAHeavy": "multiply indices outside of loops, in 32 bits; divide by powers of two",
    "FP16": "compute two at a time (half2), or on tensor cores",
    "FP64": "compute in single precision where that is enough; a GPU of this kind has few units for double",
    "XU": "call fewer roots, exponentials and sines: tables, polynomials, or values kept from before; convert once, "
    "when data come in or go out, not in loops",
    "branch": "reduce branches: unroll, or select values instead of branching",
    "shuffle": "shuffle less: let each lane add up more by itself first",
}


def busy(result: RunResult) -> dict[str, float]:
    """By part of the GPU, the share of the time in which it is busy; those that are not known are left out."""
    return {part.name: part.busy for part in utilization(result) if part.busy == part.busy}


def busiest(parts: Mapping[str, float]) -> tuple[str, float]:
    """The busiest part."""
    name = max(parts, key=lambda part: parts[part])
    return name, parts[name]


def bound_by(result: RunResult, sites: list[Site]) -> Iterator[Finding]:
    """What the busiest part is busy with, or what warps wait for.

    In excess: of a part, its share of the time; of waiting, a place's share, for as long as no part is busy.
    """
    parts = busy(result)
    name, most = busiest(parts)
    if most < BOUND:
        yield from _waiting(sites, name, most)
    elif name == LOAD_STORE:
        yield from _shared(sites, most)
    elif name.endswith((ISSUE, _PIPES)) or name == TENSOR:
        cause = Cause.tensor_bound if name == TENSOR else Cause.issue_bound
        trace = result.trials.about["trace"]
        evidence = f"{name}: busy for {most:.0%} of the time, counted from the trace's instructions"
        where = kernel_file(result), trace["kernel"], ""
        advice = _FEWER.get(name.removesuffix(_PIPES), ADVICE[cause])
        yield Finding(cause, *where, most, most, evidence, advice, saves={name: most})


def _waiting(sites: list[Site], name: str, most: float) -> Iterator[Finding]:
    for site in sites:
        if site.waited:
            evidence = (
                f"no part of the GPU is busy for more than {most:.0%} of the time ({name}); {site.waited:.0%} of the "
                f"waiting is here"
            )
            yield site.finding(Cause.latency, site.waited * (1 - most), evidence)


def _shared(sites: list[Site], most: float) -> Iterator[Finding]:
    """Of accesses that keep the load-store units busy without bank conflicts and idle lanes too: these come first."""
    if most - sum(_avoidable(site) for site in sites) < BOUND:
        return
    for site in sites:
        if site.on_chip and site.busy[LOAD_STORE] > 0:
            of = site.profile
            evidence = (
                f"the load-store units are busy for {most:.0%} of the time, {site.busy[LOAD_STORE]:.0%} of it here: "
                f"{of.instructions:,} instructions of {site.width} bytes per lane, "
                f"{of.passes / of.instructions:.1f} passes each"
            )
            saved = 1 - 1 / JOINED_ACCESSES
            yield site.finding(
                Cause.shared_bound, site.busy[LOAD_STORE] * saved, evidence, issue=saved, load_store=saved
            )


def _avoidable(site: Site) -> float:
    """Share of the time that the load-store units work for conflicts and idle lanes of a place in shared memory."""
    of = site.profile
    needed = of.lanes * site.width / (LANES * WORD_BYTES)
    return site.busy[LOAD_STORE] * max(0.0, 1 - needed / of.passes) if of.passes else 0.0
