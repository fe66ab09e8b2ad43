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


# Each thread stores its number to `words`; then it stores to `out` at the number that its neighbour's word holds.
ENTANGLED = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry entangled(.param .u64 words, .param .u64 numbers, .param .u64 out)
{
 .reg .b32 %r<8>; .reg .b64 %rd<12>;
 mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4; xor.b32 %r2, %r1, 1; mul.wide.u32 %rd2, %r2, 4;
 ld.param.u64 %rd3, [words]; ld.param.u64 %rd4, [numbers]; ld.param.u64 %rd5, [out];
 add.s64 %rd6, %rd3, %rd1; st.global.b32 [%rd6], %r1;
 bar.sync 0;
 add.s64 %rd7, %rd4, %rd2; ld.global.b32 %r3, [%rd7];
 mul.wide.u32 %rd8, %r3, 4; add.s64 %rd9, %rd5, %rd8; mul.lo.s32 %r4, %r3, %r3; st.global.b32 [%rd9], %r4;
 ret;
}
"""


def entangled(same: bool) -> tuple[PtxLaunch, DeviceMemory]:
    """The kernel above; it loads the array that it stores to, or another one that holds the same numbers."""
    memory, numbers = DeviceMemory(), np.arange(32, dtype=np.uint32)
    words, others, out = (
        memory.add(values, name)
        for values, name in ((np.zeros(32, np.uint32), "words"), (numbers, "others"), (np.zeros(32, np.uint32), "out"))
    )
    return PtxLaunch(ENTANGLED, "entangled", (1, 1, 1), (32, 1, 1), [words, words if same else others, out]), memory


def accesses(launch: PtxLaunch, memory: DeviceMemory, **how: bool) -> tuple[KernelRun, list[list[int]]]:
    """A run of all blocks, and the rows that it logged."""
    run = KernelRun(as_machine_code(launch, 80), memory, tracing=True, **how)
    run.blocks(np.arange(launch.n_blocks))
    chunk = run.chunk(launch.n_blocks, 0)
    return run, [column.tolist() for column in (chunk.op, chunk.base, chunk.stride, chunk.mask, chunk.addresses)]


@needs_machine_code
@pytest.mark.parametrize("same", [False, True])
def test_loads_of_stored_arrays_are_noticed(same):
    run, rows = accesses(*entangled(same), check=False, separate=True)
    assert run.has_assumed_wrongly == same
    assert (rows == accesses(*entangled(same), check=True)[1]) != same


@needs_machine_code
@pytest.mark.parametrize("name", ["spmv", "histogram"])
def test_kernels_access_the_same_with_separate_arrays(name):
    run, rows = accesses(*CASES[name]().launch(80), check=False, separate=True)
    whole, every = accesses(*CASES[name]().launch(80), check=True)
    assert rows == every
    assert not run.has_assumed_wrongly
    assert np.count_nonzero(run.program.code[:, OP] == Micro.nop) > np.count_nonzero(
        whole.program.code[:, OP] == Micro.nop
    )
