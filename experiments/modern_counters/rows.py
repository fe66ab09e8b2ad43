"""What hardware counted of the launches, and what each was of."""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).with_name("measured.csv")
# 1555 GB/s (NVIDIA A100 whitepaper, A100 40 GB); the preset is of 80 GB, at 1512 MHz. Its timings in nanoseconds.
_TIMING = {
    "cl": 18,
    "cwl": 4,
    "rcd": 18,
    "rp": 18,
    "ras": 41,
    "rrd": 6,
    "faw": 24,
    "rtp": 6,
    "wr": 16,
    "wtr": 4,
    "rtw": 18,
}
_A100_40GB = {"dram.clock_mhz": 1215, **{f"dram.timing.{name}": clocks for name, clocks in _TIMING.items()}}


@dataclass(frozen=True)
class Counters:
    """What hardware or memsim counted of a launch.

    Attributes:
        l1: hit ratio of loads and stores in sectors, 0 to 1.
        l2_sectors: of 32 bytes, that the SMs asked L2 for or stored there.
        dram_read, dram_written: bytes.
        microseconds: from the launch's start to its end.
    """

    l1: float
    l2_sectors: float
    dram_read: float
    dram_written: float
    microseconds: float

    @property
    def dram(self) -> float:
        """Bytes read and written."""
        return self.dram_read + self.dram_written


@dataclass(frozen=True)
class Case:
    """A launch that was measured once or several times.

    Attributes:
        gpu: the preset.
        settings: of the machine: the profiler locks clocks to the base (SMs: the row's own where it is stated).
        workload, parameters: of kernels.py, with the sizes of the measured run.
        whole: whether all blocks are replayed; else the default snapshot.
    """

    gpu: str
    settings: dict[str, Any]
    workload: str
    parameters: dict[str, Any]
    whole: bool = True


def _ada(workload: str, past_l1: bool = False, **parameters: Any) -> Case:
    # 2235 MHz: base clock (NVIDIA Ada GPU architecture whitepaper). -dlcm=cg compiles loads that pass L1 by.
    settings = {"sm.clock_mhz": 2235, "stochastic.start_alignment": False}
    return Case("rtx4090", settings | ({"l1.enabled": False} if past_l1 else {}), workload, parameters)


def _ampere(workload: str, clock_mhz: float, **parameters: Any) -> Case:
    return Case("a100", _A100_40GB | {"sm.clock_mhz": clock_mhz}, workload, parameters, whole=False)


CASES = {
    **{f"add {k}": _ada("offset_add", offset=k) for k in (0, 11, 128)},
    **{f"add {k} read-only": _ada("offset_add", offset=k) for k in (0, 11, 128)},
    **{f"add {k} past L1": _ada("offset_add", past_l1=True, offset=k) for k in (0, 11, 128)},
    "copy": _ada("tile_copy", variant="copy"),
    "transpose naive": _ada("tile_copy", variant="naive"),
    "transpose shared": _ada("tile_copy", variant="shared"),
    "transpose padded": _ada("tile_copy", variant="padded"),
    "transpose unrolled": _ada("tile_copy", variant="unrolled"),
    "convolution by columns": _ampere("convolution", 1097, variant="columns"),
    "convolution by rows": _ampere("convolution", 1097, variant="rows"),
    "convolution shared": _ampere("convolution", 1096, variant="shared"),
    "silu": replace(_ampere("silu", 1091), whole=True),
}


def measured() -> dict[str, list[Counters]]:
    """The launches of ``measured.csv`` by case, each as often as it was measured.

    >>> len(measured()["silu"])
    3
    """
    found = defaultdict(list)
    with MEASURED.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            found[row["case"]].append(
                Counters(
                    l1=float(row["l1_hit_pct"]) / 100,
                    l2_sectors=float(row["l2_sectors_tex_rd"]) + float(row["l2_sectors_tex_wr"]),
                    dram_read=float(row["dram_rd_bytes"]),
                    dram_written=float(row["dram_wr_bytes"]),
                    microseconds=float(row["dur_ns"]) / 1000,
                )
            )
    return dict(found)
