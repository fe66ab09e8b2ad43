"""What a warp instruction costs the SM itself: passes for bank conflicts, instructions for divergent lanes."""

from __future__ import annotations

from collections.abc import Iterator

from memsim.analysis.result import RunResult
from memsim.gpu.config import GPU
from memsim.why.finding import Cause, Finding
from memsim.why.site import LANES, Site, diverges


def conflicts(site: Site, result: RunResult, gpu: GPU) -> Iterator[Finding]:
    """Attributable share: the cycles that the load-store units, or the constants' own, spend on surplus passes.

    Lanes of an atomic that update one address take a pass each, in one bank or in many: that is contention
    (memsim.why.atomics), which no padding changes.
    """
    of = site.profile
    needed = max(of.least_passes, of.most_on_one) if site.atomics else of.least_passes
    if of.passes <= needed:
        return
    surplus = of.passes - needed
    cycles = gpu.sm.constant_cycles if site.own_unit else gpu.sm.pass_cycles
    assert cycles is not None  # a unit of its own has them
    lost = surplus * cycles / (result.cycles.mean * gpu.sm.count)
    passes = "distinct constant addresses" if site.own_unit else "passes"
    taken, least = of.passes / of.instructions, needed / of.instructions
    evidence = f"{taken:.1f} {passes} per warp instruction; {least:.1f} would suffice"
    part = "constants" if site.own_unit else "load_store"
    yield site.finding(Cause.conflicts, lost, evidence, **{part: surplus / of.passes})


def divergent(site: Site) -> Iterator[Finding]:
    """Attributable share: the idle lanes' part of its share of the time or of memory instructions, if less."""
    of = site.profile
    if not of.instructions or not diverges(of):
        return
    active = of.lanes / of.instructions
    evidence = f"{active:.1f} of {LANES} lanes are active per warp instruction"
    idle, weight = 1 - active / LANES, max(site.time_share, site.waited)
    saved = dict.fromkeys(("issue", "load_store", "l2", "dram"), idle)  # the other side of the branch asks for the same
    yield site.finding(Cause.divergence, min(site.issued, weight) * idle, evidence, **saved)
