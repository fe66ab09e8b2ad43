"""What a block hands to itself by a longer way than it must."""

from __future__ import annotations

from collections.abc import Iterator

from memsim.gpu.config import GPU
from memsim.why.finding import Cause, Finding
from memsim.why.site import Site


def exchanged(site: Site, gpu: GPU) -> Iterator[Finding]:
    """In excess: the sectors that a block reads back, and the stores of copies among the memory instructions."""
    of = site.profile
    if of.read_back:
        share = min(1.0, of.read_back / of.sectors)
        evidence = f"{share:.0%} of the loaded data was stored by the same block"
        yield site.finding(Cause.exchange, site.time_share * share, evidence, load_store=share, l2=1.0, dram=1.0)
    if of.copied and gpu.architecture.has_async_copies:
        evidence = f"{of.copied / of.instructions:.0%} of the stores write data that was loaded just before"
        share = of.copied / of.instructions
        yield site.finding(Cause.copies, site.issued * share, evidence, issue=share, load_store=share)
