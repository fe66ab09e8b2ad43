"""Where importers lay out local memory, whose addresses in a trace are offsets, the same for every thread.

The lanes' words of one offset lie side by side (CUDA C Programming Guide, "Device Memory Accesses": local memory), so
a warp's region begins with the first word of all its lanes. The regions lie beyond every address that a trace may hold.
"""

from __future__ import annotations

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
