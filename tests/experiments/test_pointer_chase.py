"""The study's experiment: a list chased in pieces is a list chased whole; two partitions of L2 make two plateaus."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.pointer_chase.boards import BOARDS, chosen, curve
from experiments.pointer_chase.chain import LINE, at_once, latency, pieces
from memsim.calibration.simulated import SimulatedDevice
from memsim.calibration.walks import laps
from memsim.gpu.presets import load_gpu, override


def small(name: str, l2_bytes: int):
    return override(load_gpu(name), {"l2.size_bytes": l2_bytes})


@pytest.mark.parametrize("elements", [100, 4512, 4513, 100_000, 200_000])
def test_the_pieces_of_a_lap_are_the_lap(elements):
    first, chased, steps = pieces(elements)
    threads = at_once(elements)
    assert (first + chased + threads * steps).tolist() == [*first[1:], elements]
    assert (chased >= min(elements, 250)).all() and (chased < 250 + threads).all() or len(first) == 1


@pytest.mark.slow
def test_list_chased_in_pieces_takes_equal_time():
    """In the transition from L2 to memory, where part of a lap misses; the whole walk is that of another study."""
    gpu = small("tesla-v100", 786432)
    elements = 6300
    path = np.concatenate([[0], 1 + np.random.default_rng(1).permutation(elements - 1)])
    # Where a list begins decides which sets it fills (284 to 291 cycles); pieces begin everywhere.
    whole = np.mean(
        [laps(SimulatedDevice(gpu), (path + begin) * LINE, 3)[-1].mean for begin in (0, 35, 256, 1000, 4096)]
    )
    assert 212 < whole < 400
    # The pieces' beginnings are read from arrays of 35 lines more: 17 times as many misses of the 6300 accesses.
    assert whole < latency(gpu, elements * LINE / 1024, iterations=elements) < whole + 213 * 35 * 17 / elements


@pytest.mark.slow
def test_list_in_one_l2_partition_hits_nearby():
    """Each line's home is near for half of them. Beyond one partition these come from memory, the others from afar."""
    gpu = small("a100", 16 * 80 * 1024)  # two partitions of 640 KB
    device = SimulatedDevice(gpu).without_l1()
    near, far = gpu.l2.hit_latency_cycles, gpu.l2.hit_latency_cycles + gpu.l2.partition_cycles
    (fits,) = laps(device, np.arange(4096) * LINE, 2)[1:]
    assert fits.mean == pytest.approx(near, abs=2)  # less to reply with than a sector of L1
    (longer,) = laps(device, np.arange(8000) * LINE, 2)[1:]  # 1000 KB
    assert longer.within(near * 1.05) == 0
    assert longer.within(far * 1.02) == pytest.approx(4000, rel=0.02)
    (longest,) = laps(device, np.arange(16000) * LINE, 2)[1:]  # 2000 KB: neither partition keeps its half
    assert longest.within(far * 1.02) == 0


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.gpu)
def test_every_gpu_has_curve_with_rows_on_plateaus(board):
    kb, cycles, iterations = curve(board)
    assert (np.diff(kb) > 0).all() and (cycles > 20).all() and (iterations >= 10**6).all()
    rows = kb[chosen(board, kb, quick=False)]
    ranges = [*board.plateaus.values(), *(transition.within for transition in board.transitions)]
    assert all(((rows >= low) & (rows <= high)).any() for low, high in ranges)
