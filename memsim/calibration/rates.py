"""How much L2 and memory carry: from streams of many warps, at growing numbers of blocks.

A stream is timed at two lengths; what the longer one takes more is its steady state, without its beginning and end.
"""

from __future__ import annotations

import numpy as np

from memsim.calibration.simulated import SimulatedDevice
from memsim.calibration.walks import WARPS, AccessStream, WalkedGPU
from memsim.gpu.config import GPU
from memsim.gpu.presets import override
from memsim.trace.schema import OpKind

ACCESSES = 32  # of a warp, in the shorter stream
PASSES = 8  # of that stream through a ring in L2: the first fetches it, while the others wait or run ahead
SECTOR, WORD = 32, 4  # bytes
SAME = 0.03  # share by which equal rates may differ
MOST_FITS = 6  # of DRAM's clock

Curve = list[tuple[int, float]]  # blocks, bytes per cycle


def rate(device: WalkedGPU, stream: AccessStream) -> float:
    """Accesses of warps per cycle, in the steady state."""
    more = device.stream(stream, 2 * ACCESSES) - device.stream(stream, ACCESSES)
    return stream.blocks * WARPS * ACCESSES / max(1.0, more)


def slice_cycles(device: WalkedGPU, gpu: GPU, kind: OpKind) -> float:
    """SM cycles that one slice takes for one sector, all SMs asking for the same.

    Args:
        gpu: what is known.
        kind: loads ask for the sector, atomics and reductions for a word of it.

    Raises:
        RuntimeError: more SMs are faster, so that no slice is the limit.
    """
    width = SECTOR if kind is OpKind.load else WORD
    copies = gpu.l2.partitions if kind is OpKind.load else 1  # each partition has one to read
    blocks = max(1, gpu.sm.count // 2), gpu.sm.count
    half, all_ = (rate(device, AccessStream(kind, 1, SECTOR, width, n)) / copies for n in blocks)
    if gpu.sm.count == 1 or all_ > half * (1 + SAME):
        raise RuntimeError(f"{all_:.2f} per cycle with all SMs, {half:.2f} with half of them: the SMs are the limit")
    return 1 / all_


def integer_cycles(sm_cycles: float, gpu: GPU) -> int:
    """So many cycles of L2's clock, which must be a whole number in the model.

    Raises:
        RuntimeError: they are no whole number.
    """
    each = gpu.l2_clocks * sm_cycles
    cycles = max(1, round(each))
    if abs(cycles / each - 1) > SAME:
        raise RuntimeError(f"one in {each:.2f} cycles of L2's clock, which must be a whole number in the model")
    return cycles


def l2_curve(device: WalkedGPU, gpu: GPU) -> Curve:
    """Bytes a cycle that SMs get of what L2 holds, at growing numbers of blocks."""
    return [(n, l2_rate(device, gpu, n)) for n in _blocks(gpu)]


def l2_rate(device: WalkedGPU, gpu: GPU, blocks: int) -> float:
    """Bytes a cycle that so many blocks get of what L2 holds."""
    line = gpu.l1.line_bytes
    ring = min(max(1, gpu.l2.size_bytes // 4 // line), blocks * WARPS * ACCESSES // PASSES)
    return line * rate(device, AccessStream(OpKind.load, ring, line, line, blocks))


def dram_curve(device: WalkedGPU, gpu: GPU) -> Curve:
    """Bytes a cycle of what nobody has read before, at growing numbers of blocks."""
    return [(n, _dram_rate(device, gpu, n)) for n in _blocks(gpu)]


def dram_clock(gpu: GPU, curve: Curve) -> float:
    """The clock of the memory at which a simulated GPU reaches the rate that a curve ends at, MHz.

    Args:
        gpu: what is known; its own clock is where the search begins.

    Raises:
        RuntimeError: at none; another limit comes first.
    """
    blocks, target = curve[-1]
    clock = gpu.dram.clock_mhz
    for _ in range(MOST_FITS):
        reached = _dram_rate(SimulatedDevice(override(gpu, {"dram.clock_mhz": clock})), gpu, blocks)
        if abs(reached / target - 1) <= SAME / 3:
            return clock
        clock = round(clock * target / reached, 1)
    raise RuntimeError(f"streams reach {target:.1f} bytes per cycle, simulated ones {reached:.1f} at {clock} MHz")


def _dram_rate(device: WalkedGPU, gpu: GPU, blocks: int) -> float:
    line = gpu.l1.line_bytes
    return line * rate(device, AccessStream(OpKind.load, blocks * WARPS * 2 * ACCESSES, line, line, blocks))


def _blocks(gpu: GPU) -> list[int]:
    """From one block to two an SM, at steps that double."""
    powers = 1 << np.arange(gpu.sm.count.bit_length())
    return sorted({*powers.tolist(), gpu.sm.count, 2 * gpu.sm.count})
