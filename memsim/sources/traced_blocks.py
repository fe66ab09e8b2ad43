"""Which blocks to trace, after Baghsorkhi et al., PPoPP 2012, section 3.1.

A block sample is a run of blocks with consecutive numbers: wide enough for every SM to hold all the blocks it can
(interaction between threads), and long enough, several such waves back to back, that the traced accesses turn over the
last-level cache (temporal locality).
"""

from __future__ import annotations

import math
import re

from memsim.gpu.config import GPU
from memsim.gpu.occupancy import resident_blocks
from memsim.support.errors import InputError
from memsim.trace.schema import LaunchShape

LEAST_WAVES = 2  # the second shows the rate: it finds caches that the first one filled
TURNOVERS = 4  # times the block sample's accesses would fill the L2, so that cold misses are few among its replacements


def wave_blocks(launch: LaunchShape, gpu: GPU) -> int:
    """Blocks resident on the whole GPU at a time."""
    resident = resident_blocks(gpu, launch.threads_per_block, launch.registers, launch.shared_bytes)
    return gpu.sm.count * resident


def default_blocks(launch: LaunchShape, gpu: GPU, residencies: float | None, bytes_per_block: float) -> range:
    """The blocks of a sample, from the grid's first.

    Args:
        launch: the whole launch.
        gpu: its occupancy limits and L2 size count.
        residencies: size of the sample in multiples of the resident threads, if the workload states it.
        bytes_per_block: what one block accesses in memory, every access of a warp counted once a byte: operations a
            warp, times bytes.
    """
    wave = wave_blocks(launch, gpu)
    if residencies is not None:
        return _first(launch, multiple(launch, gpu, residencies))
    waves = math.ceil(TURNOVERS * gpu.l2.size_bytes / max(wave * bytes_per_block, 1))
    return _first(launch, wave * max(LEAST_WAVES, waves))


def multiple(launch: LaunchShape, gpu: GPU, residencies: float) -> int:
    """Blocks with so many times the threads that fit on the GPU, at least one, at most all (infinity)."""
    return max(1, math.ceil(min(wave_blocks(launch, gpu) * residencies, launch.n_blocks)))


def given_blocks(text: str, launch: LaunchShape, gpu: GPU) -> range:
    """The blocks a user asks for: ``FIRST:LAST`` (without LAST), ``all``, or ``4x``: four times the resident threads.

    Raises:
        InputError: anything else, or blocks outside the grid.

    >>> from memsim.gpu.presets import load_gpu
    >>> given_blocks("8:16", LaunchShape((100, 1, 1), (256, 1, 1)), load_gpu("tesla-c2050"))
    range(8, 16)
    """
    if text == "all":
        return range(launch.n_blocks)
    if (found := re.fullmatch(r"(\d+(?:\.\d+)?)x", text)) and float(found[1]):
        return _first(launch, multiple(launch, gpu, float(found[1])))
    if not (found := re.fullmatch(r"(\d*):(\d*)", text)):
        raise InputError("--blocks", text, "is not understood; give FIRST:LAST, a multiple such as 4x, or all")
    first, last = int(found[1] or 0), int(found[2] or launch.n_blocks)
    if not 0 <= first < last <= launch.n_blocks:
        raise InputError("--blocks", text, f"names no blocks; the grid has blocks 0 to {launch.n_blocks - 1}")
    return range(first, last)


def _first(launch: LaunchShape, blocks: int) -> range:
    return range(min(blocks, launch.n_blocks))
