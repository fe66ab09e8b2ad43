"""The headers of CUDA's libraries: what they compute equals numpy's, and generators' published recurrences."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from compilers import needs_gxx, needs_nvcc
from places import DATA

import memsim
from memsim.sources.capture.cccl import cccl_folders
from memsim.support.errors import InputError
from memsim.trace.info import count
from memsim.trace.schema import Flag, Kind, Space

pytestmark = needs_gxx

PROGRAM = DATA / "capture" / "libraries.cu"
WORD = 2**32 - 1


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """The numbers of each line that the program prints."""
    out = tmp_path_factory.mktemp("libraries") / "t.h5"
    command = [sys.executable, "-m", "memsim", "capture", str(PROGRAM), "-o", str(out), "-q", "--registers", "20"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return [np.array(line.split(), float) for line in done.stdout.splitlines()]


def ramp(n: int, step: int) -> np.ndarray:
    return np.arange(n) * step % 17 - 5.0


def matrix(numbers: np.ndarray, rows: int, columns: int, leading: int) -> np.ndarray:
    """Column by column."""
    return np.array([[numbers[j * leading + i] for j in range(columns)] for i in range(rows)])


def test_products_are_numpys(printed):
    a, b = ramp(40, 3), ramp(40, 5)
    for number in range(4):
        ta, tb = divmod(number, 2)
        left = matrix(a, 5, 4, 6).T if ta else matrix(a, 4, 5, 5)
        right = matrix(b, 3, 5, 4).T if tb else matrix(b, 5, 3, 7)
        expected = ramp(18, 7)
        result = 2 * left @ right + 0.5 * matrix(expected, 4, 3, 6)
        for j in range(3):
            expected[6 * j : 6 * j + 4] = result[:, j]
        assert printed[number] == pytest.approx(expected)


def test_vectors_are_numpys(printed):
    a, b, y = ramp(40, 3), ramp(40, 5), ramp(5, 2)
    y = 2 * matrix(a, 4, 5, 4).T @ b[:8:2] + 0.5 * y
    assert printed[4] == pytest.approx(y)
    assert printed[5] == pytest.approx(y + 2 * b[:15:3])
    largest = 1 + int(np.argmax(np.abs(a[:10])))
    assert printed[6] == pytest.approx([a[:10] @ b[:20:2], np.linalg.norm(a[:10]), largest])


def xorwow_words(seed: int) -> list[int]:
    low = 1099087573 * ((seed & WORD) ^ 0xAAD26B49) & WORD
    high = 2591861531 * ((seed >> 32) ^ 0xF7DCEFDD) & WORD
    words = [123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low]
    return [word & WORD for word in words] + [(6615241 + high + low) & WORD]


def xorwow_step(state: list[int]) -> list[int]:
    """Marsaglia 2003, section 3.1."""
    x, y, z, w, v, d = state
    t = x ^ (x >> 2)
    v_next = (v ^ (v << 4) ^ t ^ (t << 1)) & WORD
    return [y, z, w, v, v_next, (d + 362437) & WORD]


def gf2_jump(words: list[int], doublings: int, times: int) -> list[int]:
    """Words after `times` jumps of 2^`doublings` steps, by squaring the step's matrix over bits."""
    unit = np.eye(160, dtype=np.uint8)
    columns = []
    for bit in unit:
        as_words = [int("".join(map(str, bit[32 * k : 32 * k + 32][::-1])), 2) for k in range(5)]
        stepped = xorwow_step([*as_words, 0])[:5]
        columns.append([word >> i & 1 for word in stepped for i in range(32)])
    step = np.array(columns, np.int64).T
    for _ in range(doublings):
        step = step @ step % 2
    vector = np.array([word >> i & 1 for word in words for i in range(32)])
    for _ in range(times):
        vector = step @ vector % 2
    return [sum(int(bit) << i for i, bit in enumerate(vector[32 * k : 32 * k + 32])) for k in range(5)]


@pytest.mark.parametrize(("line", "sequence", "offset"), [(7, 0, 0), (8, 0, 7), (9, 1, 0), (10, 5, 3)])
def test_xorwow_is_marsaglias(printed, line, sequence, offset):
    state = xorwow_words(1234)
    state = [*gf2_jump(state[:5], 67, sequence), state[5]]
    for _ in range(offset):
        state = xorwow_step(state)
    expected = []
    for _ in range(4):
        state = xorwow_step(state)
        expected.append((state[4] + state[5]) & WORD)
    assert printed[line].tolist() == expected


