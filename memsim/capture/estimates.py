"""Quick estimates of how long a launch takes, for the times that a program sees while it runs.

An estimate is the longest of three times: issuing the warp instructions that were executed, moving the sectors that
they touched between L2 and the SMs, and one microsecond. It is no simulation: traces are simulated for that.
"""

from __future__ import annotations

from memsim.gpu.config import GPU

LEAST_NS = 1000
SECTOR_BYTES = 32


def launch_nanoseconds(gpu: GPU, executed: int, sectors: int, blocks: int) -> int:
    """An estimate of the time of a launch.

    Args:
        executed: warp instructions.
        sectors: of 32 bytes that accesses to global memory touched, each access counted.
        blocks: of the grid; those fewer than SMs leave some idle.
    """
    busy = max(1, min(gpu.sm.count, blocks))
    cycles = max(
        executed * gpu.sm.issue_cycles / (busy * gpu.sm.issue_per_cycle),
        sectors * SECTOR_BYTES / (busy * gpu.sm.reply_bytes_per_cycle),
    )
    return max(LEAST_NS, round(1000 * cycles / gpu.sm.clock_mhz))
