"""What a configuration's latencies mean for the simulation: where they are spent and how long a quantum may be."""

from __future__ import annotations

from memsim.gpu.config import GPU


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
