"""How many blocks one SM holds at a time, and what limits it.

The limits (warps, blocks, registers, shared bytes) are the GPU's own, from its TOML file. The units in which an SM
hands out registers and shared memory are its architecture's (:mod:`memsim.gpu.architecture`). Sources: NVIDIA's CUDA
Occupancy Calculator (spreadsheet, sheet "GPU Data"); the CUDA toolkit's ``cuda_occupancy.h``, versions 7.0 (for 1.0 to
5.2) and 13.0 (3.0 on); CUDA C Programming Guide 4.2, section Hardware Multithreading. For an odd number of warps on 1.x
they disagree; the guide and the spreadsheet are followed: it is rounded up for the registers alone (in the header, for
the warps too).
"""

from __future__ import annotations

from dataclasses import dataclass

from memsim.gpu.config import GPU
from memsim.support.errors import InputError


@dataclass(frozen=True)
class Occupancy:
    """What one SM holds.

    Attributes:
        limits: limit -> blocks it allows: "warps", "blocks", "registers", "shared memory"; what a kernel does not use
            sets none.
        warps_per_block: warps of a block.
        shared_per_block: shared bytes that a block takes of the SM.
        max_warps: warps one SM can hold.
    """

    limits: dict[str, int]
    warps_per_block: int
    max_warps: int
    shared_per_block: int = 0

    @property
    def blocks(self) -> int:
        """Resident blocks of one SM, 1 or more."""
        return min(self.limits.values())

    @property
    def warps(self) -> int:
        """Resident warps of one SM."""
        return self.blocks * self.warps_per_block

    @property
    def fraction(self) -> float:
        """Resident warps over the most that one SM can hold."""
        return self.warps / self.max_warps

    @property
    def limiters(self) -> tuple[str, ...]:
        """The limits that are reached, one or more."""
        return tuple(name for name, blocks in self.limits.items() if blocks == self.blocks)


def resident_blocks(gpu: GPU, threads_per_block: int, registers: int = 0, shared_bytes: int = 0) -> int:
    """Return the number of blocks resident on one SM; arguments and errors are those of :func:`occupancy`.

    >>> from memsim.gpu.presets import load_gpu
    >>> resident_blocks(load_gpu("tesla-c2050"), 256, registers=20), resident_blocks(load_gpu("tesla-c2050"), 32)
    (6, 8)
    """
    return occupancy(gpu, threads_per_block, registers, shared_bytes).blocks


def occupancy(gpu: GPU, threads_per_block: int, registers: int = 0, shared_bytes: int = 0) -> Occupancy:
    """Return what one SM holds of a kernel, by the rules of NVIDIA's occupancy calculator.

    Args:
        gpu: its limits and architecture.
        threads_per_block: threads of a block, 1 or more.
        registers: 32-bit registers that a thread needs; 0 when unknown, which sets no limit.
        shared_bytes: shared memory a block asks for.

    Raises:
        InputError: a block that fits no SM.

    >>> from memsim.gpu.presets import load_gpu
    >>> held = occupancy(load_gpu("tesla-v100"), 128, registers=37)
    >>> held.blocks, held.fraction, held.limiters
    (12, 0.75, ('registers',))
    """
    assert threads_per_block >= 1 and registers >= 0 and shared_bytes >= 0
    units, sm = gpu.architecture, gpu.sm
    warps = -(-threads_per_block // sm.warp_size)
    shared = _up(shared_bytes + units.reserved_shared_bytes, units.shared_unit)
    needs = (  # what of, what one block takes, what there is
        ("threads", threads_per_block, sm.max_threads),
        ("warps", warps, sm.max_warps),
        ("registers", _registers_checked(gpu, warps, registers), sm.registers),
        ("shared bytes", shared, sm.shared_bytes),
    )
    for what, need, available in needs:
        if need > available:
            raise InputError(gpu.name, "block", f"needs {need} {what}; give a block that needs at most {available}")
    max_warps = min(sm.max_warps, sm.max_threads // sm.warp_size)
    limits = {"warps": max_warps // warps, "blocks": sm.max_blocks}
    if registers:
        limits["registers"] = _blocks_by_registers(gpu, warps, registers)
    if shared:
        limits["shared memory"] = sm.shared_bytes // shared
    return Occupancy(limits, warps, max_warps, shared)


def _up(number: int, unit: int) -> int:
    return -(-number // unit) * unit


def _registers_of_block(gpu: GPU, warps: int, registers: int) -> int:
    """Registers that 1.x gives to a block: of its warps, rounded up to an even number, together."""
    units = gpu.architecture
    return _up(_up(warps, units.warp_unit) * registers * gpu.sm.warp_size, units.register_unit)


def _registers_of_warp(gpu: GPU, registers: int) -> int:
    """Registers that 2.x and later give to a warp."""
    units = gpu.architecture
    unit = units.pair_unit if registers in units.pair_registers else units.register_unit
    return _up(registers * gpu.sm.warp_size, unit)


def _registers_checked(gpu: GPU, warps: int, registers: int) -> int:
    """Registers that the launch check asks for: as if the block's warps filled all partitions evenly."""
    units = gpu.architecture
    if units.block_registers:
        return _registers_of_block(gpu, warps, registers)
    # What does not launch on 6.1, with its four partitions, does not launch on 6.0 either.
    return _registers_of_warp(gpu, registers) * _up(warps, units.checked_partitions or units.warp_unit)


def _blocks_by_registers(gpu: GPU, warps: int, registers: int) -> int:
    if gpu.architecture.block_registers:
        return gpu.sm.registers // _registers_of_block(gpu, warps, registers)
    partitions = gpu.architecture.warp_unit
    warps_held = partitions * (gpu.sm.registers // partitions // _registers_of_warp(gpu, registers))
    return warps_held // warps
