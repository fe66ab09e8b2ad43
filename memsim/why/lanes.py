"""What a warp instruction costs the SM itself: passes for bank conflicts, instructions for divergent lanes."""

from __future__ import annotations

from collections.abc import Iterator

from memsim.analysis.result import Result
from memsim.gpu.config import GPU
from memsim.why.finding import Cause, Finding
from memsim.why.site import LANES, Site, diverges


def conflicts(site: Site, result: Result, gpu: GPU) -> Iterator[Finding]:
    """In excess: the cycles that the load-store units, or the constants' own, spend on passes beyond the least."""
    of = site.profile
    if of.passes <= of.least_passes:
        return
    surplus = of.passes - of.least_passes
    cycles = gpu.sm.constant_cycles if site.own_unit else gpu.sm.pass_cycles
    assert cycles is not None  # a unit of its own has them
    lost = surplus * cycles / (result.cycles.mean * gpu.sm.count)
    passes = "addresses of constants" if site.own_unit else "passes"
    told, least = of.passes / of.instructions, of.least_passes / of.instructions
    evidence = f"{told:.1f} {passes} a warp instruction, {least:.1f} would do"
    part = "constants" if site.own_unit else "load_store"
    yield site.finding(Cause.conflicts, lost, evidence, **{part: surplus / of.passes})


def divergent(site: Site) -> Iterator[Finding]:
    """In excess: the idle lanes' part of its weight, or of its share of memory instructions if that is less."""
    of = site.profile
    if not of.instructions or not diverges(of):
        return
    active = of.lanes / of.instructions
    evidence = f"{active:.1f} of {LANES} lanes take part in a warp instruction"
    idle, weight = 1 - active / LANES, max(site.weight, site.waited)
    saved = dict.fromkeys(("issue", "load_store", "l2", "dram"), idle)  # the other side of the branch asks for the same
    yield site.finding(Cause.divergence, min(site.issued, weight) * idle, evidence, **saved)
