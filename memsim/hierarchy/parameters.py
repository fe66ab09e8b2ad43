"""The configuration as the compiled loops read it: a record per level, and what several levels use.

Latencies say where time is spent, and how long a quantum may be.
"""

from __future__ import annotations

from enum import StrEnum
from math import gcd

import numpy as np

from memsim.gpu.choices import Inclusion
from memsim.gpu.config import GPU
from memsim.gpu.section import Section


def record_of(**values: int) -> np.ndarray:
    """One record of integers, a field per name."""
    out = np.zeros(1, np.dtype([(name, "<i8") for name in values]))
    for name, value in values.items():
        out[name] = value
    return out


def code_of(choice: StrEnum) -> int:
    """The number that the compiled loops have for a choice: its place in its enumeration."""
    return list(type(choice)).index(choice)


def as_configured(section: Section, *names: str) -> dict[str, int]:
    """Fields of a section of the configuration as they are, 0 where one is None, codes of choices."""
    values = {name: getattr(section, name) or 0 for name in names}
    return {name: code_of(value) if isinstance(value, StrEnum) else value for name, value in values.items()}


def shared(array: np.ndarray) -> np.ndarray:
    """A read-only plain view: the compiled loops then see one type, whether the array is mapped from a file or not."""
    view = np.asarray(array).view(np.ndarray)
    view.flags.writeable = False
    return view


def clock_ratio(clock_mhz: float, gpu: GPU) -> tuple[int, int]:
    """Cycles of a clock in how many SM cycles, as whole numbers.

    >>> from memsim.gpu.presets import load_gpu
    >>> clock_ratio(690.0, load_gpu("tesla-v100"))
    (1, 2)
    """
    up, down = round(clock_mhz * 1000), round(gpu.sm.clock_mhz * 1000)
    shared = gcd(up, down)
    return up // shared, down // shared


def sharer_words(gpu: GPU) -> int:
    """32-bit words that name the SMs which share a line; an L2 that is not inclusive keeps none."""
    return -(-gpu.sm.count // 32) if gpu.l2.inclusion is Inclusion.inclusive else 0


def reply_cycles(gpu: GPU) -> int:
    """From a lookup in L2 to the head of the reply at the SM; the link's own time completes `l2.hit_latency_cycles`.

    The way there and the way back are both counted here: seen from one SM only their sum matters, so L2's clock is
    kept behind by the way there.
    """
    return max(1, gpu.l2.hit_latency_cycles - -(-gpu.l1.sector_bytes // gpu.sm.reply_bytes_per_cycle))


def dram_answer_cycles(gpu: GPU) -> int:
    """Shortest time from a request's arrival at its channel to its answer at L2, in SM cycles."""
    t = gpu.dram.timing
    return int((min(t.cl, t.cwl) + t.burst) * gpu.sm.clock_mhz // gpu.dram.clock_mhz) + gpu.dram.latency_cycles


def crossing_cycles(gpu: GPU) -> tuple[int, int]:
    """From a slice to the one across, in the other partition, and back."""
    return gpu.l2.partition_cycles // 2, gpu.l2.partition_cycles - gpu.l2.partition_cycles // 2


def longest_quantum(gpu: GPU) -> int:
    """Longest quantum, in SM cycles, such that no answer to a request made in it, nor what crosses, is due in it."""
    crossing = [crossing_cycles(gpu)[0]] if gpu.l2.partitions > 1 else []
    return max(1, min(reply_cycles(gpu), dram_answer_cycles(gpu), gpu.sm.launch_cycles, *crossing))


def horizon(gpu: GPU) -> int:
    """How far behind the start of a quantum an answer to one of its requests can lie, in SM cycles."""
    t = gpu.dram.timing
    clocks = sum(t.resolved().values()) - (t.refi or 0) + 8 * max(t.ccd, t.burst) + t.rp + t.rcd + t.cl
    dram = int(clocks * gpu.sm.clock_mhz / gpu.dram.clock_mhz) + 1 + gpu.dram.latency_cycles
    return longest_quantum(gpu) + max(dram, reply_cycles(gpu), gpu.l2.partition_cycles)
