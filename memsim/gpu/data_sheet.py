"""A GPU from its data sheet and a preset of its family: what the sheet states, and what follows from it by scaling.

Boards of one family have the same SM and the same kinds of L2 slices and memory channels, in different numbers and at
different clocks. So a data sheet with five numbers gives a usable description. What scales is marked ``assumed``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from memsim.gpu import presets
from memsim.gpu.board import memory_bus
from memsim.gpu.config import GPU
from memsim.gpu.presets import Provenance, load_gpu
from memsim.support.errors import InputError

# Constraints of the DRAM's timing table that are times of the memory cells; the others count transfers.
_CELL_TIMES = ("cl", "cwl", "rcd", "rp", "ras", "rrd", "faw", "rtp", "wr", "wtr", "rrd_l", "wtr_l", "refi", "rfc")


@dataclass(frozen=True)
class DataSheet:
    """What a data sheet states of a GPU.

    Attributes:
        name: of the new GPU.
        like: a preset or TOML file of the same family.
        sms: number of SMs.
        clock_mhz: boost clock.
        l2_bytes: size of L2.
        memory_bits: width of the memory bus.
        memory_gb_per_s: peak bandwidth, in 10^9 bytes per second.
        memory_kind: for example ``GDDR6``; None: that of the memory's model.
        memory_like: the preset whose memory is scaled; None: ``like``.
        source: of these numbers.
    """

    name: str
    like: str
    sms: int
    clock_mhz: float
    l2_bytes: int
    memory_bits: int
    memory_gb_per_s: float
    memory_kind: str | None = None
    memory_like: str | None = None
    source: str = "data sheet"


def described(sheet: DataSheet) -> dict[str, Provenance]:
    """The fields of a GPU that differ from those of the preset that it is like, each with its source.

    The SM is that of ``like``. L2 has as many slices per bit of the memory bus as that, and memory as many channels.
    The DRAM's cell times keep their nanoseconds at the new clock.

    Raises:
        InputError: naming the number of the sheet that cannot be.

    >>> sheet = DataSheet("half-a40", "a40", 42, 1740, 3 << 20, 192, 348)
    >>> fields = described(sheet)
    >>> [fields[name].value for name in ("l2.slices", "dram.channels", "dram.clock_mhz")]
    [24, 12, 1812.5]
    """
    like, memory = load_gpu(sheet.like), load_gpu(sheet.memory_like or sheet.like)
    stated = {
        "sm.count": (sheet.sms, "SMs"),
        "sm.clock_mhz": (sheet.clock_mhz, "boost clock"),
        "l2.size_bytes": (sheet.l2_bytes, "L2"),
    }
    found = {field: _provenance(field, value, f"{sheet.source}: {what}") for field, (value, what) in stated.items()}
    slices, rest = divmod(like.l2.slices * sheet.memory_bits, _bits(like))
    if rest or slices == 0:
        raise InputError(
            sheet.name,
            "memory bits",
            f"is {sheet.memory_bits}; give a part of {sheet.like}'s {_bits(like)} that has whole L2 slices",
        )
    how = f"as many slices per bit of the memory bus as {sheet.like}"
    found["l2.slices"] = _provenance("l2.slices", slices, how, "assumed")
    found |= _memory(sheet, memory)
    presets.inheriting(sheet.like, found, sheet.name)  # refuses what does not fit together
    return found


def _bits(gpu: GPU) -> int:
    """Width of a GPU's memory bus."""
    width = next((bits for bits in (8, 16, 32, 64) if memory_bus(gpu, bits, 1e6)), None)
    assert width is not None, f"{gpu.dram.kind} has no channel width"
    return width * gpu.dram.channels


def _memory(sheet: DataSheet, like: GPU) -> dict[str, Provenance]:
    """The memory of the sheet: channels and clock, and the timing table at that clock."""
    khz = sheet.memory_gb_per_s * 8e6 / (2 * sheet.memory_bits)
    bus = memory_bus(like, sheet.memory_bits, khz)
    if bus is None:
        problem = f"is {sheet.memory_bits}, which does not make whole channels of {like.dram.kind}"
        raise InputError(sheet.name, "memory bits", f"{problem}; name a GPU with such memory with --memory-like")
    found: dict[str, Provenance] = {}
    if sheet.memory_like:
        every = presets.provenance(sheet.memory_like).items()
        found = {
            field: entry.taken_over(like.name)
            for field, entry in every
            if field.startswith("dram.") and entry.value is not None
        }
        latency = found["dram.latency_cycles"]
        found["dram.latency_cycles"] = replace(latency, clock_mhz=like.sm.clock_mhz)
    if sheet.memory_kind:
        found["dram.kind"] = _provenance("dram.kind", sheet.memory_kind, f"{sheet.source}: memory")
    bandwidth = f"{sheet.source}: {sheet.memory_gb_per_s:g} GB/s over {sheet.memory_bits} bits"
    found |= {field: _provenance(field, value, bandwidth) for field, value in bus.items()}
    return found | _timing(like, bus["dram.clock_mhz"])


def _timing(like: GPU, clock_mhz: float) -> dict[str, Provenance]:
    """The timing table at another clock: cell times last as long, rounded up to whole cycles."""
    if clock_mhz == like.dram.clock_mhz:
        return {}
    timing = like.dram.timing
    scaled = {
        name: ceil(value * clock_mhz / like.dram.clock_mhz - 1e-6)
        for name in _CELL_TIMES
        if (value := getattr(timing, name)) is not None
    }
    scaled["rtw"] = scaled["cl"] + timing.burst + 2 - scaled["cwl"]
    source = f"the nanoseconds of {like.name}, in cycles of {clock_mhz:g} MHz, rounded up"
    return {
        f"dram.timing.{name}": _provenance(
            f"dram.timing.{name}",
            value,
            source if name != "rtw" else "cl + burst + 2 - cwl, one turn of the bus",
            "assumed",
        )
        for name, value in scaled.items()
    }


def _provenance(field: str, value: Any, source: str, status: str = "documented") -> Provenance:
    return Provenance(value, presets.unit(field), source, status)
