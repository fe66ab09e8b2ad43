"""A memory of the study: one channel of memsim's and one of another simulator's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memsim.gpu.config import GPU
from memsim.gpu.presets import load_gpu, override

REQUEST_BYTES = 32
BANKS = 16


@dataclass(frozen=True)
class Memory:
    """One memory, with the timings that a simulator was given.

    Attributes:
        label: for readers.
        rows, columns: of a bank; a column is a request.
        groups: bank groups that the simulator tells apart.
        clock_mhz: of the clock that timings are counted in.
        timing: as our configuration calls it.
        controller: what the simulator's controller holds, and when it writes, as our configuration calls it.
    """

    label: str
    rows: int
    columns: int
    groups: int
    clock_mhz: float
    timing: Mapping[str, int]
    controller: Mapping[str, object]

    def gpu(self) -> GPU:
        """A GPU whose DRAM this is, with its SMs at the memory's clock: its cycles are the memory's."""
        timing = {f"dram.timing.{name}": value for name, value in self.timing.items()}
        controller = {f"dram.{name}": value for name, value in self.controller.items()}
        return override(load_gpu("tesla-c2050"), {
            "dram.kind": self.label, "dram.channels": 1, "dram.banks": BANKS,
            "dram.row_bytes": self.columns * REQUEST_BYTES, "dram.clock_mhz": self.clock_mhz,
            "sm.clock_mhz": self.clock_mhz, **controller, **timing,
            **({"dram.bank_groups": self.groups} if self.groups > 1 else {}),
        }, self.label)  # fmt: skip
