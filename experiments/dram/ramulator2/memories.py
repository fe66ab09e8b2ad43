"""The memories that Ramulator 2 was run with: presets of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from experiments.dram.memory import Memory

# Ramulator 2 as it was recorded.
VERSION = (
    "github.com/CMU-SAFARI/ramulator2, version 2.1, commit c5b1c3a478b68853a61a0b8f99510d0dde7e6fd0 (29 June 2026)"
)
# A request spends a clock in its queue at least. It holds 32 reads, and one of each bank whose row it has opened. Of 32
# writes it begins to write above 0.8, and ends below 0.2.
CONTROLLER = {
    "latency_cycles": 1, "queue": 32, "write_queue": 32, "write_high": 26, "write_low": 6,
    "write_turns": "finish_opened",
}  # fmt: skip


@dataclass(frozen=True)
class PresetMemory(Memory):
    """One memory of Ramulator 2's.

    Attributes:
        standard: its class in `ramulator.dram`.
        organisation, speed: names of its presets.
        controller_class: of `ramulator.controller`.
        changes: what of the presets is overridden.
        before: levels between the channel and the bank group, each of one.
    """

    standard: str
    organisation: str
    speed: str
    controller_class: str
    changes: Mapping[str, int]
    before: int

    def places(self, bank: np.ndarray, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Requests' numbers at each level, i8[n, levels], from the channel to the column.

        Our bank b is in group b mod groups.
        """
        zeros = np.zeros((len(bank), 1 + self.before), np.int64)
        return np.column_stack([zeros, bank % self.groups, bank // self.groups, row, column])


# Where a command takes several clocks, Ramulator 2 counts from its last clock, and ours from its first: so waits after
# an activate of two clocks are one longer, and before it one shorter.
HBM2 = dict(
    cl=14, cwl=5, burst=2, ccd=2, ccd_l=4, rcd=14 + 1, rp=14 - 1, ras=34 + 1, rrd=4, rrd_l=4, faw=15, rtp=5, wr=16,
    wtr=6, wtr_l=8, rtw=14 + 2 + 2 - 5, refi=3900, rfc=260 - 1,
)  # fmt: skip
GDDR6 = dict(
    cl=24, cwl=6, burst=2, ccd=2, ccd_l=4, rcd=27, rp=27, ras=53, rrd=8, rrd_l=8, faw=29, rtp=4, wr=27, wtr=9,
    wtr_l=11, rtw=24 + 1, refi=3333, rfc=211,
)  # fmt: skip
# In half clocks, as precharges may begin in the middle of one. An activate takes three of them and column commands two,
# which begin in whole clocks. `ras` keeps the row cycle of 144, for which ours has no name of its own.
HBM3 = dict(
    cl=40, cwl=20, burst=4, ccd=4, ccd_l=8, rcd=64, rp=52 - 2, ras=144 - 50, rrd=8, rrd_l=10, faw=48, rtp=18 + 1,
    wr=66 + 1, wtr=14, wtr_l=20, rtw=40, refi=12480, rfc=832 - 2,
)  # fmt: skip
MEMORIES = {
    "hbm2-2000": PresetMemory(
        "HBM2 at 2 Gbps", 32768, 32, 4, 1000, HBM2, CONTROLLER,
        "HBM2", "HBM2_4Gb", "HBM2_2000Mbps", "HBM12", {"pseudochannel": 1, "nRCDWR": 14}, 1,
    ),
    "gddr6-14000": PresetMemory(
        "GDDR6 at 14 Gbps", 16384, 64, 4, 1754, GDDR6, CONTROLLER,
        "GDDR6", "GDDR6_8Gb_x16", "GDDR6_14000_1350mV_double", "GenericDDR", {"nRCDWR": 27}, 0,
    ),
    "hbm3-6400": PresetMemory(
        "HBM3 at 6.4 Gbps, half clocks", 16384, 32, 4, 3200, HBM3, CONTROLLER,
        "HBM3", "HBM3_4Gb", "HBM3_6400Mbps", "HBM34", {"pseudochannel": 1, "nRCDWR": 31}, 2,
    ),
}  # fmt: skip
