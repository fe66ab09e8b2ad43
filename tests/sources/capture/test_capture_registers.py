"""Registers of kernels: nvcc's for the GPU's architecture, whatever the host's code calls; else said to be assumed.

The oracle for what nvcc reports is the machine code that it makes, which tells the driver how many registers it needs.
"""

from __future__ import annotations

import struct
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from compilers import needs_gxx, needs_nvcc
from places import ROOT
from processes import are_gone

import memsim
from memsim.gpu.config import GPU
from memsim.gpu.presets import load_gpu
from memsim.sources.capture import nvcc, resources
from memsim.sources.capture.build import Sources
from memsim.sources.capture.ptxas import Needs, kernel_name
from memsim.sources.capture.resources import Resources

V100 = load_gpu("tesla-v100")
HOT = """
template <int N>
__global__ void hot(const float *x, float *y) {
    float a[N];
    for (int i = 0; i < N; i++) a[i] = x[i * blockDim.x + threadIdx.x];
    float sum = 0;
    for (int i = 0; i < N; i++) sum += a[i] * a[N - 1 - i];
    y[threadIdx.x] = sum;
}
"""
PLAIN = HOT + "int main() { hot<24><<<1, 32>>>(nullptr, nullptr); }\n"
REMOVED = """
#include <cstdio>
#include "helper_cuda.h"
int main() {
    float *x;
    checkCudaErrors(cudaMallocManaged(&x, 99999));
    cudaDeviceProp about;
    cudaGetDeviceProperties(&about, 0);
    printf("%d %d\\n", about.clockRate, about.computeMode);
    cudaMemPrefetchAsync(x, 99999, 0);
    cudaMemAdvise(x, 99999, cudaMemAdviseSetReadMostly, 0);
    hot<24><<<1, 32>>>(x, x);
    if (cudaThreadSynchronize() != cudaSuccess) return 1;
    cudaThreadExit();
}
"""


def gpu_of(capability: str, warps: int) -> GPU:
    """A GPU with a compute capability and so many resident warps in an SM."""
    sm = V100.sm.model_copy(update={"max_warps": warps, "max_threads": 32 * warps})
    return V100.model_copy(update={"compute_capability": capability, "sm": sm})


def told(kernel: str, gpu: GPU, *files: Path) -> tuple[Needs, str | None]:
    """What is known of a kernel, and what the user is told of it."""
    asked = Resources(Sources(files), gpu)
    try:
        return asked.needs(kernel), asked.note(kernel)
    finally:
        asked.close()


def registers_in_code(cubin: Path) -> dict[str, int]:
    """Registers of each kernel: attributes 0x2f, of eight bytes, in the section ``.nv.info`` of 64-bit ELF."""
    data = cubin.read_bytes()
    (table,), (entry, count, names) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQII", data, table + i * entry) for i in range(count)]

    def text(section: int, offset: int) -> str:
        return data[headers[section][4] + offset :].split(b"\0", 1)[0].decode()

    section = {text(names, header[0]): header for header in headers}
    symbols = section[".symtab"]
    info, found = data[section[".nv.info"][4] :][: section[".nv.info"][5]], {}
    for at in range(0, len(info), 12):
        kind, size, symbol, value = struct.unpack_from("<HHII", info, at)
        assert kind & 0xFF == 4 and size == 8
        if kind >> 8 == 0x2F:
            (name,) = struct.unpack_from("<I", data, symbols[4] + 24 * symbol)
            found[kernel_name(text(symbols[6], name))] = value
    return found


@needs_nvcc
@pytest.mark.parametrize(("capability", "warps"), [("7.5", 32), ("8.0", 64), ("8.6", 48), ("8.9", 48), ("9.0", 64)])
def test_registers_are_those_of_the_machine_code_for_the_gpu(tmp_path, capability, warps):
    number = capability.replace(".", "")
    for source in (ROOT / "traces" / "cuda").glob("*.cu"):
        cubin = tmp_path / f"{source.stem}.cubin"
        subprocess.run(["nvcc", "-w", "-cubin", f"-arch=sm_{number}", source, "-o", cubin], check=True, timeout=120)
        expected = registers_in_code(cubin)
        assert expected and all(8 <= registers <= 255 for registers in expected.values())
        asked = Resources(Sources((source,)), gpu_of(capability, warps))
        for kernel, registers in expected.items():
            needs = asked.needs(kernel)
            assert (kernel, needs.registers, needs.source) == (kernel, registers, f"nvcc for sm_{number}")
            assert asked.note(kernel) is None
        asked.close()


