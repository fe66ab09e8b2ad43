"""The share of a unified L1 that shared memory takes while a kernel runs."""

from __future__ import annotations

from memsim.gpu.config import GPU
from memsim.gpu.occupancy import occupancy
from memsim.gpu.presets import override


def carved(gpu: GPU, threads_per_block: int, registers: int = 0, shared_bytes: int = 0) -> GPU:
    """Return the GPU with ``l1.reserved_bytes`` as the driver chooses it by default for a kernel.

    The driver takes the least of the sizes on offer (``l1.carve_outs``) at which shared memory does not lower the
    occupancy: CUDA C++ Programming Guide, "Shared Memory" of compute capabilities 7.x on, and Accel-Sim's adaptive
    cache configuration (Khairy et al., ISCA 2020). A way of every set always stays. A GPU whose L1 is not shared
    memory's too (no sizes on offer) is returned as it is.

    Args:
        gpu: the machine; what it reserves already is the least that is reserved.
        threads_per_block, registers, shared_bytes: as for :func:`memsim.gpu.occupancy.occupancy`.

    Raises:
        InputError: a block that fits no SM.

    >>> from memsim.gpu.presets import load_gpu
    >>> [carved(load_gpu("tesla-v100"), 256, 32, kb << 10).l1.reserved_bytes >> 10 for kb in (0, 3, 12)]
    [8, 32, 96]
    """
    if not gpu.l1.carve_outs:
        return gpu
    held = occupancy(gpu, threads_per_block, registers, shared_bytes)
    needed = held.blocks * held.shared_per_block
    fitting = [taken for taken in sorted(gpu.l1.carve_outs) if taken >= max(needed, gpu.l1.reserved_bytes)]
    chosen = fitting[0] if fitting else max(gpu.l1.carve_outs)
    most = gpu.l1.size_bytes - gpu.l1.size_bytes // gpu.l1.ways
    return override(gpu, {"l1.reserved_bytes": min(chosen, most // gpu.l1.line_bytes * gpu.l1.line_bytes)})
