"""What one warp instruction does with its lanes: surplus sectors, passes for bank conflicts, idle lanes."""

from __future__ import annotations

from collections.abc import Iterator

from memsim.analysis.result import RunResult
from memsim.gpu.config import GPU
from memsim.why.finding import Cause, Finding
from memsim.why.source_access import SourceAccess, diverges

_MISALIGNED = 1.5  # scattered lanes ask for more than this times the least sectors


def find_scattered_lanes(access: SourceAccess) -> Iterator[Finding]:
    """Attributable share: the part of its share of the time that its surplus sectors have."""
    of = access.profile
    if access.atomics or not of.transactions or of.sectors <= access.dense_sectors:
        return
    ratio = of.sectors / access.dense_sectors
    cause = Cause.scattered if ratio > _MISALIGNED else Cause.misaligned
    all_lanes = f"{access.warp_size} lanes (idle ones included)"
    lanes = all_lanes if diverges(of, access.warp_size) else f"{of.lanes / of.instructions:.0f} lanes"
    evidence = (
        f"{of.sectors / of.instructions:.1f} sectors per warp instruction; "
        f"{access.dense_sectors / of.instructions:.1f} would suffice for {lanes} of {access.width} bytes each, "
        "side by side"
    )
    part = 1 - 1 / ratio
    share = access.time_share * part
    looked_up = 1 - of.instructions / max(of.wavefronts, of.transactions)
    in_l2 = 1 - (1 - part) * (1 - access.partial)  # dense lanes store whole sectors
    yield access.finding(cause, share, evidence, load_store=max(part, looked_up), l2=in_l2, dram=part)


def find_bank_conflicts(access: SourceAccess, result: RunResult, gpu: GPU) -> Iterator[Finding]:
    """Attributable share: the cycles that the load-store units, or the constants' own, spend on surplus passes.

    Lanes of an atomic that update one address take a pass each, in one bank or in many: that is contention
    (memsim.why.atomics), which no padding changes.
    """
    of = access.profile
    needed = max(of.least_passes, of.most_on_one) if access.atomics else of.least_passes
    if of.passes <= needed:
        return
    surplus = of.passes - needed
    cycles = gpu.sm.constant_cycles if access.own_unit else gpu.sm.pass_cycles
    assert cycles is not None  # a unit of its own has them
    lost = surplus * cycles / (result.cycles.mean * gpu.sm.count)
    passes = "distinct constant addresses" if access.own_unit else "passes"
    taken, least = of.passes / of.instructions, needed / of.instructions
    evidence = f"{taken:.1f} {passes} per warp instruction; {least:.1f} would suffice"
    part = "constants" if access.own_unit else "load_store"
    yield access.finding(Cause.conflicts, lost, evidence, **{part: surplus / of.passes})


def find_divergent_lanes(access: SourceAccess) -> Iterator[Finding]:
    """Attributable share: the idle lanes' part of its share of the time or of memory instructions, if less."""
    of = access.profile
    if not of.instructions or not diverges(of, access.warp_size):
        return
    active = of.lanes / of.instructions
    evidence = f"{active:.1f} of {access.warp_size} lanes are active per warp instruction"
    idle, time_share = 1 - active / access.warp_size, max(access.time_share, access.waited)
    saved = dict.fromkeys(("issue", "load_store", "l2", "dram"), idle)  # the other side of the branch asks for the same
    yield access.finding(Cause.divergence, min(access.issued, time_share) * idle, evidence, **saved)
