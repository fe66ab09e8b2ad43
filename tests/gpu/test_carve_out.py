"""Shared memory takes the least share of a unified L1 that holds the resident blocks'."""

import numpy as np
import pytest

import memsim
from memsim import Launch, workload
from memsim.gpu.carve_out import carved
from memsim.gpu.occupancy import occupancy
from memsim.gpu.presets import load_gpu, override
from memsim.support.errors import InputError

KB = 1 << 10


@pytest.mark.parametrize(
    ("gpu", "threads", "registers", "shared", "reserved"),
    [
        ("tesla-v100", 256, 32, 0, 8),  # the least there is
        ("tesla-v100", 256, 32, 3 * KB, 32),  # 8 blocks: 24 KB
        ("tesla-v100", 256, 128, 3 * KB, 8),  # registers hold 2 blocks: 6 KB
        ("tesla-v100", 128, 32, 5 * KB, 96),  # 16 blocks: 80 KB
        ("tesla-v100", 1024, 32, 48 * KB, 96),
        ("a100", 1024, 32, 0, 32),  # as many blocks as there may be each keep 1 KB
        ("a100", 1024, 32, 40 * KB, 100),  # 2 blocks of 41 KB
        ("tesla-c2050", 256, 20, 4 * KB, 0),  # L1 has memory of its own
    ],
)
def test_the_least_that_holds_all_resident_blocks(gpu, threads, registers, shared, reserved):
    machine = load_gpu(gpu)
    assert carved(machine, occupancy(machine, threads, registers, shared)).l1.reserved_bytes == reserved * KB


def test_every_set_keeps_a_way():
    gpu = override(load_gpu("tesla-v100"), {"l1.ways": 2, "l1.reserved_bytes": 0, "l1.reserved_from": "ways"})
    assert carved(gpu, occupancy(gpu, 1024, 32, 48 * KB)).l1.reserved_bytes == 64 * KB


@pytest.mark.parametrize(
    ("reserved_kb", "sets", "ways_lacking"),
    [(8, 256, 64), (32, 256, 256), (63, 256, 504), (64, 128, 0), (72, 128, 64), (96, 64, 0), (127, 2, 0)],
)
def test_sets_go_before_ways(reserved_kb, sets, ways_lacking):
    """128 KB of 4 ways: 256 sets, of which halves go while the other half's 4 ways hold what is left."""
    l1 = override(load_gpu("tesla-v100"), {"l1.reserved_bytes": reserved_kb * KB}).l1
    assert (l1.sets, l1.reserved_ways) == (sets, ways_lacking)
    assert (l1.sets * l1.ways - l1.reserved_ways) * l1.line_bytes == (128 - reserved_kb) * KB


def test_odd_number_of_sets_keeps_line_in_each():
    # 384 sets: 3 that cannot be halved.
    gpu = override(
        load_gpu("a100"), {"l1.carve_outs": [], "l1.ways": 4, "l1.set_hash": "rotated", "l1.reserved_from": "sets"}
    )
    with pytest.raises(InputError, match=f"give a multiple of line_bytes up to {192 * KB - 3 * 128}, which leaves"):
        override(gpu, {"l1.reserved_bytes": 192 * KB - 2 * 128})


def test_sizes_on_offer_fit_the_l1():
    with pytest.raises(InputError, match="l1.carve_outs has 131072; give multiples of line_bytes below size_bytes"):
        override(load_gpu("tesla-v100"), {"l1.carve_outs": [131072]})


def twice(t, a, out, kb):
    """Reads 48 KB, and again; shared memory is only asked for."""
    tile = t.shared(256 * kb, np.float32)
    tile[t.thread_idx.x] = 0.0
    total = t.var(0.0)
    for _ in t.range(2):
        for k in t.range(12):
            total += a[1024 * k + t.thread_idx.x]
    out[t.global_id] = total


@workload
def reread(kb: int = 4) -> Launch:
    arguments = dict(a=np.zeros(12 * 1024, np.float32), out=np.zeros(1024, np.float32), kb=kb)
    return Launch(twice, grid=1, block=1024, arguments=arguments)


def test_kernel_with_shared_memory_has_less_l1():
    found = {}
    for kb in (4, 96):
        trace = memsim.trace(reread, gpu="tesla-v100", kb=kb)
        result = memsim.simulate(trace, "tesla-v100", trials=1, settings={"stochastic.start_alignment": False})
        found[kb] = (result.trials.about["gpu"]["l1"]["reserved_bytes"], result.l1_read.mean)
    assert found[4] == (8 * KB, 0.5)
    assert found[96][0] == 96 * KB and found[96][1] < 0.3
