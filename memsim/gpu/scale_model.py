"""Scale models of a GPU: a fraction of its SMs with the same fraction of L2 and of memory.

A launch of which a scale model runs the same fraction of blocks takes as long as on the whole GPU, as far as blocks
share nothing beyond that fraction (Eeckhout et al., "GPU scale-model simulation", HPCA 2022).
"""

from __future__ import annotations

from collections.abc import Iterator

from memsim.gpu.config import GPU
from memsim.gpu.presets import override
from memsim.support.errors import InputError

LEAST_SMS = 4  # fewer do not overlap like a GPU's
ROUNDED = 0.07  # most that a count may differ from its exact fraction


def scale_models(gpu: GPU) -> Iterator[tuple[int, GPU]]:
    """The divisors by which a GPU can be scaled, ascending from 1, with the scale models.

    >>> from memsim.gpu.presets import load_gpu
    >>> [divisor for divisor, _ in scale_models(load_gpu("rtx4090"))]
    [1, 2, 4, 8, 12, 24]
    """
    yield 1, gpu
    for divisor in (2, 4, 8, 12, 16, 24, 32):
        if (found := _scaled(gpu, divisor)) is not None:
            yield divisor, found


def _scaled(gpu: GPU, divisor: int) -> GPU | None:
    """The scale model; None where a count cannot be divided."""
    unit = gpu.l2.partitions
    counts = {
        "sm.count": (gpu.sm.count, round(gpu.sm.count / divisor)),
        "l2.slices": (gpu.l2.slices, unit * round(gpu.l2.slices / divisor / unit)),
        "dram.channels": (gpu.dram.channels, round(gpu.dram.channels / divisor)),
    }
    if counts["sm.count"][1] < LEAST_SMS:
        return None
    if any(abs(scaled * divisor / full - 1) > ROUNDED for full, scaled in counts.values()):
        return None
    settings: dict[str, object] = {name: scaled for name, (_, scaled) in counts.items()}
    settings["l2.size_bytes"] = gpu.l2.size_bytes // gpu.l2.slices * counts["l2.slices"][1]
    if gpu.launch.block_cycles is not None:  # the whole GPU starts its blocks one after the other
        settings["launch.block_cycles"] = gpu.launch.block_cycles * divisor
    try:
        return override(gpu, settings)
    except InputError:
        return None
