"""Where local memory lies, whose addresses in a program are offsets, the same for every thread.

The lanes' words of one offset lie side by side (CUDA C Programming Guide, "Device Memory Accesses": local memory), so
a warp's region begins with the first word of all its lanes. The regions lie beyond every address that a trace may hold.
A trace has a region for each warp of the grid. A GPU has one for each warp that it can hold at a time: the next block
in a slot uses the same memory (GPGPU-Sim, shader.cc, ``translate_local_memaddr``; CUDA Driver API, cuCtxCreate:
``CU_CTX_LMEM_RESIZE_TO_MAX`` has the driver keep what it allocated for the largest kernel).
"""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import loop

START = 1 << 58
WINDOW = 1 << 24  # bytes of a thread's offsets
_LANES, _WORD = 32, 4
_REGIONS = 1 << 20  # more warps than any GPU holds at once; blocks far apart share, as they do in hardware
_REGION = WINDOW * _LANES + (1 << 13)  # skewed by 64 words of each lane, for stacks' tops to fall on all sets


@loop
def local_address(warp, lane, offset, width):
    """Address of a lane's `width` bytes at `offset`; those of an access wider than a word stay together.

    Args:
        warp: number in the grid.
    """
    region = START + (warp & (_REGIONS - 1)) * _REGION
    return region + (offset >> 2) * (_WORD * _LANES) + lane * max(width, _WORD) + (offset & 3)


def of_slots(base: np.ndarray, warp: np.ndarray, resident: int, thread_bytes: int) -> np.ndarray:
    """Addresses of local memory on a GPU that holds `resident` warps at a time: warps so far apart share a region.

    Blocks start in order, so this is the region of the slot for the first blocks of every slot, and near it for others.
    The regions lie side by side.

    Args:
        base: u8, addresses as :func:`local_address` makes them; others are returned as they are.
        warp: number in the trace, of each.
        thread_bytes: local memory of a thread; 0: not known, and regions stay as far apart as they are.

    >>> base = np.array([local_address(warp, 3, 8, 4) for warp in (0, 5, 6)], np.uint64)
    >>> ((of_slots(base, np.array([0, 5, 6]), 6, 16) - START - 2 * 128 - 3 * 4) // (16 * 32)).tolist()
    [0, 5, 0]
    """
    size = min(-(-thread_bytes // 16) * 16 * _LANES, _REGION) or _REGION
    within = (base - np.uint64(START)) % np.uint64(_REGION)
    return np.where(
        base >= START, np.uint64(START) + (warp % resident).astype(np.uint64) * np.uint64(size) + within, base
    )
