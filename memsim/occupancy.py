"""How many blocks one SM holds at a time."""

from __future__ import annotations

from memsim.config import GPU
from memsim.errors import InputError


def resident_blocks(gpu: GPU, threads_per_block: int, registers: int = 0, shared_bytes: int = 0) -> int:
    """Return the number of blocks resident on one SM: the tightest of the limits of NVIDIA's occupancy calculator.

    Registers and shared memory are counted without allocation granularity, so a kernel near a limit may get one block
    more than the hardware gives it.

    Args:
        gpu: the limits.
        threads_per_block: threads of a block, 1 or more.
        registers: 32-bit registers a thread needs; 0 when unknown, which sets no limit.
        shared_bytes: shared memory a block needs.

    Raises:
        InputError: a block that fits no SM.

    >>> from memsim.presets import load_gpu
    >>> resident_blocks(load_gpu("tesla-c2050"), 256, registers=20), resident_blocks(load_gpu("tesla-c2050"), 32)
    (6, 8)
    """
    assert threads_per_block >= 1 and registers >= 0 and shared_bytes >= 0
    warps = -(-threads_per_block // gpu.sm.warp_size)
    needs = (  # what of, what one block takes, what there is
        ("threads", threads_per_block, gpu.sm.max_threads),
        ("warps", warps, gpu.sm.max_warps),
        ("registers", registers * warps * gpu.sm.warp_size, gpu.sm.registers),
        ("shared bytes", shared_bytes, gpu.sm.shared_bytes),
    )
    for what, need, available in needs:
        if need > available:
            raise InputError(gpu.name, "block", f"needs {need} {what}; give a block that needs at most {available}")
    return min([gpu.sm.max_blocks, *(available // need for _, need, available in needs if need)])
