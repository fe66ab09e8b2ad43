"""More sectors than the lanes need: they are scattered, or their warp begins in the middle of a sector."""

from __future__ import annotations

from collections.abc import Iterator

from memsim.why.finding import Cause, Finding
from memsim.why.site import Site

_MISALIGNED = 1.5  # scattered lanes ask for more than this times the least sectors


def scattered(site: Site) -> Iterator[Finding]:
    """In excess: the part of its weight that its excess sectors have."""
    of = site.profile
    if not of.transactions or of.sectors <= site.dense_sectors:
        return
    excess = of.sectors / site.dense_sectors
    cause = Cause.scattered if excess > _MISALIGNED else Cause.misaligned
    evidence = (
        f"{of.sectors / of.instructions:.1f} sectors a warp instruction, "
        f"{site.dense_sectors / of.instructions:.1f} would do"
    )
    yield site.finding(cause, site.weight * (1 - 1 / excess), evidence)
