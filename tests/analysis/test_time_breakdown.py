"""What separates kernels from their best possible time, where the cause is known."""

from __future__ import annotations

import numpy as np
import pytest

import memsim
from memsim import Launch, Thread, workload
from memsim.analysis.speed_of_light import speed_of_light
from memsim.analysis.time_breakdown import TimeCause, time_breakdown

GPU, SMS = "tesla-v100", 80
BLOCK = 256


def strided(t: Thread, a, b, stride):
    b[t.global_id] = a[t.global_id * stride]


@workload
def copy(n: int = 1 << 16, stride: int = 1) -> Launch:
    a, b = np.zeros(n * stride, np.float32), np.zeros(n, np.float32)
    return Launch(strided, n // BLOCK, BLOCK, dict(a=a, b=b, stride=stride), registers=16)


def chased(t: Thread, links, out, steps):
    at = t.global_id % len(links)
    for _ in range(steps):
        at = links[at]
    out[t.global_id] = at


@workload
def chase(warps: int = SMS, steps: int = 32) -> Launch:
    """Every thread of a warp follows the same links, each a sector away from the one before."""
    links = ((np.arange(1 << 12) + 8) % (1 << 12)).astype(np.int32)
    out = np.zeros(warps * 32, np.int32)
    return Launch(chased, warps, 32, dict(links=links, out=out, steps=steps), registers=16)


def reread(t: Thread, a, out, times):
    total = a[t.global_id]
    for step in range(1, times):
        total = total + a[(t.global_id + step * (len(a) // times)) % len(a)]
    out[t.global_id] = total


@workload
def several_readings(n: int = 1 << 19, times: int = 4) -> Launch:
    """Every thread reads elements that are far apart, so that each is read several times, long after the last time."""
    a, out = np.zeros(n, np.float32), np.zeros(n, np.float32)
    return Launch(reread, n // BLOCK, BLOCK, dict(a=a, out=out, times=times), registers=16)


def broken_down(kernel, gpu=GPU, **parameters):
    """Milliseconds by cause, and the result."""
    trace = memsim.trace(kernel, gpu=gpu, blocks="all", **parameters)
    result = memsim.simulate(trace, gpu, trials=2, jobs=1)
    found = time_breakdown(result)
    assert found.milliseconds == pytest.approx(result.kernel_time.mean)
    assert found.best_possible == pytest.approx(speed_of_light(result).milliseconds)
    assert min(part.milliseconds for part in found.parts) >= 0
    assert [part.cause for part in found.parts] == list(TimeCause)
    by_cause = {part.cause: part.milliseconds for part in found.parts}
    assert by_cause[TimeCause.launch] + by_cause[TimeCause.needed] == pytest.approx(found.best_possible)
    return by_cause, result


def largest(by_cause):
    return max(list(TimeCause)[2:], key=lambda cause: by_cause[cause])


def test_strided_copy_loses_to_extra_sectors():
    """A lane in each sector: DRAM moves eight times the bytes that are read."""
    found, _ = broken_down(copy, n=1 << 18, stride=8)
    dense, _ = broken_down(copy, n=1 << 18)
    assert largest(found) == TimeCause.sectors and dense[TimeCause.sectors] == 0


def test_few_blocks_lose_to_idle_sms():
    found, _ = broken_down(chase, warps=SMS // 8)
    assert largest(found) == TimeCause.idle


def test_pointer_chase_loses_to_latency():
    """A warp on each SM, as many as the launch has: no SM is idle, none could hold more."""
    found, result = broken_down(chase)
    assert largest(found) == TimeCause.latency and found[TimeCause.idle] == found[TimeCause.occupancy] == 0
    assert found[TimeCause.latency] > 0.8 * (result.kernel_time.mean - found[TimeCause.launch])


def test_evicted_data_are_repeated_traffic():
    """2 MB are read four times, with 768 KB of L2: three times more than once, over the bandwidth."""
    found, _ = broken_down(several_readings, "tesla-c2050")
    assert largest(found) == TimeCause.repeated
    once, _ = broken_down(several_readings, "tesla-c2050", times=1)
    dram = memsim.load_gpu("tesla-c2050").dram
    bytes_per_ms = 32 * dram.channels * dram.clock_mhz * 1000 / dram.timing.burst
    more = found[TimeCause.repeated] - once[TimeCause.repeated]
    assert more == pytest.approx(3 * 4 * (1 << 19) / bytes_per_ms, rel=0.01)


def conflicting(t: Thread, out, stride):
    words = t.shared(32 * 32)
    for _ in range(16):
        words[t.thread_idx.x * stride] = 1.0
    out[t.global_id] = words[t.thread_idx.x]


@workload
def banks(stride: int = 1) -> Launch:
    out = np.zeros(SMS * 16 * 32, np.float32)
    return Launch(conflicting, SMS * 16, 32, dict(out=out, stride=stride), registers=16)


def test_one_bank_loses_to_bank_conflicts():
    """Stores of 32 lanes to one bank take 32 passes, 31 too many, of which an SM makes one per cycle."""
    found, result = broken_down(banks, stride=32)
    sm = memsim.load_gpu(GPU).sm
    least = 16 * 16 * 31 * sm.pass_cycles / sm.clock_mhz / 1000
    assert largest(found) == TimeCause.conflicts
    assert found[TimeCause.conflicts] == pytest.approx(least, rel=0.15)
    assert broken_down(banks)[0][TimeCause.conflicts] == 0


def test_tail_is_what_last_blocks_wait_alone():
    """Two blocks of instructions share an SM for two thirds of the time, then one block is alone."""
    found, result = broken_down(delays)
    blocks_time = result.kernel_time.mean - found[TimeCause.launch]
    assert largest(found) == TimeCause.tail and found[TimeCause.tail] == pytest.approx(blocks_time / 3, rel=0.05)


def delayed(t: Thread, out):
    t.compute(4096, chain=4096)
    out[t.global_id] = 1.0


@workload
def delays() -> Launch:
    """As many blocks as the GPU holds, two per SM, and one more."""
    blocks = 2 * SMS + 1
    return Launch(delayed, blocks, 1024, dict(out=np.zeros(blocks * 1024, np.float32)), registers=16)
