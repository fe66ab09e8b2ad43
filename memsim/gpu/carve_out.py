"""The share of a unified L1 that shared memory takes while a kernel runs."""

from __future__ import annotations

from memsim.gpu.config import GPU
from memsim.gpu.cores import L1
from memsim.gpu.occupancy import Occupancy
from memsim.gpu.presets import override


def carved(gpu: GPU, held: Occupancy) -> GPU:
    """Return the GPU with ``l1.reserved_bytes`` as the driver chooses it by default for a kernel.

    The driver takes the least of the sizes on offer (``l1.carve_outs``) at which shared memory does not lower the
    occupancy: CUDA C++ Programming Guide, "Shared Memory" of compute capabilities 7.x on, and Accel-Sim's adaptive
    cache configuration (Khairy et al., ISCA 2020). A way of every set always stays. A GPU whose L1 is not shared
    memory's too (no sizes on offer) is returned as it is.

    Args:
        gpu: the machine; what it reserves already is the least that is reserved.
        held: what one SM holds of the kernel.

    >>> from memsim.gpu.occupancy import occupancy
    >>> from memsim.gpu.presets import load_gpu
    >>> v100 = load_gpu("tesla-v100")
    >>> [carved(v100, occupancy(v100, 256, 32, kb << 10)).l1.reserved_bytes >> 10 for kb in (0, 3, 12)]
    [8, 32, 96]
    """
    if not gpu.l1.carve_outs:
        return gpu
    needed = held.blocks * held.shared_per_block
    chosen = least_carve_out(gpu.l1, max(needed, gpu.l1.reserved_bytes))
    return override(gpu, {"l1.reserved_bytes": min(chosen, gpu.l1.most_reserved)})


def least_carve_out(l1: L1, shared_bytes: int) -> int:
    """The least of the sizes on offer that holds so much shared memory, else the largest; 0 where none is on offer.

    >>> from memsim.gpu.presets import load_gpu
    >>> least_carve_out(load_gpu("tesla-v100").l1, 33280) >> 10
    64
    """
    holding = [taken for taken in l1.carve_outs if taken >= shared_bytes]
    return min(holding) if holding else max(l1.carve_outs, default=0)
