"""Rows of `sizes.csv`: a board's bandwidth against the bytes that are read over and over, and the walks of each."""

from __future__ import annotations

from math import ceil

from experiments.bandwidth.rows import Row
from experiments.bandwidth.walks import Walk, gb_per_second
from memsim.gpu.config import GPU

L1_AND_L2 = "gpu-cache"  # each SM reads all of a buffer
_PAIRS = 32  # of a block of gpu-l2-cache
_CACHE_THREADS, _L2_THREADS = 512, 1024
_PART_KB = 512  # that a block of gpu-l2-cache reads, of 64 doubles a thread
_MOST_KB = 6 << 10  # of a buffer far larger than L2 that are read: every lap misses as the first one does
_LAPS_KB = 1 << 10  # that are read before time counts, whole laps
_WAVES = 2  # of the blocks whose time counts


def rate(row: Row, gpu: GPU) -> float:
    """GB/s of a row's program on `gpu`, once what stays in the caches is there; the preset has the board's clock."""
    assert float(row["clock_mhz"]) == gpu.sm.clock_mhz, (row["gpu"], row["clock_mhz"])
    kb = int(row["kb"])
    if row["program"] == L1_AND_L2:
        return gb_per_second(*_laps(kb, gpu), gpu, apart=False)
    return gb_per_second(*_parts(kb, gpu), gpu, apart=True)  # of 200,000 blocks


def _laps(kb: int, gpu: GPU) -> tuple[Walk, Walk]:
    """A block on each SM reads both halves side by side, lap after lap: some laps, and twice as many."""
    half = kb * 1024 // 8
    pairs = half // _CACHE_THREADS

    def read(pairs: int, laps: int) -> Walk:
        return Walk("float", _CACHE_THREADS, gpu.sm.count, 1, 0, half, _CACHE_THREADS, pairs, laps)

    if kb <= _MOST_KB:
        few = max(1, _LAPS_KB // kb)
        return read(pairs, few), read(pairs, 2 * few)
    most = pairs * _MOST_KB // kb
    return read(most // 3, 1), read(most, 1)


def _parts(kb: int, gpu: GPU) -> tuple[Walk, Walk]:
    """As many blocks as fill the SMs and read all parts, each one part; and two waves more."""
    parts = kb // _PART_KB
    wave = gpu.sm.max_threads // _L2_THREADS * gpu.sm.count
    waves = ceil(max(parts, wave) / wave)

    def read(waves: int) -> Walk:
        return Walk(
            "double", _L2_THREADS, waves * wave, parts, 2 * _L2_THREADS, _L2_THREADS, 2 * _L2_THREADS * parts,
            _PAIRS,
        )  # fmt: skip

    return read(waves + _WAVES), read(waves + 2 * _WAVES)  # the first reading's misses reach into what follows it
