"""Occupancy = NVIDIA's own header on random kernels of all compute capabilities, and the examples that are printed."""

from __future__ import annotations

import csv
from functools import cache

import pytest
from places import DATA

from memsim.gpu.config import GPU
from memsim.gpu.occupancy import occupancy, resident_blocks
from memsim.gpu.presets import load_gpu, override
from memsim.support.errors import InputError

LINES = [line for line in (DATA / "occupancy.csv").open() if not line.startswith("#")]
ROWS = list(csv.DictReader(LINES))
BITS = {"warps": 1, "registers": 2, "shared memory": 4, "blocks": 8}  # cudaOccLimitingFactor
LIMITS = {row["capability"]: row for row in ROWS}


@cache
def gpu_of(capability: str) -> GPU:
    limits = LIMITS[capability]
    changes: dict[str, object] = {
        "compute_capability": capability,
        "sm.max_threads": int(limits["max_threads"]),
        "sm.max_warps": int(limits["max_threads"]) // 32,
        "sm.max_blocks": int(limits["max_blocks"]),
        "sm.registers": int(limits["sm_registers"]),
        "sm.shared_bytes": int(limits["sm_shared_bytes"]),
        "l1.enabled": not capability.startswith("1"),
    }
    return override(load_gpu("tesla-c2050"), changes)


def test_the_table_covers_all_capabilities():
    assert len(LIMITS) == 18 and min(LIMITS) == "1.0" and max(LIMITS) == "9.0"


@pytest.mark.parametrize("capability", sorted(LIMITS))
def test_nvidias_header_agrees(capability):
    for row in (row for row in ROWS if row["capability"] == capability):
        need = int(row["threads"]), int(row["registers"]), int(row["shared_bytes"])
        if row["blocks"] == "0":
            with pytest.raises(InputError, match="block needs"):
                occupancy(gpu_of(capability), *need)
            continue
        held = occupancy(gpu_of(capability), *need)
        assert held.blocks == int(row["blocks"]), row
        assert sum(BITS[name] for name in held.limiters) == int(row["limits"]), row


PRINTED = [  # capability, threads, registers, shared bytes, blocks, occupancy, limiter
    # CUDA C++ Best Practices Guide, section Calculating Occupancy
    ("7.0", 128, 37, 0, 12, 0.75, "registers"),
    ("7.0", 320, 37, 0, 4, 0.625, "registers"),
    # CUDA C Programming Guide, section Multiprocessor Level: 16 registers fill 1.2 with two blocks, one more holds one;
    # 64 registers likewise on 6.x
    ("1.2", 512, 16, 0, 2, 1.0, "registers"),
    ("1.2", 512, 17, 0, 1, 0.5, "registers"),
    ("6.0", 512, 64, 0, 2, 0.5, "registers"),
    ("6.0", 512, 65, 0, 1, 0.25, "registers"),
    # Torres et al., HPCS 2011, section IV: 8 x 8 threads meet the eight blocks of Fermi, 16 x 16 fill it with six, and
    # 192 are the fewest that fill it
    ("2.0", 64, 0, 0, 8, 1 / 3, "blocks"),
    ("2.0", 256, 0, 0, 6, 1.0, "warps"),
    ("2.0", 192, 0, 0, 8, 1.0, "blocks"),
    # Hong and Kim, ISCA 2009, table 2: five blocks of 128 threads. What limits them is not printed; 12 registers do.
    ("1.0", 128, 12, 0, 5, 20 / 24, "registers"),
]


@pytest.mark.parametrize(("capability", "threads", "registers", "shared", "blocks", "fraction", "limiter"), PRINTED)
def test_printed_examples(capability, threads, registers, shared, blocks, fraction, limiter):
    held = occupancy(gpu_of(capability), threads, registers, shared)
    assert (held.blocks, held.fraction) == (blocks, pytest.approx(fraction)) and limiter in held.limiters
    assert resident_blocks(gpu_of(capability), threads, registers, shared) == blocks


def test_odd_warp_counts_round_up_for_registers_only():
    """CUDA C Programming Guide 4.2, Hardware Multithreading: on 1.x, 3 warps hold the registers of 4, and 3 slots."""
    held = occupancy(gpu_of("1.0"), 96, registers=16)
    assert held.limits["warps"] == 8 and held.limits["registers"] == 8192 // (4 * 16 * 32)


def test_kernel_without_shared_memory_still_holds_systems_kilobyte():
    """CUDA C++ Programming Guide, compute capability 8.x: 1 KB of every block is reserved for the system."""
    assert occupancy(gpu_of("8.0"), 32).limits["shared memory"] == 164
    assert "shared memory" not in occupancy(gpu_of("7.5"), 32).limits
