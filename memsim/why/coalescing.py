"""More sectors than the lanes need: they are scattered, or their warp begins in the middle of a sector."""

from __future__ import annotations

from collections.abc import Iterator

from memsim.why.finding import Cause, Finding
from memsim.why.site import LANES, Site, diverges

_MISALIGNED = 1.5  # scattered lanes ask for more than this times the least sectors


def scattered(site: Site) -> Iterator[Finding]:
    """Attributable share: the part of its share of the time that its excess sectors have."""
    of = site.profile
    if site.atomics or not of.transactions or of.sectors <= site.dense_sectors:
        return
    excess = of.sectors / site.dense_sectors
    cause = Cause.scattered if excess > _MISALIGNED else Cause.misaligned
    lanes = f"{LANES} lanes (idle ones included)" if diverges(of) else f"{of.lanes / of.instructions:.0f} lanes"
    evidence = (
        f"{of.sectors / of.instructions:.1f} sectors per warp instruction; {site.dense_sectors / of.instructions:.1f} "
        f"would suffice for {lanes} of {site.width} bytes each, side by side"
    )
    part = 1 - 1 / excess
    looked_up = 1 - of.instructions / max(of.wavefronts, of.transactions)
    in_l2 = 1 - (1 - part) * (1 - site.partial)  # dense lanes store whole sectors
    yield site.finding(cause, site.time_share * part, evidence, load_store=max(part, looked_up), l2=in_l2, dram=part)
