"""Data that is fetched again: the replay says how often, stack distances say whether the cache is too small for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memsim.analysis.percent import percent
from memsim.gpu.config import GPU
from memsim.why.finding import Cause, Finding
from memsim.why.source_access import SourceAccess

_ONE_STORE = "store once what a block stores repeatedly: let one thread per block store it"
_FEW = 0.05  # of reuses: a cache that has room for the others loses them by its sets


def find_evictions(access: SourceAccess, gpu: GPU) -> Iterator[Finding]:
    """Attributable share: the part of its share of the time that fetches beyond the first have."""
    of = access.profile
    if of.l1_uses and of.block_sectors and access.l1_fetched > of.block_sectors:
        yield _from_l1(access, gpu, access.l1_fetched / of.block_sectors)
    if gpu.l2.enabled and not access.stores and access.dram_times > 1:
        times = access.dram_times
        distance = _after(of.l2_distances, of.l2_far, gpu.l2.size_bytes, gpu.l2.line_bytes, "L2")
        evidence = f"main memory reads each sector of {access.array} {times:.1f} times on average{distance}"
        part = 1 - 1 / times
        yield access.finding(
            Cause.evicted_l2, access.time_share * part, evidence, dram=max(part, access.dram_redundant)
        )


def _from_l1(access: SourceAccess, gpu: GPU, times: float) -> Finding:
    """Too much between two uses, or too much of it in one set."""
    of, l1 = access.profile, gpu.l1
    evidence = f"L1 fetches each sector {times:.1f} times per block"
    part, reuses = 1 - 1 / times, sum(of.l1_distances)
    share, saved = access.time_share * part, {"l2": part, "dram": access.dram_redundant}
    crowded = of.l1_late - of.l1_far
    if reuses and crowded > of.l1_far:
        skew = of.l1_busiest_set / of.l1_set_sectors * l1.sets
        evidence += (
            f"; {percent(crowded / reuses)} of reuses miss because their set is full, not because L1 is; the busiest "
            f"set gets {skew:.1f} times its share"
        )
        return access.finding(Cause.crowded_l1, share, evidence, **saved)
    distance = _after(of.l1_distances, of.l1_far, l1.size_bytes - l1.reserved_bytes, l1.line_bytes, "L1")
    return access.finding(Cause.evicted_l1, share, evidence + distance, **saved)


def _after(histogram: list[int], far: int, size: int, line_bytes: int, level: str) -> str:
    """How far apart uses are, in words; nothing when no reuse was followed."""
    reuses = sum(histogram)
    if not reuses:
        return ""
    half = _span(median_lines(histogram) * line_bytes)
    if far < _FEW * reuses:
        return f"; without crowded sets {level} would hold all but {percent(far / reuses)} of reuses"
    beyond = f"a stack distance above the {size // 1024} KB of {level}"
    return f"; {percent(far / reuses)} of reuses have {beyond} (median {half})"


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


def find_repeated_requests(access: SourceAccess) -> Iterator[Finding]:
    """Attributable share: what is asked for again and not found in L1."""
    of = access.profile
    if access.atomics:
        return
    requested = min(of.sectors, access.dense_sectors)  # what scattered lanes ask for again is their own finding
    if not of.block_sectors or requested <= of.block_sectors:
        return
    times = requested / of.block_sectors
    found = f"L1 serves {percent(access.l1_hit)} of them" if of.l1_uses else "L1 does not cache it"
    evidence = f"a block requests each sector {times:.1f} times; {found}"
    if access.stores:
        evidence = f"a block stores each sector {times:.1f} times"
    part = 1 - 1 / times
    share = access.time_share * part * (1 - access.l1_hit)
    finding = access.finding(Cause.reuse, share, evidence, load_store=part, l2=1.0, dram=access.dram_redundant)
    yield replace(finding, advice=_ONE_STORE) if access.stores else finding


def find_exchanges(access: SourceAccess, gpu: GPU) -> Iterator[Finding]:
    """Attributable share: the sectors that a block reads back; the stores of copies among all memory instructions."""
    of = access.profile
    if of.read_back:
        share = min(1.0, of.read_back / of.sectors)
        evidence = f"{percent(share)} of the loaded data was stored by the same block"
        yield access.finding(Cause.exchange, access.time_share * share, evidence, load_store=share, l2=1.0, dram=1.0)
    if of.copied and gpu.architecture.has_async_copies:
        evidence = f"{percent(of.copied / of.instructions)} of the stores write data that was loaded just before"
        share = of.copied / of.instructions
        yield access.finding(Cause.copies, access.issued * share, evidence, issue=share, load_store=share)
