"""The runtime headers: programs with hand-made probes must compute what CUDA defines and log what they did.

``tests/data/capture/results.cu`` checks results against plain arithmetic, the compiler's own half precision, and values
from CUDA's documentation; ``logged.cu`` is compared with its log word for word; ``faults.cu`` ends in every known way.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compilers import needs_gxx, needs_nvcc
from places import DATA

from memsim.sources.capture.runtime import FOLDER

pytestmark = needs_gxx

PROGRAMS = DATA / "capture"
LAUNCH, ARRAY, FREE, VARIANT, BLOCK, END, FAILED, RECORDS, PART = range(1, 10)
LATCH, CALL, RETURN, BARRIER = 0xFF00, 0xFF01, 0xFF02, 0xFF03
ARENA = 0x7D0000000000


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("programs")

    def run(name: str, *options: str) -> Path:
        program = folder / (name + "".join(options))
        flags = ["-std=c++17", "-O1", "-w", "-fno-strict-aliasing", "-fwrapv", "-fno-pie", "-no-pie", *options]
        source = PROGRAMS / f"{name}.cu"
        subprocess.run(["g++", "-x", "c++", *flags, f"-I{FOLDER}", str(source), "-o", str(program)], check=True)
        return program

    return run


def messages(data: bytes) -> list[tuple[int, Any]]:
    """The stream's messages: (type, payload), JSON decoded."""
    found, at = [], 0
    while at < len(data):
        kind, zero, size = struct.unpack_from("<IIQ", data, at)
        assert zero == 0
        payload = data[at + 16 : at + 16 + size]
        assert len(payload) == size
        found.append((kind, json.loads(payload) if kind in (LAUNCH, ARRAY, FREE, END) else payload))
        at += 16 + size
    return found


def block_words(payload: bytes) -> tuple[int, list[list[tuple[int, int]]]]:
    """Of a BLOCK: its number, and each thread's words as (tag, low 48 bits)."""
    numbers = np.frombuffer(payload, "<u8")
    n = int(numbers[1])
    offsets, words = numbers[2 : 3 + n].astype(int), numbers[3 + n :]
    assert offsets[0] == 0 and offsets[-1] == len(words)
    pairs = [(int(w) >> 48, int(w) & (1 << 48) - 1) for w in words]
    return int(numbers[0]), [pairs[a:b] for a, b in zip(offsets, offsets[1:], strict=False)]


def run_logged(
    program: Path, replies: Iterable[str], tmp_path: Path, *arguments: str
) -> tuple[int, str, list[tuple[int, Any]]]:
    """Exit code, standard output and messages of a run whose questions get the given answers."""
    answers, log = tmp_path / "answers", tmp_path / "log"
    answers.write_text("".join(line + "\n" for line in replies))
    with answers.open() as reply, log.open("wb") as out:
        environment = os.environ | {"MEMSIM_LOG_FD": str(out.fileno()), "MEMSIM_REPLY_FD": str(reply.fileno())}
        done = subprocess.run(
            [program, *arguments],
            env=environment,
            pass_fds=(out.fileno(), reply.fileno()),
            capture_output=True,
            text=True,
            timeout=60,
        )
    return done.returncode, done.stdout, messages(log.read_bytes())


@pytest.mark.parametrize("options", [(), ("-DMEMSIM_UCONTEXT", "-O2")], ids=["assembly", "ucontext"])
def test_kernels_compute_what_cuda_defines(build, options):
    done = subprocess.run([build("results", *options)], capture_output=True, text=True, timeout=60)
    lines = done.stdout.splitlines()
    assert [line for line in lines if not line.endswith(" ok")] == [], done.stderr
    assert len(lines) == 20 and done.returncode == 0


@pytest.fixture(scope="module")
def logged(build):
    return build("logged")


@pytest.fixture(scope="module")
def whole_log(logged, tmp_path_factory):
    code, output, found = run_logged(logged, ["0 8"] * 4, tmp_path_factory.mktemp("log"))
    assert (code, output) == (0, "passed\n")
    return found


def variants_of(found: list[tuple[int, Any]]) -> dict[int, tuple[int, int]]:
    """Variant -> (site, width)."""
    triples = [struct.unpack("<III", payload) for kind, payload in found if kind == VARIANT]
    return {variant: (site, width) for variant, site, width in triples}


