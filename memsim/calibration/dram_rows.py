"""How memory is cut into channels' stretches and rows: an access is shorter after one that opened its row.

Each address is read after address 0, and after some far from both. Only the difference counts, so neither the way to
the address's slice nor the translation of their page does (timing of pairs: Pessl et al., USENIX Security 2016).
Which of those in other rows lie in another channel, and which in another bank of the same, does not show.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from memsim.calibration.walks import WalkedGPU

REACH = 1 << 20  # bytes; half a page
FAR = [REACH + k * 74560 for k in range(4)]  # not all in the address's bank, where they would have to be closed first
MOST = 1 << 16  # bytes; no row is longer
CLEAR = 4  # cycles that an open row must win


def rows(device: WalkedGPU, fetch_bytes: int, channels: int) -> dict[str, int]:
    """Bytes of a row, and, with several channels, how many in sequence one channel holds: fields of the model.

    Args:
        device: with its L1 off.
        fetch_bytes: what a miss of L2 brings.
        channels: of the memory.

    Raises:
        RuntimeError: an open row makes no access clearly shorter, or what is open together is no row.
    """
    clear = min(_gain(device, fetch_bytes, far) for far in FAR) / 2
    if 2 * clear < CLEAR:
        raise RuntimeError(f"an open row saves {2 * clear:.1f} cycles, too few to detect rows")

    def opened(address: int) -> bool:
        return all(_gain(device, address, far) > clear for far in FAR)

    stretch = 2 * fetch_bytes
    while stretch < MOST and opened(stretch):
        stretch *= 2
    if channels == 1:
        return {"dram.row_bytes": stretch}
    row = stretch * _together(opened, stretch, channels)
    if row == stretch or row & (row - 1):
        raise RuntimeError(
            f"{row} bytes are open together, {stretch} of them in sequence, which does not show the size of a row"
        )
    return {"dram.row_bytes": row, "dram.interleave_bytes": stretch}


def _together(opened: Callable[[int], bool], stretch: int, channels: int) -> int:
    """How many stretches the row of address 0 has: none follow in as many again."""
    begin, span, found, more = 1, 4 * channels, 1, 1
    while more:
        if span * stretch > REACH:
            raise RuntimeError(f"a row has no end within {REACH} bytes")
        more = sum(opened(n * stretch) for n in range(begin, span))
        found += more
        begin, span = span, 2 * span
    return found


def _gain(device: WalkedGPU, address: int, far: int) -> float:
    """Cycles that reading an address takes less after address 0 than after one that is far."""
    after = [device.walk([first, address], np.arange(2))[1].mean for first in (far, 0)]
    return after[0] - after[1]
