"""Data that is fetched again: the replay says how often, stack distances say whether the cache is too small for it."""

from __future__ import annotations

from collections.abc import Iterator

from memsim.gpu.config import GPU
from memsim.why.finding import Cause, Finding
from memsim.why.site import Site

_FEW = 0.05  # of reuses: a cache that has room for the others loses them by its sets


def evicted(site: Site, gpu: GPU) -> Iterator[Finding]:
    """In excess: the part of its share of the time that fetches beyond the first have."""
    of = site.profile
    if of.l1_uses and of.block_sectors and site.l1_fetched > of.block_sectors:
        yield _from_l1(site, gpu, site.l1_fetched / of.block_sectors)
    if gpu.l2.enabled and not site.stores and site.dram_times > 1:
        times = site.dram_times
        distance = _after(of.l2_distances, of.l2_far, gpu.l2.size_bytes, gpu.l2.line_bytes, "L2")
        evidence = f"main memory reads each sector of {site.array} {times:.1f} times on average{distance}"
        part = 1 - 1 / times
        yield site.finding(Cause.evicted_l2, site.time_share * part, evidence, dram=max(part, site.dram_excess))


def _from_l1(site: Site, gpu: GPU, times: float) -> Finding:
    """Too much between two uses, or too much of it in one set."""
    of, l1 = site.profile, gpu.l1
    evidence = f"L1 fetches each sector {times:.1f} times per block"
    part, reuses = 1 - 1 / times, sum(of.l1_distances)
    cost, saved = site.time_share * part, {"l2": part, "dram": site.dram_excess}
    crowded = of.l1_late - of.l1_far
    if reuses and crowded > of.l1_far:
        skew = of.l1_busiest_set / of.l1_set_sectors * l1.sets
        evidence += (
            f"; {crowded / reuses:.0%} of reuses miss because their set is full, not because L1 is; the busiest set "
            f"gets {skew:.1f} times its share"
        )
        return site.finding(Cause.crowded_l1, cost, evidence, **saved)
    distance = _after(of.l1_distances, of.l1_far, l1.size_bytes - l1.reserved_bytes, l1.line_bytes, "L1")
    return site.finding(Cause.evicted_l1, cost, evidence + distance, **saved)


def _after(histogram: list[int], far: int, size: int, line_bytes: int, level: str) -> str:
    """How far apart uses are, in words; nothing when no reuse was followed."""
    reuses = sum(histogram)
    if not reuses:
        return ""
    half = _span(median_lines(histogram) * line_bytes)
    if far < _FEW * reuses:
        return f"; without crowded sets {level} would hold all but {far / reuses:.0%} of reuses"
    return (
        f"; {far / reuses:.0%} of reuses have a stack distance above the {size // 1024} KB of {level} (median {half})"
    )


def _span(least: int) -> str:
    """An octave of bytes."""
    return f"{least // 1024} to {least // 512} KB" if least >= 1024 else "less than 1 KB"


def median_lines(histogram: list[int]) -> int:
    """The distance that half of the reuses have or exceed, rounded down to a power of two.

    >>> median_lines([3, 1, 0, 5, 1])
    4
    """
    below = 0
    for octave, count in enumerate(histogram):
        below += count
        if 2 * below >= sum(histogram):
            return 1 << octave >> 1
    return 0


def left_to_caches(site: Site) -> Iterator[Finding]:
    """In excess: what is asked for again and not found in L1."""
    of = site.profile
    if site.atomics:
        return
    asked = min(of.sectors, site.dense_sectors)  # what scattered lanes ask for again is their own finding
    if not of.block_sectors or asked <= of.block_sectors:
        return
    times = asked / of.block_sectors
    found = f"L1 serves {site.l1_hit:.0%} of them" if of.l1_uses else "L1 does not cache it"
    evidence = f"a block requests each sector {times:.1f} times; {found}"
    if site.stores:
        evidence = f"a block stores each sector {times:.1f} times"
    part = 1 - 1 / times
    excess = site.time_share * part * (1 - site.l1_hit)
    yield site.finding(Cause.reuse, excess, evidence, load_store=part, l2=1.0, dram=site.dram_excess)
