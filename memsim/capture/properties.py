"""The properties of the chosen GPU that programs see: the reply to the first message."""

from __future__ import annotations

from memsim.gpu.architecture import capability_number
from memsim.gpu.config import GPU

# Memory of a GPU in GiB (its data sheet), by preset; others have the default.
_MEMORY_GIB = {
    "a100": 40, "a40": 48, "b200": 180, "gh200": 96, "h100": 80, "h200": 141, "l40": 48, "l40s": 48, "p100": 16,
    "quadro-gv100": 32, "rtx-a6000": 48, "rtx2080ti": 11, "rtx3080": 10, "rtx4090": 24, "rtx5090": 32,
    "tesla-k80": 12, "tesla-v100": 16, "tesla-c2050": 3, "tesla-c1060": 4, "gtx480": 1,
}  # fmt: skip
DEFAULT_GIB = 16
_BUS_BITS = {"HBM2": 64, "HBM2E": 64, "HBM3": 32, "HBM3E": 32, "GDDR5": 32, "GDDR5X": 32, "GDDR6": 16, "GDDR6X": 16,
             "GDDR7": 8}  # fmt: skip  # of a channel
_DEFAULT_BLOCK_BYTES = 48 << 10  # of shared memory, which a block has unless it opts in to more
_SECTOR_BYTES = 32
LAUNCH_NS, COPY_NS = 2500, 1500  # where a preset does not state them
COPY_GB_PER_S = 24.0


def properties(gpu: GPU) -> str:
    """Lines "name value" for the client."""
    major, minor = capability_number(gpu.compute_capability)
    host, sm = gpu.host, gpu.sm
    block = gpu.architecture.shared_block_bytes
    bus_bits = gpu.dram.channels * _BUS_BITS.get(gpu.dram.kind.upper().split()[0], 32)
    values: dict[str, object] = {
        "name": f"memsim {gpu.name}",
        "compute_capability_major": major,
        "compute_capability_minor": minor,
        "has_persisting_l2": int(gpu.architecture.has_persisting_l2),
        "has_clusters": int(gpu.architecture.has_clusters),
        "sms": sm.count,
        "clock_khz": round(1000 * sm.clock_mhz),
        "memory_clock_khz": round(_peak_bytes_per_us(gpu) * 8 / (2 * bus_bits) * 1000),
        "memory_bus_bits": bus_bits,
        "memory_bytes": _MEMORY_GIB.get(gpu.name, DEFAULT_GIB) << 30,
        "l2_bytes": gpu.l2.size_bytes,
        "shared_per_sm": sm.shared_bytes,
        "shared_per_block": min(block, _DEFAULT_BLOCK_BYTES),
        "shared_per_block_optin": block,
        "reserved_shared_per_block": gpu.architecture.reserved_shared_bytes,
        "registers_per_sm": sm.registers,
        "registers_per_block": min(sm.registers, 1 << 16),
        "max_threads_per_sm": sm.max_threads,
        "max_threads_per_block": 1024,
        "max_blocks_per_sm": sm.max_blocks,
        "warp_size": sm.warp_size,
        "launch_overhead_ns": round(1000 * host.launch_us) if host.launch_us else LAUNCH_NS,
        "copy_latency_ns": round(1000 * host.copy_us) if host.copy_us else COPY_NS,
        "copy_bytes_per_us_h2d": 1000 * (host.to_gpu_gb_per_s or COPY_GB_PER_S),
        "copy_bytes_per_us_d2h": 1000 * (host.to_host_gb_per_s or COPY_GB_PER_S),
    }
    return "\n".join(f"{name} {value}" for name, value in values.items())


def _peak_bytes_per_us(gpu: GPU) -> float:
    """The peak rate of DRAM, which programs compute as 2 * memory clock * bus width."""
    return gpu.dram.channels * _SECTOR_BYTES * gpu.dram.clock_mhz / gpu.dram.timing.burst


def launch_milliseconds(gpu: GPU, separate: bool) -> float:
    """What the events around a launch see besides the kernel.

    Args:
        separate: each launch comes from the stream; else it is a node of a graph.
    """
    host = gpu.host
    if separate:
        return (host.launch_us or LAUNCH_NS / 1000) / 1000
    return (host.graph_node_us or 0) / 1000
