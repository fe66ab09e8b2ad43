"""GPUs as mt4g measures them (github.com/caps-tum/mt4g): its JSON report to sourced fields of the model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memsim.gpu import board, presets
from memsim.gpu.config import GPU
from memsim.gpu.presets import Provenance, load_gpu
from memsim.support.errors import InputError
from memsim.support.files import read_small
from memsim.support.text import printable

_LARGEST_FILE = 1 << 24


@dataclass(frozen=True)
class Report:
    """What a report says.

    Attributes:
        name: of the board, as its driver has it.
        base: the preset that states what the report does not.
        values: field of the model -> value with its source; all of the others are those of `base`.
    """

    name: str
    base: str
    values: dict[str, Provenance]


def read(path: str | Path, base: str | None = None) -> Report:
    """Read a report of mt4g, of any version that writes JSON.

    A latency is the median of the report. The latency of memory is left out: mt4g measures first touches, which
    translate addresses too.

    Args:
        base: preset or path; None: the newest preset that is no newer than the board's compute capability.

    Raises:
        InputError: no such file, not JSON, not of an NVIDIA GPU, without a field that every report has, or with values
            that do not fit those of `base`.
    """
    report = _Json(path, _load(Path(path)))
    name = report.text("general.name")
    vendor = report.text("general.vendor")
    if vendor != "NVIDIA":
        raise InputError(path, "general.vendor", f"is {vendor!r:.40}; give a report of an NVIDIA GPU")
    version = "general.computeCapability"
    capability = f"{report.integer(f'{version}.major')}.{report.integer(f'{version}.minor', 0)}"
    base = base or board.nearest(capability)
    known = load_gpu(base)
    when = report.get("meta.timestamp")
    source = f"mt4g, {name}, {printable(when[:10])}" if isinstance(when, str) else f"mt4g, {name}"
    values = {"compute_capability": Provenance(capability, "", source, "documented")}
    clock = report.integer("general.clockRate.value") / 1000
    for field, value, where, status in _values(report, known):
        values[field] = board.sourced(field, value, f"{source}: {where}", status, clock)
    presets.inheriting(base, values, path)  # or it says what does not fit together
    return Report(name, base, values)


_Value = tuple[str, Any, str, str]  # field, value, place in the report, status


def _values(report: _Json, base: GPU) -> Iterator[_Value]:
    for field, key in (
        ("sm.count", "compute.multiProcessorCount"),
        ("sm.max_threads", "compute.maxThreadsPerMultiProcessor"),
        ("sm.max_blocks", "compute.maxBlocksPerMultiProcessor"),
        ("sm.registers", "compute.regsPerMultiProcessor"),
        ("sm.shared_bytes", "memory.shared.sharedMemPerMultiProcessor.value"),
    ):
        yield field, report.integer(key), key, "documented"
    warp = report.integer("compute.warpSize")
    key = "compute.maxThreadsPerMultiProcessor"
    yield "sm.max_warps", report.integer(key) // warp, f"{key} over warpSize", "documented"
    yield "sm.clock_mhz", report.integer("general.clockRate.value") / 1000, "general.clockRate", "documented"
    yield from _latency(report, "sm.shared_latency_cycles", "memory.shared.latency")
    yield from _l1(report, base)
    yield from _l2(report, base)
    yield from _dram(report, base)


def _latency(report: _Json, field: str, key: str) -> Iterator[_Value]:
    median = report.number(f"{key}.p50")
    if median is not None and 1 <= median < 10**5:
        yield field, round(median), f"{key}, median", "measured"


def _l1(report: _Json, base: GPU) -> Iterator[_Value]:
    key = "memory.l1"
    yield from _granularity(report, key, "l1.line_bytes", "l1.sector_bytes")
    yield from _latency(report, "l1.hit_latency_cycles", f"{key}.latency")
    found = report.number(f"{key}.size.size")
    if found is None:
        return
    for field, value in board.usable_l1(base.l1, round(found)).items():
        yield field, value, f"{key}.size, {found:g} bytes", "measured"


def _l2(report: _Json, base: GPU) -> Iterator[_Value]:
    key = "memory.l2"
    yield from _granularity(report, key, "l2.line_bytes", None)
    yield from _latency(report, "l2.hit_latency_cycles", f"{key}.latency")
    size = report.integer(f"{key}.size.value")
    set_bytes = base.l2.line_bytes * base.l2.ways * base.l2.slices
    rounded = max(1, round(size / set_bytes)) * set_bytes
    how = "" if rounded == size else f" ({size} bytes), to whole sets of {base.l2.slices} slices"
    yield "l2.size_bytes", rounded, f"{key}.size{how}", "documented"


def _granularity(report: _Json, key: str, line: str, sector: str | None) -> Iterator[_Value]:
    """Line and sector, where the report has them and they are possible."""
    for field, name in ((line, "lineSize"), (sector, "fetchGranularity")):
        size = report.number(f"{key}.{name}.size")
        if field and size in (32, 64, 128, 256):
            yield field, int(size), f"{key}.{name}", "measured"


def _dram(report: _Json, base: GPU) -> Iterator[_Value]:
    """Channels and their clock."""
    bits = report.number("memory.main.memoryBusWidth.value")
    khz = report.number("memory.main.memoryClockRate.value")
    if not bits or not khz:
        return
    found = board.memory_bus(base, round(bits), khz)
    if found is None:
        problem = f"is {bits:g}, which does not make channels of {base.name}'s {base.dram.kind}"
        raise InputError(
            report.path, "memory.main.memoryBusWidth", f"{problem}; give --base with a GPU that has such memory"
        )
    for field, value in found.items():
        yield field, value, f"memory.main, {bits:g} bits, memoryClockRate, two bits a clock", "documented"


def _load(path: Path) -> Any:
    content = read_small(path, _LARGEST_FILE, "a report of mt4g")
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise InputError(path, "file", "is not JSON; give what mt4g wrote with --json") from None


@dataclass(frozen=True)
class _Json:
    """A report that nobody vouches for; places are names joined by dots."""

    path: str | Path
    content: Any

    def get(self, key: str) -> Any:
        value = self.content
        for name in key.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def number(self, key: str) -> float | None:
        """A number from 0 to a million million, or None."""
        value = self.get(key)
        return value if type(value) in (int, float) and 0 <= value <= 1e12 else None

    def integer(self, key: str, least: int = 1) -> int:
        return int(self._needed(key, "a whole number", lambda value: type(value) is int and least <= value < 1 << 40))

    def text(self, key: str) -> str:
        return printable(self._needed(key, "text", lambda value: isinstance(value, str) and 0 < len(value) < 200))

    def _needed(self, key: str, what: str, fits: Callable[[Any], bool]) -> Any:
        value = self.get(key)
        if not fits(value):
            raise InputError(self.path, key, f"is {value!r:.40}; a report of mt4g has {what} there")
        return value
