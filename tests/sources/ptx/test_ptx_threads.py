"""Random programs: warps in lockstep do what threads do one at a time, and their rows say so."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from budget import seeds
from ptx_traces import lane_accesses

from experiments.silicon.random_programs.control_flow import WORDS, Program, for_oracle
from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, execute, trace_launch
from tests.oracles import ptx_threads

THREADS, BLOCKS = 48, 2
GPU = load_gpu("a100")


def _launch(text: str, words: np.ndarray) -> tuple[PtxLaunch, DeviceMemory, int]:
    memory = DeviceMemory()
    address = memory.add(words, "words")
    return PtxLaunch(text, "program", (BLOCKS, 1, 1), (THREADS, 1, 1), [address]), memory, address


@pytest.mark.parametrize("seed", seeds(40))
def test_a_random_program(seed, tmp_path):
    text = Program(seed, THREADS).text
    start = np.random.default_rng(seed).integers(0, 1 << 32, WORDS, np.uint32)
    expected = start.tolist()
    blocks = ptx_threads.run(for_oracle(text), THREADS, BLOCKS, expected)

    words = start.copy()
    launch, memory, _ = _launch(text, words)
    execute(launch, memory)
    assert words.tolist() == expected

    for check in (False, True):
        words = start.copy()
        launch, memory, address = _launch(text, words)
        trace = trace_launch(launch, memory, tmp_path / f"{check}.h5", GPU, "all", check=check)
        assert not check or words.tolist() == expected
        found = lane_accesses(trace, {"words": address, "own": 0})
        for block, threads in enumerate(blocks):
            for number, thread in enumerate(threads):
                assert Counter(found[block, number]) == Counter(thread.accesses), (check, block, number)