def test_philox_gives_the_published_numbers(printed):
    """Random123's known answer: counter and key 0."""
    assert [f"{int(x):08x}" for x in printed[11]] == ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]
    assert printed[12][0] != printed[11][0]


def philox_numbers(counter: list[int], n: int) -> list[int]:
    """Salmon 2011, section 3.3, of key 0, from a counter on."""
    numbers: list[int] = []
    while len(numbers) < n:
        x, k = list(counter), [0, 0]
        for _ in range(10):
            first, second = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
            x = [second >> 32 ^ x[1] ^ k[0], second & WORD, first >> 32 ^ x[3] ^ k[1], first & WORD]
            k = [(k[0] + 0x9E3779B9) & WORD, (k[1] + 0xBB67AE85) & WORD]
        numbers += x
        counter = [counter[0] + 1, *counter[1:]]
    return numbers


@pytest.mark.parametrize(("line", "sequence", "offset"), [(11, 0, 0), (12, 0, 7), (13, 1, 0), (14, 5, 3)])
def test_philox_has_its_sequences_in_the_upper_counter(printed, line, sequence, offset):
    assert printed[line].tolist() == philox_numbers([0, 0, sequence, 0], offset + 4)[offset : offset + 4]


@pytest.mark.parametrize(("line", "mantissa", "bias", "largest"), [(15, 3, 7, 448.0), (16, 2, 15, 57344.0)])
def test_eight_bits_are_the_nearest_there_are(printed, line, mantissa, bias, largest):
    fields = range(0, 2 ** (7 - mantissa))
    sizes = [
        (m + (2**mantissa if e else 0)) * 2.0 ** (max(e, 1) - bias - mantissa)
        for e in fields
        for m in range(2**mantissa)
    ]
    known = np.array([size for size in sizes if size <= largest])
    known = np.concatenate([-known, known])
    given = (np.arange(256) - 128.0) ** 3 * 0.0003
    nearest = np.abs(known[None, :] - given[:, None]).min(axis=1)
    assert np.abs(printed[line] - given) == pytest.approx(nearest, rel=1e-3, abs=1e-5)


def test_distributions_have_their_moments(printed):
    uniform, normal = printed[17][::2], printed[17][1::2]
    assert uniform.min() > 0 and uniform.max() <= 1
    assert uniform.mean() == pytest.approx(0.5, abs=0.03) and normal.mean() == pytest.approx(0, abs=0.1)
    assert normal.std() == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(("argument", "name"), [("1", "cublasStrsm"), ("2", "wmma::bmma_sync")])
def test_what_is_not_there_is_refused_at_the_call(tmp_path, argument, name):
    with pytest.raises(InputError, match=rf"calls {name}\(\), which is not known here"):
        memsim.capture(PROGRAM, arguments=[argument], out=tmp_path / "t.h5", registers=20, by="source")
    assert not (tmp_path / "t.h5").exists()


def test_asynchronous_copies_are_a_load_and_a_store(tmp_path):
    trace = memsim.capture(DATA / "capture" / "barrier.cu", out=tmp_path / "t.h5", registers=20, by="source").trace
    copied = [op for op in trace.ops if op.width == 4]  # the barrier itself is an object in shared memory too
    assert sorted((op.kind.name, op.space.name) for op in copied) == [
        ("load", "global_"), ("load", "shared"), ("store", "global_"), ("store", "shared"),
    ]  # fmt: skip


def accesses(trace):
    """Kind, space and bytes of a lane of each static op, and how many lanes it accessed for."""
    lanes = count(trace.chunks(), len(trace.ops)).lane_accesses.tolist()
    return sorted((op.kind.name, op.space.name, op.width, n) for op, n in zip(trace.ops, lanes, strict=True))


def test_fragments_hold_products_and_their_loads_are_those_of_mma(tmp_path):
    """A tile of 512 bytes: 4 words a lane, or 4 matrices of 8 rows; a sum's lanes store 4 pairs. Two blocks a side."""
    out = tmp_path / "traces"
    traces = memsim.capture(DATA / "capture" / "fragments.cu", out=out, launch="all", registers=20, by="source").traces
    assert len(traces) == 4
    steps, blocks = 2, 4
    from_global, staged = (steps * blocks * words * 32 for words in (4, 8))
    stored = ("store", "global_", 8, blocks * 4 * 32)
    direct = [("load", "global_", 4, from_global), ("load", "global_", 4, from_global), stored]
    by_tile = [
        ("load", "global_", 2, staged), ("load", "global_", 4, from_global),
        ("load", "shared", 16, steps * blocks * 32),
        stored, ("store", "shared", 2, staged),
    ]  # fmt: skip
    assert [accesses(trace) for trace in traces] == [direct, direct, sorted(by_tile), sorted(by_tile)]