@needs_nvcc
def test_an_architecture_that_nvcc_does_not_know_is_stood_in_for_and_said(tmp_path):
    """By one whose SMs hold as many warps, as this is what ptxas makes registers fit."""
    listed = subprocess.run(["nvcc", "--list-gpu-arch"], capture_output=True, text=True, check=True).stdout
    source = tmp_path / "hot.cu"
    source.write_text(PLAIN)
    for capability, warps in ("1.3", 32), ("2.0", 48), ("7.0", 64):
        gpu = gpu_of(capability, warps)
        needs, note = told("hot", gpu, source)
        number = capability.replace(".", "")
        if f"compute_{number}\n" not in listed:
            stand_in = needs.source.removeprefix("nvcc for ")
            assert note == f"hot: its registers are those of {stand_in}, as this nvcc does not know sm_{number}"
        assert needs.registers <= gpu.sm.registers / (32 * warps) or needs.registers > 24


@needs_nvcc
def test_what_the_hosts_code_calls_does_not_matter(tmp_path):
    """CUDA 13 lacks or has changed it all, and no samples' headers are anywhere."""
    plain, removed = tmp_path / "plain.cu", tmp_path / "removed.cu"
    plain.write_text(PLAIN)
    removed.write_text(HOT + REMOVED)
    gpu = gpu_of("8.6", 48)
    assert told("hot", gpu, removed) == told("hot", gpu, plain)
    assert told("hot", gpu, plain)[0].source == "nvcc for sm_86"


@needs_nvcc
def test_a_device_function_of_another_file_is_linked(tmp_path):
    """A kernel needs at least what the functions that it calls do."""
    kernel, function = tmp_path / "kernel.cu", tmp_path / "function.cu"
    kernel.write_text("__device__ float f(float);\n__global__ void k(float *x) { x[0] = f(x[1]); }\n")
    body = "float a[40], s = 0; for (int i = 0; i < 40; i++) a[i] = x * i + sinf(x + i);"
    function.write_text(
        f"__device__ float f(float x) {{ {body} for (int i = 0; i < 40; i++) s += a[i] * a[39 - i]; return s; }}\n"
    )
    needs, note = told("k", gpu_of("8.0", 64), kernel, function)
    assert needs.source == "nvcc for sm_80" and needs.registers > 40 and note is None


@needs_nvcc
def test_device_code_that_nvcc_refuses_is_said_with_its_first_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bad.cu").write_text("#include <texture>\n__global__ void k(float *x) { x[0] = cudaNothing(1); }\n")
    needs, note = told("k", V100, Path("bad.cu"))
    assert needs == Needs(32, 0, "default")
    assert note.startswith("k: 32 registers a thread are assumed, as nvcc failed (bad.cu:1")
    assert "texture: No such file" in note and note.endswith("; give --registers N") and "\n" not in note
    Path("bad.cu").write_text("__global__ void k(float *x) { x[0] = cudaNothing(1); }\n")
    note = told("k", V100, Path("bad.cu"))[1]
    assert "nvcc failed (bad.cu(1): error: calling a __host__ function(" in note and "cudaNothing" in note


FAKE = """#!/bin/sh
case $1 in --list-gpu-arch) printf 'compute_75\\ncompute_80\\n'; exit;; esac
for one in "$@"; do case $one in *.cu)
    name=$(basename "$one" .cu)
    echo "ptxas info : Compiling entry function '_Z${#name}${name}v' for 'sm_75'"
    echo "ptxas info : Used 1${#name} registers, used 1 barriers, 2048 bytes smem, 360 bytes cmem[0]"
;; esac; done
touch "made-in-the-current-folder"
"""


def install(folder: Path, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "nvcc").write_text(script)
    (folder / "nvcc").chmod(0o755)


