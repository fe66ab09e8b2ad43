"""GPUs on which a finding is void: larger caches, addresses spread over all channels, room for more blocks."""

from __future__ import annotations

from dataclasses import replace

from memsim.gpu.choices import IndexHash
from memsim.gpu.config import GPU
from memsim.gpu.presets import override
from memsim.support.errors import InputError
from memsim.trace.schema import LaunchShape
from memsim.why.transforms.transform import Transform

_TIMES = 8  # as large, a cache that holds what the present one evicts
_FEW_REGISTERS = 16


def enlarge_cache(cache: str) -> Transform:
    """A cache of eight times the size: by its sets, where their hash allows that, else by its ways."""

    def machine(gpu: GPU) -> GPU:
        present = getattr(gpu, cache)
        size: dict[str, object] = {f"{cache}.size_bytes": present.size_bytes * _TIMES}
        if cache == "l1":
            size["l1.reserved_bytes"] = present.reserved_bytes * _TIMES
        try:
            return override(gpu, size)
        except InputError:  # so many sets cannot be
            return override(gpu, size | {f"{cache}.ways": present.ways * _TIMES})

    return Transform(f"an {cache.upper()} of {_TIMES} times the size", machine=machine)


def hash_channels(gpu: GPU) -> Transform | None:
    """Channels and slices chosen by a hash that no stride camps on; None: they are."""
    if gpu.l2.slice_hash == gpu.dram.channel_hash == IndexHash.rotated:
        return None
    fields = {"l2.slice_hash": IndexHash.rotated.value, "dram.channel_hash": IndexHash.rotated.value}
    return Transform("addresses spread over channels by a hash function", machine=lambda gpu: override(gpu, fields))


def raise_occupancy() -> Transform:
    """As many resident blocks as there are warps for: neither registers nor shared memory nor their number limit."""

    def launch(shape: LaunchShape) -> LaunchShape:
        return replace(shape, registers=min(shape.registers, _FEW_REGISTERS), shared_bytes=0)

    def machine(gpu: GPU) -> GPU:
        return override(gpu, {"sm.max_blocks": 64})

    return Transform("as many blocks per SM as its warps allow", machine=machine, launch=launch)
