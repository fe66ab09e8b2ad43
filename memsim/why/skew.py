"""Partition camping: what runs together asks one channel of memory, or one slice of L2."""

from __future__ import annotations

from collections.abc import Iterator

from memsim.gpu.config import GPU
from memsim.why.finding import Cause, Finding
from memsim.why.site import Site

_LEAST = 1.75  # times its share: chance alone gives the busiest of 64 places 1.3 times, with 64 requests each


def skewed(site: Site, gpu: GPU) -> Iterator[Finding]:
    """In excess: of the waiting in queues, the part that would go if all places were asked alike."""
    of = site.profile
    for cause, what, busiest, sectors, places in (
        (Cause.channels, "memory channels", of.busiest_channel, of.channel_sectors, gpu.dram.channels),
        (Cause.slices, "slices of L2", of.busiest_slice, of.slice_sectors, gpu.l2.slices),
    ):
        times = busiest / sectors * places if sectors else 0.0
        if times < _LEAST or (cause is Cause.slices and not gpu.l2.enabled):
            continue
        evidence = (
            f"of the sectors requested at the same time, {busiest / sectors:.0%} go to one of {places} {what}: "
            f"{times:.1f} times its share; {site.queued:.0%} of the waiting is in queues"
        )
        reaching = min(1.0, sectors / of.sectors)
        yield site.finding(cause, site.time_share * reaching * site.queued * (1 - 1 / times), evidence)
        return  # a slice and its channel hold the same addresses: one finding
