"""Kernels that wait for the host, for other blocks or without end, and one that fetches from textures, in programs."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from compilers import needs_capture
from processes import LISTENING

import memsim
from memsim.trace.schema import OpKind, Space

PROGRAMS = Path(__file__).parents[1] / "data" / "capture"


pytestmark = [pytest.mark.slow, needs_capture]


def test_kernel_waits_for_the_host_and_for_blocks(tmp_path):
    found = memsim.capture(PROGRAMS / "host_flag.cu", out=tmp_path / "t.h5", to_end=True)
    assert found.exit_code == 0 and found.trace.n_blocks == 4
    assert found.trace.n_instructions < 2000  # polls in vain are left out


def test_textures_and_surfaces_give_what_cuda_documents(tmp_path):
    found = memsim.capture(PROGRAMS / "textures.cu", out=tmp_path / "t.h5", to_end=True)
    assert found.exit_code == 0
    assert [(op.kind, op.space) for op in found.trace.ops] == [
        (OpKind.load, Space.texture),
        (OpKind.load, Space.texture),
        (OpKind.store, Space.global_),  # of a surface
        (OpKind.store, Space.global_),
    ]


ENDLESS = """
#include <cstdio>
__global__ void turn(float* x) { for (;;) { x[threadIdx.x] += 1; __syncthreads(); } }
int main() {
  float* x; cudaMalloc(&x, 1024);
  puts("launching"); fflush(stdout);
  turn<<<1, 256>>>(x);
  return cudaDeviceSynchronize();
}
"""


def test_interrupt_ends_an_endless_kernel(tmp_path):
    (tmp_path / "endless.cu").write_text(ENDLESS)
    command = [sys.executable, "-m", "memsim", "capture", "-q", "-o", "t.h5", "endless.cu"]
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with subprocess.Popen(command, cwd=tmp_path, **pipes, **LISTENING) as running:
        assert running.stdout.readline() == "launching\n"
        time.sleep(5)
        begun = time.monotonic()
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    assert time.monotonic() - begun < 10  # the kernel runs for minutes
    assert running.returncode == 130
    assert [one for one in errors.splitlines() if "loops" not in one] == ["memsim: interrupted; nothing was kept"]
    assert [one.name for one in tmp_path.iterdir()] == ["endless.cu"]
