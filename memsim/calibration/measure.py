"""What walks and streams find of a GPU, as values of the model with their sources; the rest stays another GPU's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from memsim.calibration import discover, dram_rows, set_index
from memsim.calibration.discover import DiscoveredCache
from memsim.calibration.known import Calibration, Point
from memsim.calibration.simulated import SimulatedDevice
from memsim.calibration.throughput import take_clock, take_rates
from memsim.calibration.walks import WalkedGPU, laps
from memsim.gpu import board
from memsim.gpu.carve_out import least_carve_out
from memsim.gpu.config import GPU
from memsim.gpu.occupancy import occupancy

ROWS = 61  # lines between two accesses of a walk through memory, so that neighbours lie in other rows
MOST_FITS = 3  # of the memory's clock and its latency, each with the other


def measure(device: WalkedGPU, known: Calibration, progress: Callable[[str], None]) -> None:
    """Let walks and streams find a GPU's caches, its memory and their rates, each if it can be.

    Args:
        device: the GPU, alone.
        known: what its driver reports; takes what is found.
        progress: called with what is looked for.
    """
    progress("L2")
    l2 = known.tried("L2", lambda: discover.nearest_cache(device.without_l1()))
    if l2 is None:
        return
    progress("L1")
    l1 = known.tried("L1", lambda: discover.included_cache(device, l2))
    if l1 is not None:
        _take_l1(known, l1, device.shared_bytes)
        _take_l2(known, l2, _behind(device, l1, l2))
        progress("set indexes")
        _take_index(known, "L1's index", lambda: set_index.l1_index(device, known.gpu, l1, l2))
        _take_index(known, "L2's index", lambda: set_index.l2_index(device.without_l1(), known.gpu, l2))
    progress("memory's rows")
    _take_rows(known, device.without_l1())
    progress("memory")
    _take_memory(known, device, l2)
    progress("rates")
    take_rates(known, device.without_l1())
    for _ in range(MOST_FITS):
        if not take_clock(known):
            break
        _take_memory(known, device, l2)
    progress("latency by length")
    known.curve = curve(device, known.gpu)


def _take_l1(known: Calibration, found: DiscoveredCache, shared_bytes: int) -> None:
    known.take({"l1.hit_latency_cycles": round(found.hit_cycles)}, "one element walked in circles")
    granules = {"l1.line_bytes": found.line_bytes, "l1.sector_bytes": found.fetch_bytes}
    known.take(granules, "what is fetched with an element, and what takes its neighbour's place")
    taken = _carved_by(known.gpu, shared_bytes)
    overhead = f" in addition to {taken} bytes of the walk's own shared memory" if taken else ""
    how = f"a list of {found.size_bytes} bytes fits{overhead}, and no longer one"
    if known.gpu.l1.carve_outs and found.size_bytes <= known.gpu.l1.size_bytes:
        known.take(board.usable_l1(known.gpu.l1, found.size_bytes, taken), how)
    else:
        values = {"l1.size_bytes": found.size_bytes + taken, "l1.ways": found.ways, "l1.reserved_bytes": 0}
        known.take(values, f"{how}; {found.ways + 1} lines that share a set do not")


def _carved_by(gpu: GPU, shared_bytes: int) -> int:
    """What the driver takes of a unified L1 for the walk, one block whose lists lie in shared memory."""
    return least_carve_out(gpu.l1, occupancy(gpu, 1, 0, shared_bytes).shared_per_block) if shared_bytes else 0


def _take_l2(known: Calibration, found: DiscoveredCache, behind: float) -> None:
    known.take({"l2.hit_latency_cycles": round(behind)}, "what L1 misses of a list that L2 holds, walked in circles")
    shape = {"l2.line_bytes": found.line_bytes, "l2.fetch_bytes": found.fetch_bytes, "l2.ways": found.ways}
    size = {} if "l2.size_bytes" in known.values else {"l2.size_bytes": found.size_bytes}
    how = f"a list of {found.size_bytes} bytes fits; {found.ways + 1} lines that share a set do not"
    known.take(shape | size, how)


def _take_index(known: Calibration, what: str, search: Callable[[], set_index.Choice]) -> None:
    found = known.tried(what, search)
    if found is not None:
        known.take(found, "lines that no other known index puts into one set do not fit")


def _behind(device: WalkedGPU, l1: DiscoveredCache, l2: DiscoveredCache) -> float:
    """Latency of L2 seen through L1."""
    list_bytes = min(16 * l1.size_bytes, l2.size_bytes)
    return discover.latency_behind(device, list_bytes, l1.line_bytes, l1.hit_cycles)


def _take_memory(known: Calibration, device: WalkedGPU, l2: DiscoveredCache) -> None:
    """DRAM's latency: what a miss takes longer on the GPU than on a simulated one with the values found so far."""
    list_ = _scattered(2 * known.gpu.l2.size_bytes, known.gpu.l2.line_bytes)
    both = device.without_l1(), SimulatedDevice(known.gpu).without_l1()
    measured, assumed = (_miss(one, list_, l2.hit_cycles) for one in both)
    latency = known.gpu.dram.latency_cycles + round(measured - assumed)
    how = f"so that a miss of a walk over {2 * known.gpu.l2.size_bytes} bytes takes {measured:.0f} cycles"
    known.take({"dram.latency_cycles": latency}, how, "fitted")


def _take_rows(known: Calibration, device: WalkedGPU) -> None:
    gpu = known.gpu
    found = known.tried("dram.row_bytes", lambda: dram_rows.rows(device, gpu.l2.fetch_bytes, gpu.dram.channels))
    if found:
        known.take(found, "what is shorter to read after address 0 than after another")


def _scattered(size: int, line: int) -> np.ndarray:
    """All lines of a list, ROWS apart, round after round."""
    lines = np.arange(size // line)
    return np.concatenate([lines[first::ROWS] for first in range(ROWS)]) * line


def _miss(device: WalkedGPU, addresses: np.ndarray, hit: float) -> float:
    """Mean latency of what no cache has, in the second lap."""
    lap = laps(device, addresses, 2)[-1]
    hits, total = lap.within(hit), int(lap.counts.sum())
    return (total * lap.mean - hits * hit) / max(1, total - hits)


def curve(device: WalkedGPU, gpu: GPU) -> list[Point]:
    """Latency against the length of a list, from a line to twice L2, four lengths an octave."""
    line, longest = gpu.l1.line_bytes, 2 * gpu.l2.size_bytes
    sizes = np.unique(np.geomspace(line, longest, 1 + 4 * int(np.log2(longest / line))).astype(int))
    return [(int(size), laps(device, _scattered(int(size), line), 2)[-1].mean) for size in sizes]