def test_every_files_kernels_are_asked_for_and_nothing_is_left_where_the_user_is(tmp_path, monkeypatch):
    install(tmp_path / "bin", FAKE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    files = Path("one.cu"), Path("three.cu"), Path("host.cpp")
    assert told("three", V100, *files)[0] == Needs(15, 2048, "nvcc for sm_80")
    assert told("other", V100, *files) == (
        Needs(32, 0, "default"),
        "other: 32 registers a thread are assumed, as nvcc tells of no kernel other; give --registers N",
    )
    monkeypatch.setenv("PATH", "")
    needs, note = told("one", V100, *files)
    assert needs == Needs(32, 0, "default") and "as nvcc is not installed here" in note
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()} == {"bin/nvcc"}


ANSWERS = [
    ("echo 'nvcc fatal   : Unsupported gpu architecture'; exit 1", "nvcc failed (nvcc fatal : Unsupported gpu arch"),
    ("echo whatever; exit 7", "nvcc failed (whatever)"),
    ("exit 1", "nvcc failed (no reason given)"),
    ("kill -9 $$", "nvcc failed (no reason given)"),
    ("printf '\\377\\376 error: bytes\\n'; exit 1", "error: bytes"),
    ("echo 'error: identifier \"cudaOld\" is undefined'; exit 1", 'nvcc failed (error: identifier "cudaOld" is undef'),
]


@pytest.mark.parametrize(("script", "expected"), ANSWERS)
def test_whatever_nvcc_says_ends_in_a_note(tmp_path, monkeypatch, script, expected):
    install(tmp_path, f"#!/bin/sh\n{script}\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    needs, note = told("k", V100, Path("k.cu"))
    assert needs == Needs(32, 0, "default") and expected in note and "\n" not in note


def test_nvcc_is_asked_a_bounded_number_of_times(tmp_path, monkeypatch):
    """Even if it misses something new each time."""
    count = 'echo x >> "$COUNT"; echo "error: identifier \\"cudaOld$(wc -l < "$COUNT")\\" is undefined"; exit 1'
    install(tmp_path / "bin", f"#!/bin/sh\n{count}\n")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.setenv("COUNT", str(tmp_path / "count"))
    told("k", V100, Path("k.cu"))
    assert len((tmp_path / "count").read_text().splitlines()) == 1 + nvcc.MOST_TRIES


SLOW = """#!/bin/sh
mktemp -d
sleep 60 &
echo $! > "$OUT.part"
mv "$OUT.part" "$OUT"
"""


@pytest.mark.parametrize("waits", ["wait", "exit 0"])
def test_the_compilers_that_nvcc_started_end_with_it(tmp_path, monkeypatch, waits):
    """When nobody waits for the report: none goes on, and what they wrote goes too."""
    install(tmp_path, SLOW + waits)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("OUT", str(tmp_path / "compiler"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    asked = Resources(Sources((Path("one.cu"),)), V100)
    while not (tmp_path / "compiler").exists():
        time.sleep(0.01)
    asked.close()
    assert are_gone([int((tmp_path / "compiler").read_text())])
    assert list((tmp_path / "temporary").iterdir()) == []


def test_nvcc_that_takes_too_long_is_not_waited_for(tmp_path, monkeypatch):
    install(tmp_path, "#!/bin/sh\nsleep 60\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(resources, "LONGEST_SECONDS", 0.2)
    started = time.monotonic()
    assert told("k", V100, Path("k.cu"))[0].registers == 32
    assert time.monotonic() - started < 10


@needs_gxx
def test_the_trace_and_the_notes_tell_what_was_assumed(tmp_path, monkeypatch):
    source = tmp_path / "hot.cu"
    source.write_text(HOT + "int main() { float *x; cudaMalloc(&x, 9999); hot<24><<<1, 32>>>(x, x); }\n")
    install(tmp_path / "bin", "#!/bin/sh\necho 'hot.cu(3): error: no luck'; exit 2\n")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    captured = memsim.capture(source, out=tmp_path / "a.h5", by="source")
    assert captured.trace.parameters["registers_from"] == "default" and captured.trace.launch.registers == 32
    assert captured.notes == [
        "hot: 32 registers a thread are assumed, as nvcc failed (hot.cu(3): error: no luck); give --registers N"
    ]
    captured = memsim.capture(source, out=tmp_path / "b.h5", registers=40, by="source")
    assert captured.trace.parameters["registers_from"] == "--registers" and captured.notes == []
