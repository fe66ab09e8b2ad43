"""Kernels of Triton, NVRTC and Numba: what they compute is numpy's, and addresses alone are those of all values."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from ptx_kernels import CASES, PTX, persistent_tma
from ptx_traces import accesses

from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import execute, trace_launch
from memsim.trace.schema import Flag, OpKind, Space

GPU = load_gpu("a100")
WHERE = [(name, capability) for name in CASES for capability in (80, 90)]


def _agrees(case) -> None:
    expected = case.expected().astype(np.float64)
    assert np.abs(case.arrays[-1].astype(np.float64) - expected).max() <= case.within
    assert np.abs(expected).max() > 0.01


@pytest.mark.parametrize(("name", "capability"), WHERE)
def test_it_computes_what_numpy_does(name, capability):
    case = CASES[name]()
    execute(*case.launch(capability))
    _agrees(case)


@pytest.mark.parametrize(("name", "capability"), WHERE)
def test_what_an_installed_compiler_makes_computes_it_too(name, capability):
    """The committed PTX is of one version of each compiler; this is of the one that is here."""
    case = CASES[name]()
    execute(*case.launch(capability, _compiled(case.file, capability)))
    _agrees(case)


def _compiled(file, capability):
    maker, needs = {
        "cuda_kernels": ("compile_cuda", "nvidia.cuda_nvrtc"),
        "stencil": ("compile_numba", "numba_cuda"),
    }.get(file, ("compile_triton", "triton"))
    package = needs.partition(".")[0]
    if not (importlib.util.find_spec(package) and importlib.util.find_spec(needs)):
        pytest.skip(f"{needs} is not installed")
    spec = importlib.util.spec_from_file_location("ptx_compile", PTX / "compile.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    asked = (file, capability) if maker == "compile_triton" else (capability,)
    return getattr(module, maker)(*asked)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "capability"), [*WHERE, ("persistent_tma", 90)])
def test_addresses_alone_are_those_of_all_values(name, capability, tmp_path):
    """The slice changes no row; with all values the result is numpy's, in the assembler's order, too."""
    make = CASES.get(name, persistent_tma)
    traces = []
    for check in (False, True):
        case = make()
        launch, memory = case.launch(capability)
        traces.append(trace_launch(launch, memory, tmp_path / f"{check}.h5", GPU, "all", check=check))
    _agrees(case)
    assert accesses(traces[0]) == accesses(traces[1])
    assert traces[0].digest == traces[1].digest


def test_tensor_copies_are_copies(tmp_path):
    launch, memory = persistent_tma().launch(90)
    trace = trace_launch(launch, memory, tmp_path / "t.h5", load_gpu("h100"), "all")
    boxes = [op for op in trace.ops if op.text.startswith("cp.async.bulk.tensor")]
    loads = [op for op in boxes if op.kind is OpKind.load]
    assert all(op.async_copy and op.bypass_l1 and op.width == 16 for op in loads)
    assert {op.kind for op in boxes} == {OpKind.load, OpKind.store}
    by_op = accesses(trace)
    moved = sum(len(places) for op, places in by_op.items() if trace.ops[op] in loads) * 16
    assert moved == 2 * 2 * 2 * (64 * 32 + 32 * 64) * 2  # 2 x 2 tiles, 2 steps, both operands of 2 bytes


def test_pieces_of_a_matmul(tmp_path):
    """Every element of a and b is copied once by each tile that needs it, 16 bytes per lane, past L1."""
    launch, memory = CASES["persistent"]().launch(80)
    trace = trace_launch(launch, memory, tmp_path / "t.h5", GPU, "all")
    copies = [i for i, op in enumerate(trace.ops) if op.async_copy]
    assert all(trace.ops[i].bypass_l1 and trace.ops[i].text.startswith("cp.async.cg") for i in copies)
    read = sum(len(accesses(trace)[i]) for i in copies) * 16
    assert read == 2 * 2 * (128 // 64) * (64 * 64 + 64 * 64)
    barriers = sum(int(((chunk.flags & Flag.barrier) != 0).sum()) for chunk in trace.chunks())
    assert barriers > 0 and {op.space for op in trace.ops} == {Space.global_, Space.shared}
