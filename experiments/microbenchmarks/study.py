"""What is configured and what the walks find, parameter by parameter."""

from __future__ import annotations

import math
from collections.abc import Iterator

from memsim.calibration import discover
from memsim.calibration.discover import DiscoveredCache
from memsim.calibration.simulated import SimulatedDevice
from memsim.gpu.choices import Inclusion
from memsim.gpu.config import GPU
from memsim.gpu.cores import L1
from memsim.gpu.memory import L2
from memsim.gpu.presets import override

Row = tuple[str, object, object]  # parameter, configured, found


def table(gpu: GPU, seed: int = 0, l2: DiscoveredCache | None = None) -> list[Row]:
    """All rows. Configured values stand next to those found; no walk uses them. Nothing is translated.

    Args:
        gpu: the GPU that is walked.
        seed: of its random choices.
        l2: what walks without L1 found; None: they are made here.

    Raises:
        RuntimeError: as :func:`discover.included_cache`.
    """
    device = SimulatedDevice(override(gpu, {"translation.enabled": False}), seed)
    l2 = l2 or discover.nearest_cache(device.without_l1())
    lost = discover.back_invalidated(device, l2.rivals, discover.hit_latency(device))
    l1 = discover.included_cache(device, l2) if lost else discover.nearest_cache(device)
    return [
        ("L1 hit latency, cycles", gpu.l1.hit_latency_cycles, l1.hit_cycles),
        *_cache("L1", gpu.l1, l1),
        *_cache("L2", gpu.l2, l2),
        *_latencies(gpu, device, l1, l2),
        ("lines that L1 loses with L2", "all or none", f"{lost} of {discover.ROUNDS}"),
        ("L2 inclusive", gpu.l2.inclusion is Inclusion.inclusive, lost > 0),
    ]


def differing(rows: list[Row]) -> dict[str, object]:
    """Found values that are not the configured ones; descriptions (text) are compared with nothing."""
    return {name: found for name, configured, found in rows if not isinstance(configured, str) and configured != found}


def _cache(name: str, given: L1 | L2, found: DiscoveredCache) -> Iterator[Row]:
    fetched = given.sector_bytes if isinstance(given, L1) else given.fetch_bytes
    yield f"{name} sector, bytes", fetched, found.fetch_bytes
    yield f"{name} line, bytes", given.line_bytes, found.line_bytes
    reserved = given.reserved_bytes if isinstance(given, L1) else 0
    fewest = given.ways - math.ceil(reserved * given.ways / given.size_bytes)  # of a set
    yield f"{name} ways", fewest, found.ways
    yield f"{name} size, bytes", given.size_bytes - reserved, found.size_bytes


def _latencies(gpu: GPU, device: SimulatedDevice, l1: DiscoveredCache, l2: DiscoveredCache) -> Iterator[Row]:
    """Of L2, and of a block whose list another SM has read before."""
    list_bytes = min(16 * l1.size_bytes, l2.size_bytes)
    behind = discover.latency_behind(device, list_bytes, l1.line_bytes, l1.hit_cycles)
    yield "L2 hit latency, cycles", gpu.l2.hit_latency_cycles, behind
    yield "the same with L1 off, cycles", "no more", l2.hit_cycles  # less to reply with than a sector of L1
    list_bytes = min(l1.size_bytes, l2.size_bytes // (device.sms + 1))
    again, own = discover.second_reader(device, list_bytes, l1.line_bytes, l1.hit_cycles)
    yield "second reader of a list, cycles", gpu.l2.hit_latency_cycles, round(again, 1)
    yield "reader of a list of its own, cycles", "memory", round(own, 1)
