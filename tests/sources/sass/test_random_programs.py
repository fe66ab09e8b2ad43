"""Random programs leave the same memory as PTX and as the machine code that ptxas makes of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from budget import seeds
from sass_launches import both_ways, has_volta, needs_machine_code

from experiments.silicon.random_programs.control_flow import WORDS, Program
from experiments.silicon.random_programs.typed import THREADS as TYPED_THREADS
from experiments.silicon.random_programs.typed import TypedProgram, differing, words_of
from experiments.silicon.random_programs.wide import WideProgram
from memsim.sources.ptx import DeviceMemory, PtxLaunch

THREADS, BLOCKS = 48, 2
ARCHITECTURES = (*(70,) * has_volta, 75, 80, 86, 89, 90, 100, 120)
OF_ALL_TYPES = [one for one in ARCHITECTURES if one >= 80]  # halves have instructions that came with sm_80


@needs_machine_code
@pytest.mark.parametrize("seed", seeds(40))
def test_machine_code_leaves_the_memory_of_ptx(seed):
    text = Program(seed, THREADS).text.replace(".version 8.0\n.target sm_80", ".version 8.7\n.target sm_75")

    def make():
        memory, words = DeviceMemory(), np.random.default_rng(seed).integers(0, 1 << 32, WORDS, np.uint32)
        address = memory.add(words, "words")
        return PtxLaunch(text, "program", (BLOCKS, 1, 1), (THREADS, 1, 1), [address]), memory, [words]

    (expected,), (found,) = both_ways(make, ARCHITECTURES[seed % len(ARCHITECTURES)])
    assert found.tolist() == expected.tolist()


@needs_machine_code
@pytest.mark.parametrize("seed", seeds(20))
def test_instructions_of_all_types_give_ptx_bits(seed):
    assert not _differing(seed, OF_ALL_TYPES[seed % len(OF_ALL_TYPES)]).any()


@needs_machine_code
@pytest.mark.parametrize("seed", seeds(20))
def test_rare_instructions_give_ptx_bits(seed):
    assert not _differing(seed, 90, WideProgram).any()


@needs_machine_code
@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(138, id="both words of a constant of 64 bits"),
        pytest.param(149, id="IMNMX.S64"),
        pytest.param(905, id="halves that must not be fused"),
        pytest.param(1193, id="a negative zero is saturated"),
    ],
)
def test_what_random_programs_once_found_on_sm_120(seed):
    assert not _differing(seed, 120).any()


def _differing(seed: int, architecture: int, kind: Callable[[int], TypedProgram] = TypedProgram) -> np.ndarray:
    """Where a typed program's machine code leaves other words than its PTX does."""
    program = kind(seed)

    def make():
        memory, words = DeviceMemory(), words_of(seed)
        launch = PtxLaunch(program.text, "program", (1, 1, 1), (TYPED_THREADS, 1, 1), [memory.add(words, "words")])
        return launch, memory, [words]

    (expected,), (found,) = both_ways(make, architecture)
    return differing(expected, found)
