"""What a board's figures, as its driver and other programs' measurements report them, are in the model."""

from __future__ import annotations

import re
from typing import Any

from memsim.gpu import presets
from memsim.gpu.architecture import capability_number, is_amd
from memsim.gpu.config import GPU
from memsim.gpu.cores import L1
from memsim.gpu.presets import Provenance

_CHANNEL_BITS = {"HBM2": 64, "HBM2E": 64, "HBM3": 32, "HBM3E": 32, "GDDR5": 32, "GDDR5X": 32, "GDDR6": 16,
                 "GDDR6X": 16, "GDDR7": 8, "LPDDR5": 16}  # fmt: skip
_ABOUT = 1 / 32  # of an L1: what walks find of V100's differs by more from program to program


def sourced(field: str, value: Any, source: str, status: str, clock_mhz: float) -> Provenance:
    """A value of a board with its source; what does not run at the SM's clock says at which it was measured."""
    beyond = field in ("l2.hit_latency_cycles", "dram.latency_cycles")
    return Provenance(value, presets.unit(field), source, status, clock_mhz=clock_mhz if beyond else None)


def slug(name: str) -> str:
    """A board's name as presets have it.

    >>> slug("NVIDIA GeForce RTX 2080 Ti")
    'geforce-rtx-2080-ti'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower().removeprefix("nvidia ")).strip("-") or "gpu"


def nearest(capability: str) -> str:
    """The preset of the highest compute capability up to this one, else the lowest of all; the best known of several.

    >>> nearest("7.2")
    'tesla-v100'
    """
    by_version: dict[tuple[int, int], list[str]] = {}
    for name in presets.names():
        if not is_amd(known := presets.load_gpu(name).compute_capability):
            by_version.setdefault(capability_number(known), []).append(name)
    older = [one for one in by_version if one <= capability_number(capability)]
    return min(by_version[max(older) if older else min(by_version)], key=_assumptions)


def _assumptions(name: str) -> int:
    """How many numbers of a preset are assumed."""
    return sum(entry.status == "assumed" for entry in presets.provenance(name).values())


def usable_l1(l1: L1, found_bytes: int, taken_bytes: int = 0) -> dict[str, int]:
    """The L1 of which a list of `found_bytes` fits, and no longer one: fields of the model.

    Where L1 is one memory with shared memory, the rest of it is reserved; else the L1 has that size. The result is
    empty where shared memory took all of the rest, which says nothing of what is reserved without it.

    Args:
        l1: of a GPU like it.
        taken_bytes: what shared memory takes of a unified L1 meanwhile, for the program that looked.

    >>> v100 = presets.load_gpu("tesla-v100").l1
    >>> usable_l1(v100, 120 << 10), usable_l1(v100, 64 << 10, 64 << 10), usable_l1(v100, 56 << 10, 64 << 10)
    ({'l1.reserved_bytes': 8192}, {}, {'l1.reserved_bytes': 8192})
    """
    if l1.carve_outs and found_bytes <= l1.size_bytes:
        lines = round(found_bytes / l1.line_bytes) * l1.line_bytes
        rest = max(0, l1.size_bytes - taken_bytes - lines)
        if taken_bytes and rest <= l1.size_bytes * _ABOUT:
            return {}
        return {"l1.reserved_bytes": min(rest, l1.most_reserved)}
    way = l1.line_bytes * l1.sets
    return {"l1.size_bytes": max(1, round(found_bytes / way)) * way, "l1.reserved_bytes": 0}


def memory_bus(gpu: GPU, bits: int, khz: float) -> dict[str, float] | None:
    """Channels and their clock, of a bus that transfers twice a clock; None: it is not a GPU with such memory.

    Args:
        gpu: a GPU with memory of the same kind, which shows how wide a channel is, and what a burst takes.
        bits: of the whole bus.
        khz: the memory's clock, as CUDA reports it.

    >>> memory_bus(presets.load_gpu("tesla-v100"), 4096, 877000)
    {'dram.channels': 64, 'dram.clock_mhz': 877.0}
    """
    width = _CHANNEL_BITS.get(gpu.dram.kind.upper())
    if width is None or bits % width:
        return None
    channels = bits // width
    bytes_per_us = 2 * bits / 8 * khz / 1000
    return {
        "dram.channels": channels,
        "dram.clock_mhz": round(bytes_per_us * gpu.dram.timing.burst / (32 * channels), 1),
    }