def test_the_log_tells_launches_arrays_and_blocks_in_order(whole_log):
    kinds = [kind for kind, _ in whole_log if kind not in (ARRAY, FREE, VARIANT)]
    assert kinds == [LAUNCH, *[BLOCK] * 8, END, LAUNCH, *[BLOCK] * 2, END]
    launches = [payload for kind, payload in whole_log if kind == LAUNCH]
    assert launches[1] == {
        "kernel": "forms", "file": "logged.cu", "line": 7, "index": 1, "grid": [2, 1, 1], "block": [4, 1, 1],
        "dynamic_shared": 12,
    }  # fmt: skip
    arrays = {payload["name"]: payload for kind, payload in whole_log if kind == ARRAY}
    assert {name: (a["space"], a["bytes"], a["element_bytes"]) for name, a in arrays.items() if name != "local"} == {
        "x": ("global", 4000, 0),  # the cast hides the type
        "d_y": ("global", 4000, 4),
        "a": ("global", 16, 4),
        "d": ("global", 32, 0),
        "scale": ("constant", 16, 8),
        "s": ("shared", 8, 2),
        "dyn": ("shared", 12, 4),
    }
    assert arrays["dyn"]["dynamic"] and arrays["local"]["bytes"] == 1024 * arrays["local"]["stack_bytes"]
    assert arrays["x"]["base"] > ARENA and arrays["x"]["base"] % 4096 == 0
    assert arrays["a"]["base"] == arrays["x"]["base"], "freed memory is used again"
    freed = [payload["base"] for kind, payload in whole_log if kind == FREE]
    assert freed[0] == arrays["x"]["base"] and set(freed[1:]) == {arrays["s"]["base"], arrays["dyn"]["base"]}


def test_every_lane_logs_its_accesses(whole_log):
    arrays = {payload["name"]: payload["base"] for kind, payload in whole_log[:8] if kind == ARRAY}
    tag = {site: variant for variant, (site, _) in variants_of(whole_log).items()}
    blocks = [block_words(payload) for kind, payload in whole_log if kind == BLOCK][:8]
    assert [number for number, _ in blocks] == list(range(8))
    lanes = [lane for _, block in blocks for lane in block]
    for i, lane in enumerate(lanes):
        x, y = arrays["x"] + 4 * i, arrays["d_y"] + 4 * i
        assert sorted(lane) == (sorted([(tag[1], x), (tag[2], y), (tag[3], y)]) if i < 1000 else [])
        assert i >= 1000 or lane[-1] == (tag[3], y), "the store comes last"


def test_every_form_of_probe_logs_what_it_should(whole_log):
    arrays = {payload["name"]: payload for kind, payload in whole_log if kind == ARRAY}
    base = {name: array["base"] for name, array in arrays.items()}
    variants = variants_of(whole_log)
    widths = {site: sorted(width for s, width in variants.values() if s == site) for site, _ in variants.values()}
    of_four_bytes = dict.fromkeys([1, 2, 3, 11, 13, 14, 16, 18, 21, 30], [4])
    assert widths == of_four_bytes | {10: [2], 17: [2], 19: [8], 20: [4, 8]}
    _, lanes = block_words([payload for kind, payload in whole_log if kind == BLOCK][-1])
    for t, lane in enumerate(lanes):
        stack = [low for mark, low in lane if variants.get(mark) == (16, 4)]
        assert base["local"] <= stack[0] < base["local"] + arrays["local"]["bytes"]
        loop = [word for j in range(t) for word in [((11, 4), base["dyn"] + 4 * j), (LATCH, 12)]]
        called = [(CALL, 15), ((20, 4), base["a"] + 4 * t), (RETURN, 0)]
        wide = [(CALL, 15), ((20, 8), base["d"] + 8 * t), (RETURN, 0)]
        constant = [((19, 8), base["scale"] + 8)]
        assert [(variants.get(mark, mark), low) for mark, low in lane] == [
            ((10, 2), base["s"] + 2 * t),
            (BARRIER, 0),
            *loop,
            *called,
            ((13, 4), base["a"] + 4 * t),
            ((14, 4), base["a"] + 4 * t),
            ((17, 2), base["s"] + 2 * (3 - t)),
            ((16, 4), stack[0]),
            *(constant + wide),
            ((21, 4), base["a"]),
            *[((30, 4), base["d_y"] + 12 * t + 4 * part) for part in range(3)],  # a struct goes by its alignment
            (LATCH, 22),
        ]  # site 18 is silent: the thread's own stack
    stores = [low for lane in lanes for mark, low in lane if variants.get(mark) == (16, 4)]
    offsets = {low % arrays["local"]["stack_bytes"] for low in stores}
    assert len(offsets) == 2, "local[0] and local[1] lie at the same distance in every thread"


