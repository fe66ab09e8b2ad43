"""The memories that DRAMsim3 was run with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from experiments.dram.memory import BANKS, REQUEST_BYTES, Memory

# DRAMsim3 as it was recorded.
VERSION = "github.com/umd-memsys/DRAMsim3, commit 29817593b3389f1337235d63cac515024ab8fd6e (5 April 2021)"
# One channel, no statistics on disk.
COMMON = {"channels": 1, "address_mapping": "rorabgbachco", "epoch_period": 2_000_000_000, "output_level": -1}
# A request spends a clock in its queue at least. It holds 32 reads, and eight commands in front of each bank.
CONTROLLER = {
    "latency_cycles": 1, "queue": 32 + 8 * BANKS, "write_queue": 32, "write_high": 32, "write_low": 0,
    "write_turns": "with_reads",
}  # fmt: skip


@dataclass(frozen=True)
class IniMemory(Memory):
    """One memory of DRAMsim3's.

    Attributes:
        ini: the file of DRAMsim3's `configs` it is.
        changes: what is changed in that file, to have a channel of 32-byte requests.
    """

    ini: str
    changes: Mapping[str, object]

    def address(self, bank: np.ndarray, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Byte addresses of requests: from the top, row, bank group, bank of the group, column.

        Our bank b is in group b mod groups.
        """
        inside, group = bank // self.groups, bank % self.groups
        return (((row * self.groups + group) * (BANKS // self.groups) + inside) * self.columns + column) * REQUEST_BYTES


# DRAMsim3 reads tRTP, which neither file gives: 5, its default.
GDDR5 = dict(
    cl=24, cwl=7, burst=2, ccd=2, rcd=18, rp=18, ras=42, rrd=9, faw=35, rtp=5, wr=18, wtr=8,
    rtw=24 + 2 - 7 + 0, refi=11699, rfc=98,
)  # fmt: skip
HBM2 = dict(
    cl=14, cwl=4, burst=2, ccd=2, ccd_l=2, rcd=14, rp=14, ras=34, rrd=4, rrd_l=6, faw=30, rtp=5, wr=16, wtr=6, wtr_l=8,
    rtw=14 + 2 - 4 + 2, refi=3900, rfc=260,
)  # fmt: skip
ONE_DEVICE = {"bus_width": 32, "channel_size": 128}
MEMORIES = {
    "gddr5": IniMemory("GDDR5", 4096, 64, 1, 1500, GDDR5, CONTROLLER, "GDDR5_1Gb_x32.ini", ONE_DEVICE),
    "gddr5-groups": IniMemory(
        "GDDR5, bank groups", 4096, 64, 4, 1500, GDDR5 | dict(ccd_l=3, rrd_l=9, wtr_l=8), CONTROLLER,
        "GDDR5_1Gb_x32.ini", ONE_DEVICE | {"bankgroup_enable": "true"},
    ),
    "hbm2": IniMemory(
        "HBM2", 16384, 32, 4, 1000, HBM2, CONTROLLER,
        "HBM2_4Gb_x128.ini", {"device_width": 64, "bus_width": 64, "channel_size": 256},
    ),
}  # fmt: skip
