"""Small CUDA programs that check themselves, on the libraries and a fake server."""

from __future__ import annotations

import sys

import pytest


@pytest.mark.parametrize(
    "name", ["basics", "memory", *(pytest.param(name, marks=pytest.mark.slow) for name in ("streams", "faults"))]
)
def test_program_finds_what_cuda_documents(compile_program, run, server, name):
    done = run(compile_program(f"{name}.cu"))
    assert done.returncode == 0, done.stdout + done.stderr
    if name == "basics":
        assert "hello from the device" in done.stdout
        assert {launch[0] for launch in server.launches} >= {"add", "blocks", "nothing"}
        clustered = [launch for launch in server.launches if launch[3] == (2, 1, 1)]
        assert [launch[:2] for launch in clustered] == [("blocks", (8, 1, 1))]
        assert all("basics+0x" in launch[6] for launch in server.launches)
    if name == "memory":
        assert server.unsupported == ["cudaIpcGetMemHandle", "cudaGraphicsUnregisterResource"]
        assert [op for _, op in server.textures] == [0, 1, 2, 3]


@pytest.mark.slow
def test_relocatable_device_code_is_one_module(compile_program, run, server):
    program = compile_program("linked_main.cu", "linked_other.cu", options=("-rdc=true",))
    done = run(program)
    assert done.returncode == 0, done.stdout + done.stderr
    assert server.loads == 1


@pytest.mark.slow
def test_default_stream_per_thread_and_fork(compile_program, run):
    done = run(compile_program("own_stream.cu", options=("--default-stream", "per-thread")))
    assert done.returncode == 0, done.stdout + done.stderr


def test_program_without_server_finds_no_device(compile_program, run, server):
    server.path.unlink()
    done = run(compile_program("faults.cu"))
    assert "cudaErrorNoDevice" in done.stdout


def test_malloc_of_python_is_device_memory(run, server):
    code = (
        "import ctypes, numpy\n"
        "cuda = ctypes.CDLL('libcudart.so.13')\n"
        "a = numpy.arange(10000)\n"
        "class Attributes(ctypes.Structure): _fields_ = [('kind', ctypes.c_int), ('device', ctypes.c_int),\n"
        "    ('pointers', ctypes.c_void_p * 2), ('reserved', ctypes.c_long * 8)]\n"
        "assert cuda.cudaMemset(ctypes.c_void_p(a.ctypes.data), 0, ctypes.c_size_t(80000)) == 0\n"
        "assert (a == 0).all()\n"
        "assert cuda.cudaMemset(ctypes.c_void_p(a.ctypes.data), 0, ctypes.c_size_t(80008)) == 1\n"
    )
    done = run(sys.executable, "-c", code, preload=True)
    assert done.returncode == 0, done.stderr
