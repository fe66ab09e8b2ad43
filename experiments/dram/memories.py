"""The memories of the study: what DRAMsim3 is told, and the same as a GPU of ours. One channel of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memsim.gpu.config import GPU
from memsim.gpu.presets import load_gpu, override

# DRAMsim3 as it was recorded.
VERSION = "github.com/umd-memsys/DRAMsim3, commit 29817593b3389f1337235d63cac515024ab8fd6e (5 April 2021)"
# One channel, no statistics on disk.
COMMON = {"channels": 1, "address_mapping": "rorabgbachco", "epoch_period": 2_000_000_000, "output_level": -1}
CONTROLLER_CLOCKS = 1  # that a request spends in its queue at least
# Its read queue of 32, and eight commands in front of each bank.
QUEUES = {"dram.queue": 32 + 16 * 8, "dram.write_queue": 32, "dram.write_high": 32, "dram.write_low": 0}
REQUEST_BYTES = 32
BANKS = 16


@dataclass(frozen=True)
class Memory:
    """One memory.

    Attributes:
        label: for readers.
        ini: the file of DRAMsim3's `configs` it is.
        changes: what is changed in that file, to have a channel of 32-byte requests.
        rows, columns: of a bank; a column is a request.
        groups: bank groups that DRAMsim3 tells apart.
        clock_mhz: of the memory.
        timing: the file's timings as ours are called. DRAMsim3 reads tRTP, which neither file gives: 5, its default.
    """

    label: str
    ini: str
    changes: dict[str, object]
    rows: int
    columns: int
    groups: int
    clock_mhz: float
    timing: dict[str, int]

    def gpu(self) -> GPU:
        """A GPU whose DRAM this is, with its SMs at the memory's clock: its cycles are the memory's."""
        timing = {f"dram.timing.{name}": value for name, value in self.timing.items()}
        return override(load_gpu("tesla-c2050"), {
            "dram.kind": self.label, "dram.channels": 1, "dram.banks": BANKS,
            "dram.row_bytes": self.columns * REQUEST_BYTES, "dram.clock_mhz": self.clock_mhz,
            "sm.clock_mhz": self.clock_mhz, "dram.latency_cycles": CONTROLLER_CLOCKS, **QUEUES, **timing,
            **({"dram.bank_groups": self.groups} if self.groups > 1 else {}),
        }, self.ini)  # fmt: skip

    def address(self, bank: np.ndarray, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Byte addresses of requests for DRAMsim3: from the top, row, bank group, bank of the group, column.

        Our bank b is in group b mod groups.
        """
        inside, group = bank // self.groups, bank % self.groups
        return (((row * self.groups + group) * (BANKS // self.groups) + inside) * self.columns + column) * REQUEST_BYTES


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
    "gddr5": Memory("GDDR5", "GDDR5_1Gb_x32.ini", ONE_DEVICE, 4096, 64, 1, 1500, GDDR5),
    "gddr5-groups": Memory(
        "GDDR5, bank groups", "GDDR5_1Gb_x32.ini", ONE_DEVICE | {"bankgroup_enable": "true"}, 4096, 64, 4, 1500,
        GDDR5 | dict(ccd_l=3, rrd_l=9, wtr_l=8),
    ),
    "hbm2": Memory(
        "HBM2", "HBM2_4Gb_x128.ini", {"device_width": 64, "bus_width": 64, "channel_size": 256}, 16384, 32, 4, 1000,
        HBM2,
    ),
}  # fmt: skip
