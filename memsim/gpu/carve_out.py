"""The share of a unified L1 that shared memory takes while a kernel runs."""

from __future__ import annotations

from memsim.gpu.config import GPU
from memsim.gpu.cores import L1
from memsim.gpu.occupancy import Occupancy
from memsim.gpu.presets import override

_MOST_THREADS = 512  # of a block whose kernel gets room for more blocks


def carved(gpu: GPU, held: Occupancy) -> GPU:
    """Return the GPU with ``l1.reserved_bytes`` as the driver chooses it by default for a kernel.

    The driver takes the least of the sizes on offer (``l1.carve_outs``) at which shared memory does not lower the
    occupancy: CUDA C++ Programming Guide, "Shared Memory" of compute capabilities 7.x on, and Accel-Sim's adaptive
    cache configuration (Khairy et al., ISCA 2020). A way of every set always stays. A GPU whose L1 is not shared
    memory's too (no sizes on offer) is returned as it is.

    With ``l1.spare_carve_out_bytes``, blocks of at most 512 threads get room for twice the blocks that warps and
    registers allow, for four times if a kernel has no shared memory of its own, as far as an SM holds so many blocks
    and the size is at most that field (carve-outs of 594 launches on an H100: experiments/silicon).

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
    if gpu.l1.spare_carve_out_bytes and held.warps_per_block * gpu.sm.warp_size <= _MOST_THREADS:
        spare = least_carve_out(gpu.l1, _blocks_with_spare(gpu, held) * held.shared_per_block)
        chosen = max(chosen, min(spare, least_carve_out(gpu.l1, gpu.l1.spare_carve_out_bytes)))
    return override(gpu, {"l1.reserved_bytes": min(chosen, gpu.l1.most_reserved)})


def _blocks_with_spare(gpu: GPU, held: Occupancy) -> int:
    """Blocks of a kernel that the driver leaves room for, if it does for more than the resident ones."""
    without = min(blocks for limit, blocks in held.limits.items() if limit != "shared memory")
    own = held.shared_per_block > gpu.architecture.reserved_shared_bytes
    return min((2 if own else 4) * without, gpu.sm.max_blocks)


def least_carve_out(l1: L1, shared_bytes: int) -> int:
    """The least of the sizes on offer that holds so much shared memory, else the largest; 0 where none is on offer.

    >>> from memsim.gpu.presets import load_gpu
    >>> least_carve_out(load_gpu("tesla-v100").l1, 33280) >> 10
    64
    """
    holding = [taken for taken in l1.carve_outs if taken >= shared_bytes]
    return min(holding) if holding else max(l1.carve_outs, default=0)