def test_graphs_run_when_they_are_launched(tmp_path):
    captured = memsim.capture(DATA / "capture" / "graphs.cu", out=tmp_path / "t.h5", registers=20, by="source")
    assert captured.launches == {"scale": 3, "shift": 3}


def test_atomic_objects_are_accessed_by_their_methods(tmp_path):
    trace = memsim.capture(DATA / "capture" / "atomics.cu", out=tmp_path / "t.h5", registers=20, by="source").trace
    found = [(kind, space, width) for kind, space, width, _ in accesses(trace)]
    assert [one for one in found if one[0] in ("atomic", "reduction")] == [
        ("atomic", "global_", 4), ("atomic", "global_", 4), ("reduction", "global_", 4), ("reduction", "global_", 4),
    ]  # fmt: skip
    staged = ("store", "shared", 4, 64)
    assert staged in accesses(trace) and ("store", "global_", 4, 1) in accesses(trace)


def captured(program: str, out, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memsim", "capture", str(DATA / "capture" / program), "-o", str(out), *options]
    return subprocess.run([*command, "--registers", "20"], capture_output=True, text=True, timeout=200)


def barrier_rows(path) -> int:
    """Of all warps."""
    return sum(int(np.count_nonzero(chunk.flags & Flag.barrier)) for chunk in memsim.open_trace(path).chunks())


def test_collectives_of_cub_are_the_libraries_of_cpp(tmp_path):
    done = captured("collectives.cu", tmp_path / "t.h5", "--by", "source", "--kernel", "collectives")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "all right"
    assert "cub::BlockLoad" in done.stderr and "is not in the trace of the source" in done.stderr
    trace = memsim.open_trace(tmp_path / "t.h5")
    assert {op.space for op in trace.ops} == {Space.global_}  # room and of_warp are handed on, not read
    assert len(trace.ops) == 3


COLLECTIVES = """
#include <cub/cub.cuh>
using namespace cub;
__global__ void k(const int* in, int* out) {  // as without cub::BlockScan
  typedef BlockReduce<int, 64> Reduce;
  __shared__ Reduce::TempStorage room;
  int items[2];
  LoadDirectBlocked(threadIdx.x, in, items);
  int sum = Reduce(room).Sum(items);
  if (threadIdx.x == 0) out[0] = sum;
}
int main() {
  int *in, *out;
  cudaMallocManaged(&in, 512), cudaMallocManaged(&out, 4);
  k<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
}
"""


def test_collectives_are_told_by_whatever_name_and_are_one_barrier_each(tmp_path):
    program = tmp_path / "p.cu"
    program.write_text(COLLECTIVES)
    done = memsim.capture(program, out=tmp_path / "t.h5", by="source", registers=20)
    (note,) = done.notes
    assert note.startswith("what cub::BlockReduce, cub::LoadDirectBlocked access is not in")
    assert barrier_rows(tmp_path / "t.h5") == 2  # warps


def test_the_driver_has_no_names_of_errors(tmp_path):
    program = tmp_path / "p.cu"
    calls = "int main() { const char* name; cuGetErrorName(CUDA_SUCCESS, &name); }"
    program.write_text(f"#include <cuda.h>\n__global__ void k() {{}}\n{calls}\n")
    with pytest.raises(InputError, match=r"calls cuGetErrorName\(\), which is not known here"):
        memsim.capture(program, out=tmp_path / "t.h5", by="source", registers=20)


@needs_nvcc
@pytest.mark.skipif(not cccl_folders(), reason="Thrust's headers are not installed (nvidia-cuda-cccl)")
@pytest.mark.parametrize("by", ["source", pytest.param("ptx", marks=pytest.mark.slow)])
def test_thrust_runs_beside_a_kernel(tmp_path, by):
    done = captured("thrust.cu", tmp_path / "t.h5", "--by", by, "--whole")
    assert done.returncode == 0, done.stderr
    total = 6.0 * 999 * 1000 / 2
    assert [float(one) for one in done.stdout.splitlines()[0].split()] == pytest.approx([total, 6, 6 * 999, total])
    trace = memsim.open_trace(tmp_path / "t.h5")
    assert [one.name for one in trace.arrays] == ["vector"] * len(trace.arrays)
    assert count(trace.chunks(), len(trace.ops)).lane_accesses.sum() == 2 * 1000


def test_pipelines_and_barriers_of_several_threads_order_what_they_should(tmp_path):
    done = captured("pipelines.cu", tmp_path / "t.h5", "--by", "source", "--kernel", "unified")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "all right"
    kinds = [(op.kind, op.space, op.width) for op in memsim.open_trace(tmp_path / "t.h5").ops]
    assert (Kind.load, Space.global_, 16) in kinds  # a group's copy, in pieces as wide as addresses allow
    assert (Kind.store, Space.shared, 16) in kinds


@pytest.mark.parametrize("kernel", ["handed_on", "specialized"])
def test_threads_that_only_arrive_are_not_held_up(tmp_path, kernel):
    done = captured("arrivals.cu", tmp_path / "t.h5", "--by", "source", "--kernel", kernel)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "all right"
    synced = {"handed_on": 2, "specialized": 1}[kernel]  # times __syncthreads(), of two warps
    assert barrier_rows(tmp_path / "t.h5") == 2 * synced


def test_barrier_that_all_threads_wait_at_is_the_blocks(tmp_path):
    assert captured("barrier.cu", tmp_path / "t.h5", "--by", "source").returncode == 0
    assert barrier_rows(tmp_path / "t.h5") == 2 * 2  # its own and __syncthreads(), of two warps


def test_all_missing_headers_are_told_at_once(tmp_path):
    program = tmp_path / "p.cu"
    program.write_text('#include <first.h>\n#include "second.h"\n#include <cusolverDn.h>\nint main() { foo(); }\n')
    with pytest.raises(InputError, match=r"p.cu:1.*'first.h' file not found.*either: second.h, cusolverDn.h$"):
        memsim.capture(program, out=tmp_path / "t.h5", by="source", registers=20)


def test_functions_of_the_runtime_may_be_named_by_the_global_scope(tmp_path):
    program = tmp_path / "p.cu"
    program.write_text(
        "__global__ void k(int* a, int* b) { a[threadIdx.x] = b[threadIdx.x]; }\n"
        "int main() { int *a, *b; ::cudaMalloc(&a, 128); ::cudaMallocManaged(&b, 128); k<<<1, 32>>>(a, b);\n"
        "  return ::cudaDeviceSynchronize(); }\n"
    )
    trace = memsim.capture(program, out=tmp_path / "t.h5", by="source", registers=20).trace
    assert {array.name for array in trace.arrays} == {"a", "b"}


def test_a_loop_one_past_an_arrays_end_ends(tmp_path):
    """As on a GPU; from an array's bound g++ would conclude that its condition always holds."""
    program = tmp_path / "p.cu"
    program.write_text(
        "__global__ void k(float* out) {\n"
        "  __shared__ float a[32][32], b[32][32];\n"
        "  a[threadIdx.y][threadIdx.x] = b[threadIdx.x][threadIdx.y] = 1;\n"
        "  __syncthreads();\n"
        "  float sum = 0;\n"
        "  for (int e = 0; e <= 32; ++e) sum += a[threadIdx.y][e] * b[e][threadIdx.x];\n"
        "  out[threadIdx.y * 32 + threadIdx.x] = sum;\n"
        "}\n"
        "int main() { float* out; cudaMalloc(&out, 4096); k<<<1, dim3(32, 32)>>>(out); cudaDeviceSynchronize(); }\n"
    )
    trace = memsim.capture(program, out=tmp_path / "t.h5", by="source", registers=20).trace
    executed = count(trace.chunks(), len(trace.ops)).memory_instructions
    loads = [number for number, op in enumerate(trace.ops) if op.kind is Kind.load]  # some in what lies behind
    assert sum(executed[number] for number in loads) == 2 * 32 * 33


OWNER = """
struct Owner {
    int *held;
    Owner() { cudaMalloc(&held, sizeof *held); cudaMemset(held, 0, sizeof *held); }
    ~Owner() { cudaFree(held); }
};
__global__ void count(Owner own, int *sum) { *sum = atomicAdd(own.held, 1) + 1; }
int main() {
    int *sum, told;
    cudaMalloc(&sum, sizeof *sum);
    Owner own;
    count<<<2, 32>>>(own, sum);
    if (cudaGetLastError()) return 1;
    cudaMemcpy(&told, sum, sizeof told, cudaMemcpyDeviceToHost);
    return told != 64;
}
"""


COPIED = """
struct Counter {
    int *data, step = 1;
    cudaEvent_t event;
    static int copies, ends;
    Counter() { cudaMalloc(&data, sizeof *data), cudaMemset(data, 0, sizeof *data), cudaEventCreate(&event); }
    Counter(const Counter &of) : Counter() {
        ++copies, cudaMemcpy(data, of.data, sizeof *data, cudaMemcpyDeviceToDevice);
    }
    ~Counter() { ++ends, cudaFree(data), cudaEventDestroy(event); }
};
int Counter::copies, Counter::ends;
__global__ void plain(Counter own, int *sum, float) { *sum = atomicAdd(own.data, own.step) + own.step, ++own.step; }
template <class T, int N>
__global__ void of_types(Counter own, T *sum, float) { *sum = atomicAdd(own.data, N) + N; }
template <class T>
__global__ void deduced(T *sum, Counter own) { *sum = atomicAdd(own.data, 3) + 3; }
int wrong(int *sum, int expected, int launches) {
    int told;
    cudaMemcpy(&told, sum, sizeof told, cudaMemcpyDeviceToHost);
    return told != expected || Counter::copies != launches || Counter::ends != launches;
}
int main() {
    int *sum;
    cudaMalloc(&sum, sizeof *sum);
    Counter own;
    plain<<<2, 32>>>(own, sum, 1);  // an integer, where the kernel takes a float
    if (wrong(sum, 64, 1)) return 1;
    of_types<int, 2><<<2, 32>>>(own, sum, 1);
    if (wrong(sum, 128, 2)) return 2;
    deduced<<<2, 32>>>(sum, own);
    if (wrong(sum, 192, 3)) return 3;
    void (*pointer)(Counter, int *, float) = plain;
    pointer<<<2, 32>>>(own, sum, 1);
    return wrong(sum, 64, 4) ? 4 : 0;
}
"""
CONVERTED = """
struct Holder {
    cudaEvent_t event;
    int *data;
    ~Holder() { cudaEventDestroy(event), cudaFree(data); }
};
template <class T>
__global__ void deduced(T *sum, Holder, float) { *sum = 1; }
int main() {
    int *sum;
    cudaMalloc(&sum, sizeof *sum);
    Holder own;
    cudaEventCreate(&own.event);
    cudaMalloc(&own.data, sizeof *own.data);
    deduced<<<2, 32>>>(sum, own, 1);  // for a float
    own.event = 0, own.data = 0;  // the copy's destructor has freed them
}
"""


def test_where_each_thread_has_a_copy_of_its_own_none_frees_anything(tmp_path):
    (tmp_path / "converted.cu").write_text(CONVERTED)
    captured = memsim.capture(tmp_path / "converted.cu", out=tmp_path / "t.h5", registers=20, by="source")
    assert captured.launches == {"deduced": 1}


@pytest.mark.parametrize("by", ["source", pytest.param("ptx", marks=needs_nvcc)])
def test_an_argument_is_copied_once_a_launch_and_destroyed_once(tmp_path, by):
    """Not in each thread, which has its bits alone; what the copy allocates, all threads access."""
    (tmp_path / "copied.cu").write_text(COPIED)
    trace = memsim.capture(tmp_path / "copied.cu", out=tmp_path / "t.h5", kernel="plain", registers=20, by=by).trace
    (atomic,) = (op for op in trace.ops if op.kind is Kind.atomic)
    names = [one.name for one in trace.arrays]
    assert names[atomic.array] == "data" and names.count("data") <= 2  # the object's, the copy's


@pytest.mark.parametrize("by", ["source", pytest.param("ptx", marks=needs_nvcc)])
def test_what_an_argument_owns_is_there_until_the_kernel_has_ended(tmp_path, by):
    """Its copy's destructor frees it, after the launch."""
    (tmp_path / "owner.cu").write_text(OWNER)
    captured = memsim.capture(tmp_path / "owner.cu", out=tmp_path / "t.h5", registers=20, by=by)
    assert captured.launches == {"count": 1}
