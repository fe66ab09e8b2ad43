"""An access of an inlined function is reported at the user's line, with the lines that it was inlined from."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
from compilers import needs_nvcc
from ptx_kernels import softmax

from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, trace_launch
from memsim.sources.ptx.module import SourcePosition
from memsim.sources.ptx.ops import Frames
from memsim.sources.ptx.origin import origin_of
from memsim.trace.schema import OpKind, StaticInstruction

HISTOGRAM = """__device__ int twice(const int* v) { return 2 * v[0]; }
__global__ void histogram(const int* v, int* bins) {
  atomicAdd(&bins[twice(v + threadIdx.x)], 1);
}
"""


def frames(folder: Path) -> Frames:
    launch = PtxLaunch(".entry k() { ret; }", "k", (1, 1, 1), (32, 1, 1), origin=origin_of(folder / "k.cu"))
    return Frames(launch)


def at(file: Path | str, line: int, caller: SourcePosition | None = None) -> SourcePosition:
    return SourcePosition(str(file), line, 1, caller)


def test_innermost_frame_in_the_programs_files(tmp_path):
    for name in ("k.cu", "mine.h", "lib/site-packages/library.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    kernel = at(tmp_path / "k.cu", 30)
    mine = at(tmp_path / "mine.h", 20, kernel)
    found = frames(tmp_path)
    assert found.own(kernel) == (kernel, "")
    assert found.own(at("/usr/include/header.hpp", 10, mine)) == (mine, " (header.hpp:10)")
    library = tmp_path / "lib/site-packages/library.py"
    assert found.own(at("/usr/include/header.hpp", 10, at(library, 7, kernel))) == (
        kernel,
        " (header.hpp:10 < library.py:7)",
    )


def test_a_librarys_kernel_keeps_its_own_file(tmp_path):
    inner = at("library.cuh", 20, at("library.cuh", 30))
    assert frames(tmp_path).own(at("header.hpp", 10, inner)) == (inner, " (header.hpp:10)")


def traced(launch: PtxLaunch, memory: DeviceMemory, folder: Path) -> tuple[StaticInstruction, ...]:
    return trace_launch(launch, memory, folder / "t.h5", load_gpu("a100"), blocks="0:1").ops


def test_tritons_sum_is_reported_at_the_users_line(tmp_path):
    launch, memory = softmax().launch(80)
    inlined = [op for op in traced(launch, memory, tmp_path) if "standard.py" in op.text]
    places = {(Path(op.file).name, op.line) for op in inlined}
    assert places == {("triton_kernels.py", 20), ("triton_kernels.py", 21)}  # tl.max and tl.sum
    assert {op.text.partition(" (")[2] for op in inlined} == {"standard.py:216)", "standard.py:314)"}


@needs_nvcc
def test_atomic_in_nvidias_header_names_users_line(tmp_path):
    source, made, memory = tmp_path / "k.cu", tmp_path / "k.ptx", DeviceMemory()
    source.write_text(HISTOGRAM)
    subprocess.run(["nvcc", "-ptx", "-lineinfo", "-arch=sm_80", str(source), "-o", str(made)], check=True)
    arrays = [memory.add(np.arange(32, dtype=np.int32), "v"), memory.add(np.zeros(64, np.int32), "bins")]
    launch = PtxLaunch(
        made.read_text(), "histogram", (1, 1, 1), (32, 1, 1), arrays, origin=origin_of(source), source="k.ptx"
    )
    found = {op.kind: op for op in traced(launch, memory, tmp_path)}
    assert found[OpKind.load].line == 1 and Path(found[OpKind.load].file) == source
    atomic = found[OpKind.reduction]
    assert (atomic.line, Path(atomic.file)) == (3, source)
    assert "(device_atomic_functions.hpp:" in atomic.text
