"""Atomics of many lanes on few addresses: L2 does those on one address one after the other."""

from __future__ import annotations

from collections.abc import Iterator

from memsim.gpu.config import GPU
from memsim.why.finding import Cause, Finding
from memsim.why.site import Site

_LEAST = 1.5  # lanes an address: chance alone lets some of 32 meet
_AGAIN = 2.0  # times that a block adds to each sector


def contended(site: Site, gpu: GPU) -> Iterator[Finding]:
    """In excess: the part of its weight of the lanes beyond one an address, or of what a block adds again."""
    of = site.profile
    again = of.sectors / of.block_sectors if of.block_sectors else 1.0
    if not site.atomics or not of.addresses or (of.lanes < _LEAST * of.addresses and again < _AGAIN):
        return
    lanes, addresses = of.lanes / of.instructions, of.addresses / of.instructions
    evidence = (
        f"{lanes:.1f} lanes of a warp instruction add to {addresses:.1f} addresses, up to "
        f"{of.most_on_one / of.instructions:.1f} of them to one"
    )
    part = max(1 - of.addresses / of.lanes, 1 - 1 / again)
    if site.on_chip:
        yield site.finding(Cause.contended, site.weight * part, f"{evidence}, in shared memory", load_store=part)
        return
    evidence += (
        f"; a block adds to each sector {again:,.0f} times; {of.transactions / of.instructions:.1f} requests, of "
        f"which a slice of L2 does one in "
        f"{gpu.l2.sector_cycles} cycle{'s' * (gpu.l2.sector_cycles != 1)} of L2 and all {gpu.l2.slices} no more "
        f"than {gpu.l2.slices / gpu.l2.sector_cycles * gpu.l2_clocks:.0f} a cycle"
    )
    # A block may keep all but a few of its atomics to itself.
    yield site.finding(Cause.contended, site.weight * part, evidence, load_store=part, l2=1.0, dram=1.0)