def test_the_reader_chooses_the_blocks(logged, tmp_path):
    _, output, found = run_logged(logged, ["2 3", "5 7", "0 0"], tmp_path)
    assert [block_words(payload)[0] for kind, payload in found if kind == BLOCK] == [2, 5, 6]
    assert output == "passed\n", "blocks that are not logged run all the same"
    _, output, found = run_logged(logged, ["6 7 only", "6 8 only", "0 0 only"], tmp_path)
    assert [block_words(payload)[0] for kind, payload in found if kind == BLOCK] == [6, 7]
    assert output == "passed\n", "999 is in block 7"
    _, output, found = run_logged(logged, ["0 1 only", "0 1 only", "0 0 only"], tmp_path)
    assert output == "failed\n", "block 7 did not run"


def test_two_runs_log_the_same_bytes(logged, tmp_path):
    def run() -> bytes:
        run_logged(logged, ["0 8"] * 4, tmp_path)
        return (tmp_path / "log").read_bytes()

    assert run() == run()


def test_a_long_block_comes_in_parts(build, whole_log, tmp_path):
    """Of as many words as the log holds; put together, thread by thread, they are what a longer log has at once."""

    def threads(found):
        blocks, under_way = [], None
        for kind, payload in found:
            if kind in (BLOCK, PART):
                words = block_words(payload)[1]
                under_way = words if under_way is None else [a + b for a, b in zip(under_way, words, strict=True)]
            if kind == BLOCK:
                blocks, under_way = [*blocks, under_way], None
        assert under_way is None
        return blocks

    room = 16  # words
    program = build("logged", f"-DMEMSIM_LOG_BYTES={8 * room}")
    code, output, found = run_logged(program, ["0 8"] * 4, tmp_path)
    assert (code, output) == (0, "passed\n")
    full = [payload for kind, payload in found if kind == PART]
    assert len(full) > 10 and {sum(map(len, block_words(payload)[1])) for payload in full} == {room}
    assert threads(found) == threads(whole_log)


def test_without_a_reader_the_program_just_runs(logged):
    done = subprocess.run([logged], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "passed\n", "")


@pytest.fixture(scope="module")
def faults(build):
    return build("faults")


