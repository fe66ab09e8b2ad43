"""The MWP/CWP model's view of a GPU: the parameters its file states, and the others from the machine it describes."""

from __future__ import annotations

from memsim.gpu.architecture import Coalescing
from memsim.gpu.config import GPU
from memsim.models.mwp_cwp import AnalyticMachine
from memsim.trace.coalescing_rules import SECTOR_BYTES

_DENSE_BYTES = 128  # what a warp with neighbouring words of four bytes asks for


def machine_of(gpu: GPU) -> AnalyticMachine:
    """Parameters of a GPU: those of its section ``[mwp_cwp]``, and for what that leaves out

    - issue_cycles: ``sm.issue_cycles`` / ``sm.issue_per_cycle``;
    - mem_ld_cycles: an access that misses everywhere on an idle machine;
    - departure delays: how long the SM's load-store unit, or its port from L2, is busy with 128 bytes in one piece, and
      with one transaction of scattered lanes.

    >>> from memsim.gpu.presets import load_gpu
    >>> machine_of(load_gpu("quadro-fx5600")).departure_del_uncoal_cycles
    10
    >>> machine_of(load_gpu("tesla-c2050")).mem_ld_cycles
    685
    """
    stated = gpu.mwp_cwp.model_dump(exclude_none=True)
    derived = {
        "issue_cycles": gpu.sm.issue_cycles / gpu.sm.issue_per_cycle,
        "mem_ld_cycles": idle_miss_cycles(gpu),
        "departure_del_coal_cycles": _busy_cycles(gpu, _DENSE_BYTES, _DENSE_BYTES // _transaction_bytes(gpu)),
        "departure_del_uncoal_cycles": _busy_cycles(gpu, _fetched_bytes(gpu), 1),
    }
    return AnalyticMachine(
        sms=gpu.sm.count, clock_mhz=gpu.sm.clock_mhz, bandwidth_gb_per_s=peak_bandwidth(gpu), **derived | stated
    )


def derived_parameters(gpu: GPU) -> list[str]:
    """Names of the parameters that the GPU's file does not state it.

    >>> from memsim.gpu.presets import load_gpu
    >>> derived_parameters(load_gpu("quadro-fx5600"))
    []
    """
    return [name for name, value in gpu.mwp_cwp.model_dump().items() if value is None]


def peak_bandwidth(gpu: GPU) -> float:
    """Bandwidth of the memory's data buses, in 10^9 bytes per second.

    >>> from memsim.gpu.presets import load_gpu
    >>> peak_bandwidth(load_gpu("quadro-fx5600"))
    76.8
    """
    dram = gpu.dram
    return dram.channels * SECTOR_BYTES / max(dram.timing.burst, dram.timing.ccd) * dram.clock_mhz / 1000


def idle_miss_cycles(gpu: GPU) -> int:
    """SM cycles from load to use when nothing else is under way, no cache has the data and the DRAM bank is closed."""
    timing = gpu.dram.timing
    dram_clocks = timing.rcd + timing.cl + timing.burst
    bank = round(dram_clocks * gpu.sm.clock_mhz / gpu.dram.clock_mhz)
    return gpu.l2.hit_latency_cycles + gpu.dram.latency_cycles + bank


def _transaction_bytes(gpu: GPU) -> int:
    """Most bytes that one transaction of a dense load covers."""
    fetches_lines = gpu.l1.serves_global or gpu.architecture.coalescing is not Coalescing.lines
    return min(gpu.l1.line_bytes, _DENSE_BYTES) if fetches_lines else SECTOR_BYTES


def _fetched_bytes(gpu: GPU) -> int:
    """Bytes that one transaction of a scattered load brings to the SM."""
    return gpu.l1.sector_bytes if gpu.l1.serves_global else SECTOR_BYTES


def _busy_cycles(gpu: GPU, fetched_bytes: int, transactions: int) -> float:
    return max(transactions * gpu.sm.lookup_cycles, fetched_bytes / gpu.sm.reply_bytes_per_cycle)
