"""Traces of machine code are the same without the values that no address and no branch depends on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from budget import seeds
from ptx_kernels import CASES
from sass_launches import as_machine_code, needs_machine_code

from experiments.silicon.random_programs.control_flow import WORDS, Program
from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, trace_launch
from memsim.sources.ptx.machine.codes import OP, Micro
from memsim.sources.ptx.trace import KernelRun

THREADS = 48


def digest(launch: PtxLaunch, memory: DeviceMemory, folder: Path, check: bool) -> str:
    """The digest of a trace of two blocks, with all values or with those that it needs."""
    code = as_machine_code(launch, 80)
    return trace_launch(code, memory, folder / f"{check}.h5", load_gpu("a100"), blocks="0:2", check=check).digest


@needs_machine_code
@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_kernels_access_the_same_without_values(name, tmp_path):
    every, needed = (digest(*CASES[name]().launch(80), tmp_path, check) for check in (True, False))
    assert every == needed


@needs_machine_code
@pytest.mark.parametrize("seed", seeds(6))
def test_random_programs_access_the_same_without_values(seed, tmp_path):
    digests = []
    for check in (True, False):
        memory, words = DeviceMemory(), np.random.default_rng(seed).integers(0, 1 << 32, WORDS, np.uint32)
        launch = PtxLaunch(Program(seed, THREADS).text, "program", (2, 1, 1), (THREADS, 1, 1), [memory.add(words, "w")])
        digests.append(digest(launch, memory, tmp_path, check))
    assert digests[0] == digests[1]


@needs_machine_code
@pytest.mark.parametrize(
    ("name", "capability", "by_data"),
    [
        ("matmul", 80, False),
        ("matmul", 90, False),
        ("transpose", 80, False),
        ("spmv", 80, True),
        ("histogram", 80, True),
    ],
)
def test_addresses_by_data_need_values_of_memory(name, capability, by_data):
    launch, memory = CASES[name]().launch(capability)
    program = KernelRun(as_machine_code(launch, capability), memory, check=False, tracing=True).program
    assert program.by_data == by_data
    assert not {Micro.mma, Micro.wgmma} & {*program.code[:, OP].tolist()}
