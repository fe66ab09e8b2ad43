"""Partition camping: concurrent requests go to one memory channel, or to one slice of L2."""

from __future__ import annotations

from collections.abc import Iterator

from memsim.analysis.percent import percent
from memsim.gpu.config import GPU
from memsim.why.finding import Cause, Finding
from memsim.why.source_access import SourceAccess

_LEAST = 1.75  # times its share: chance alone gives the busiest of 64 channels 1.3 times, with 64 requests each


def find_crowded_units(access: SourceAccess, gpu: GPU) -> Iterator[Finding]:
    """Attributable share: of the waiting in queues, what equal shares of all channels or slices would remove."""
    of = access.profile
    for cause, units, busiest, sectors, count in (
        (Cause.channels, "memory channels", of.busiest_channel, of.channel_sectors, gpu.dram.channels),
        (Cause.slices, "slices of L2", of.busiest_slice, of.slice_sectors, gpu.l2.slices),
    ):
        times = busiest / sectors * count if sectors else 0.0
        if times < _LEAST or (cause is Cause.slices and not gpu.l2.enabled):
            continue
        evidence = (
            f"of the sectors requested at the same time, {percent(busiest / sectors)} go to one of {count} {units}: "
            f"{times:.1f} times its share; {percent(access.queued)} of the waiting is in queues"
        )
        reaching = min(1.0, sectors / of.sectors)
        yield access.finding(cause, access.time_share * reaching * access.queued * (1 - 1 / times), evidence)
        return  # a slice and its channel hold the same addresses: one finding
