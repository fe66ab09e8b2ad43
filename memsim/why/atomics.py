"""Atomics of many lanes on few addresses: L2 and shared memory serialize those on one address."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memsim.analysis.result import RunResult
from memsim.gpu.config import GPU
from memsim.why.finding import Cause, Finding
from memsim.why.source_access import SourceAccess

_LEAST = 1.5  # lanes an address: chance alone lets some of 32 meet
_AGAIN = 2.0  # times that a block adds to each sector
_SHARED_ADVICE = (
    "keep several copies of the sums in shared memory, one per warp or per few lanes, and add them up at the end; or "
    "add up in the warp first (__match_any_sync, __reduce_add_sync, shuffles); padding does not help"
)


def find_contended_atomics(access: SourceAccess, result: RunResult, gpu: GPU) -> Iterator[Finding]:
    """Attributable share: of its share of the time, the part of the lanes beyond one per address, or of what a block
    adds again; in shared memory, the share of the time that its serialized passes take, if that is more."""
    of = access.profile
    again = of.sectors / of.block_sectors if of.block_sectors else 1.0
    if not access.atomics or not of.addresses or (of.lanes < _LEAST * of.addresses and again < _AGAIN):
        return
    lanes, addresses = of.lanes / of.instructions, of.addresses / of.instructions
    evidence = (
        f"{lanes:.1f} lanes of a warp instruction update {addresses:.1f} distinct addresses, up to "
        f"{of.most_on_one / of.instructions:.1f} lanes the same one"
    )
    part = max(1 - of.addresses / of.lanes, 1 - 1 / again)
    if access.on_chip:
        yield _in_shared_memory(access, result, gpu, evidence, part)
        return
    evidence += (
        f"; a block updates each sector {again:,.0f} times; {of.transactions / of.instructions:.1f} requests per "
        f"instruction; a slice of L2 serves one per {gpu.l2.sector_cycles} L2 "
        f"cycle{'s' * (gpu.l2.sector_cycles != 1)}, all {gpu.l2.slices} slices at most "
        f"{gpu.l2.slices / gpu.l2.sector_cycles * gpu.l2_clocks:.0f} per cycle"
    )
    # A block may keep all but a few of its atomics to itself.
    yield access.finding(Cause.contended, access.time_share * part, evidence, load_store=part, l2=1.0, dram=1.0)


def _in_shared_memory(access: SourceAccess, result: RunResult, gpu: GPU, evidence: str, part: float) -> Finding:
    """Lanes on one address take a pass each, whatever the layout."""
    of = access.profile
    serialized = max(0, min(of.passes, of.most_on_one) - of.least_passes)
    lost = serialized * gpu.sm.pass_cycles / (result.cycles.mean * gpu.sm.count)
    evidence += f", in shared memory: {of.passes / of.instructions:.1f} passes per instruction"
    saved = serialized / of.passes if of.passes else part
    share = max(access.time_share * part, lost)
    return replace(access.finding(Cause.contended, share, evidence, load_store=saved), advice=_SHARED_ADVICE)
