"""The pairs whose difference lies around the kernels: copies, streams, graphs and unified memory of a Tesla V100."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from memsim.gpu.presets import load_gpu
from memsim.host import Direction, Graph, HostProgram, KernelWork, Managed, Stream, Timeline, Touch, simulate
from memsim.host.unified import PAGE_BYTES

GPU = load_gpu("tesla-v100")
UNIMEM = Path(__file__).with_name("unimem.csv")
LARGEST_STRIDE = 1 << 21  # up to which the gains of the authors' file average to 3.1, which table I seems to give
FITTED_STRIDES = (1, 32768, 524288, 1048567)  # that the driver's times in the preset are taken from
_THREADS = GPU.sm.count * GPU.sm.max_threads
_BLOCK = 256
_PROPERTIES_US = 415  # half of 0.83 ms, see `reduction`
_STREAMING_GB_PER_S = 800  # what the kernels of this room are taken to reach: AXPY's 98 MB in 122 microseconds


def hd_overlap(n: int, pinned: bool, streams: int) -> Timeline:
    """AXPY of n doubles: copied in, computed, copied out, in `streams` parts (HDOverlap)."""
    program, part = HostProgram(), 8 * n // streams
    for stream in _streams(program, streams):
        for name in ("x", "y"):
            program.copy(part, Direction.to_gpu, stream, name=name, pinned=pinned)
        program.kernel("axpy", _streaming(3 * part), stream)
        program.copy(part, Direction.to_host, stream, name="y", pinned=pinned)
    program.synchronize()
    return simulate(program, GPU)


def concurrent_kernels(streams: int, kernels: int = 8, milliseconds: float = 50.0) -> Timeline:
    """Kernels of one thread each, in one stream or in several (Conkernels; the CUDA sample's 8 of 50 ms)."""
    program = HostProgram()
    rows = _streams(program, streams)
    for k in range(kernels):
        program.kernel(
            f"kernel {k}", KernelWork(1, GPU.sm.count * GPU.sm.max_blocks, 1000 * milliseconds), rows[k % streams]
        )
    program.synchronize()
    return simulate(program, GPU)


def many_small_kernels(kernels: int, microseconds: float, graph: bool) -> Timeline:
    """A chain of short kernels, launched one by one or as a graph (TaskGraph)."""
    program, chain = HostProgram(), Graph("graph")
    last: list[int] = []
    for _ in range(kernels):
        if graph:
            last = [chain.kernel("step", KernelWork(1, 1, microseconds), last)]
        else:
            program.kernel("step", KernelWork(1, 1, microseconds))
    if graph:
        program.launch(chain)
    program.synchronize()
    return simulate(program, GPU)


def access_density(stride: int, unified: bool, n: int = 1 << 27) -> Timeline:
    """y[i] = a x[i stride] of n floats: x copied whole, or in unified memory (UniMem).

    A thread touches one element, so resident threads have a window of pages under way, and as many blocks as touch a
    page report it.
    """
    program, kernel = HostProgram(), _streaming(2 * 32 * (n // stride))
    program.allocate("x", 4 * n if not unified else 0)  # managed memory: none before it is touched
    program.allocate("y", 4 * n // stride)
    if unified:
        step = max(4 * stride, PAGE_BYTES)
        pages = np.arange(0, 4 * n, step) // PAGE_BYTES
        sharers = max(1, PAGE_BYTES // (4 * stride * _BLOCK))
        touch = Touch(Managed("x", 4 * n), pages, max(1, _THREADS * 4 * stride // step), sharers)
        program.kernel("strided", kernel, touches=[touch])
    else:
        program.copy(4 * n, Direction.to_gpu, name="x", pinned=False)
        program.kernel("strided", kernel)
    program.synchronize()
    for name in () if unified else ("x", "y"):  # the authors' clock stops before unified memory is freed
        program.free(name)
    return simulate(program, GPU)


def reduction(kernel_us: float, last_us: float = 5.0) -> Timeline:
    """A sum by three kernels, the first of `kernel_us` (Shuffle), as its authors time it.

    Before each of the later two the host asks for all the device's properties. That takes as long as a kernel: sums of
    2^25 and 2^26 numbers by shuffles take the same 0.83 ms, in which the GPU has little to do.
    """
    program = HostProgram()
    program.kernel("sum", KernelWork(1, 1, kernel_us))
    for name in ("sum of sums", "last sum"):
        program.work(_PROPERTIES_US, "cudaGetDeviceProperties")
        program.kernel(name, KernelWork(1, 1, last_us))
    program.synchronize()
    return simulate(program, GPU)


def sparse_transfer(nonzeros: int, dense: bool, n: int = 10240) -> Timeline:
    """y = A x with an n x n matrix of floats, copied whole or as CSR (MiniTransfer)."""
    program = HostProgram()
    given = (("x", 4 * n), *((("A", 4 * n * n),) if dense else _csr(nonzeros, n)))
    for name, nbytes in (*given, ("y", 4 * n)):
        program.allocate(name, nbytes)
    for name, nbytes in given:
        program.copy(nbytes, Direction.to_gpu, name=name, pinned=False)
    program.kernel("spmv", _streaming(sum(nbytes for _, nbytes in given)))
    program.copy(4 * n, Direction.to_host, name="y", pinned=False)
    for name, _ in (*given, ("y", 0)):
        program.free(name)
    return simulate(program, GPU)


def measured_densities() -> list[tuple[int, float, float]]:
    """Stride, ms with copies, ms with unified memory, as the authors' repository has them for a V100."""
    with UNIMEM.open(encoding="utf-8", newline="") as file:
        return [(int(row["stride"]), float(row["copied_ms"]), float(row["unified_ms"])) for row in csv.DictReader(file)]


def _csr(nonzeros: int, n: int) -> tuple[tuple[str, int], ...]:
    return ("row_ptr", 4 * (n + 1)), ("indices", 4 * nonzeros), ("values", 4 * nonzeros)


def _streaming(nbytes: int) -> KernelWork:
    """A kernel that does nothing but stream so many bytes."""
    return KernelWork(1, 1, nbytes / (1000 * _STREAMING_GB_PER_S))


def _streams(program: HostProgram, count: int) -> list[Stream]:
    return [program.stream() for _ in range(count)]