FAULTS = {
    "outside": "outside, block (0,0,0), thread (1,0,0): illegal address, 1044576 bytes past the end of `field` "
    "(4000 bytes)",
    "before": "outside, block (0,0,0), thread (1,0,0): illegal address, 524288 bytes before `field`",
    "divides": "divides, block (0,0,0), thread (0,0,0): integer division by zero",
    "diverges": "diverges: deadlock in block (0,0,0): 8 threads wait at a barrier, 24 for other lanes of their warp, "
    "none can run",
    "foreign_mask": "foreign_mask: __shfl_sync(): thread 0 is not in its own mask 0x80000000",
    "deep": "deep, block (0,0,0), thread (0,0,0): stack overflow: raise MEMSIM_STACK (bytes a thread)",
    "waits": "waits: block (0,0,0) waits for ever for a lock or another block (blocks run one after another)",
    "asserts": "asserts, block (0,0,0), thread (3,0,0): assertion `threadIdx.x < 3 || p == nullptr` failed at "
    "faults.cu:24 in void asserts(int*)",
    "filters": "filters: a texture with linear filtering is read at 1.75, between elements: only reads at their middle "
    "are supported",
    "filters_above": "filters: a texture with linear filtering is read at 1.5025, between elements: only reads at "
    "their middle are supported",
    "filters_below": "filters: a texture with linear filtering is read at 1.4975, between elements: only reads at "
    "their middle are supported",
    "traps": "traps, block (0,0,0), thread (0,0,0): __trap()",
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_kernel_that_cannot_go_on_says_why(faults, tmp_path, what):
    message = f"faults.cu:9: kernel {FAULTS[what]}"
    code, output, found = run_logged(faults, ["0 0"], tmp_path, what)
    assert (code, output) == (3, "")
    assert found[-1] == (FAILED, message.encode())
    alone = subprocess.run([faults, what], capture_output=True, text=True, timeout=60)
    assert (alone.returncode, alone.stderr) == (3, f"{message}\n")


def test_a_deep_kernel_runs_on_a_larger_stack(faults):
    environment = os.environ | {"MEMSIM_STACK": "2000000"}
    done = subprocess.run([faults, "deep"], env=environment, capture_output=True, timeout=60)
    assert done.returncode == 0


def test_faults_of_the_host_are_its_own(faults):
    assert subprocess.run([faults, "host"], capture_output=True, timeout=60).returncode == -11
    done = subprocess.run([faults, "host_assert"], capture_output=True, text=True, timeout=60)
    assert done.returncode == -6 and "int main(int, char**): Assertion `argc == 5' failed" in done.stderr
    done = subprocess.run([faults, "host_barrier"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (3, "__syncthreads() is called outside a kernel\n")


def test_a_reader_that_goes_away_ends_the_program(logged):
    reading, writing = os.pipe()
    os.close(reading)
    environment = os.environ | {"MEMSIM_LOG_FD": str(writing), "MEMSIM_REPLY_FD": str(writing)}
    done = subprocess.run([logged], env=environment, pass_fds=(writing,), capture_output=True, text=True, timeout=60)
    os.close(writing)
    assert done.returncode == -13 and done.stdout == ""


def test_the_runtime_knows_the_system_as_its_headers_do():
    command = ["g++", "-std=c++17", "-fsyntax-only", f"-I{FOLDER}", str(PROGRAMS / "system_page.cpp")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_programs_may_be_written_in_older_cpp():
    command = ["g++", "-x", "c++", "-std=c++14", "-w", "-fsyntax-only", f"-I{FOLDER}", str(PROGRAMS / "results.cu")]
    assert subprocess.run(command, capture_output=True, text=True).stderr == ""


def test_programs_may_use_names_of_system_headers(tmp_path):
    program = tmp_path / "names.cu"
    program.write_text("struct stack_t {}; float* signal; int read, access, link[3], sigaction; void pipe(int);\n")
    options = ["-std=c++17", "-fsyntax-only", f"-I{FOLDER}", "-include", "memsim_probe.h"]
    done = subprocess.run(["g++", "-x", "c++", *options, str(program)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_host_files_in_c_and_cpp_share_the_device(tmp_path):
    objects = []
    compilers = {"parts_main.c": ["gcc"], "parts_host.cpp": ["g++"], "parts_kernel.cu": ["g++", "-x", "c++"]}
    for name, compiler in compilers.items():
        objects.append(str(tmp_path / f"{name}.o"))
        source = str(PROGRAMS / name)
        subprocess.run([*compiler, "-w", "-fno-pie", f"-I{FOLDER}", "-c", source, "-o", objects[-1]], check=True)
    program = tmp_path / "program"
    subprocess.run(["g++", "-no-pie", *objects, "-o", str(program)], check=True)
    code, output, found = run_logged(program, ["0 1", "0 1"], tmp_path)
    assert (code, output) == (0, "10 3 7 invalid device ordinal\n")
    assert {payload["name"] for kind, payload in found if kind == ARRAY} == {"device", "out", "local"}


@needs_nvcc
def test_the_probes_compile_for_a_gpu(tmp_path):
    ptx = tmp_path / "on_gpu.ptx"
    options = ["-std=c++17", "-arch=sm_80", "-DMEMSIM_GPU", "-include", str(FOLDER / "memsim_probe.h"), "-ptx"]
    subprocess.run(["nvcc", *options, str(PROGRAMS / "on_gpu.cu"), "-o", str(ptx)], check=True, timeout=120)
    text = ptx.read_text()
    # Each probe reserves room and counts what is dropped: 15 accesses and 4 marks, some of them inlined twice.
    assert text.count("atom.add.u64") >= 2 * 19 and text.count("match.any.sync") >= 15
    assert text.count("bar.sync") == 1 and text.count("bar.red.or") == 1, "barriers stay barriers"
