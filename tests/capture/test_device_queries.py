"""A program's questions about its GPU are answered for ``--gpu``."""

from __future__ import annotations

import subprocess
import sys

import pytest
from compilers import needs_capture
from here import run_here
from places import ROOT

PROGRAM = ROOT / "tests/data/capture/device.cu"
# As deviceQuery prints them on the real GPUs: SMs, threads and bytes of shared memory per SM, of a block at most, L2,
# clocks of SMs and memory in kHz, bits of the memory bus, compute capability, blocks per SM; blocks of 256 threads.
GPUS = {
    "tesla-v100": "80 2048 98304 98304 6291456 1380000 877000 4096 7 0 32 8",
    "rtx2080ti": "68 1024 65536 65536 5767168 1545000 7000000 352 7 5 16 4",
    "h100": "132 2048 233472 232448 52428800 1980000 2619000 5120 9 0 32 8",
}


@needs_capture
@pytest.mark.slow
def test_device_queries_answer_for_the_chosen_gpu(tmp_path):
    subprocess.run([sys.executable, "-m", "memsim", "nvcc", PROGRAM, "-o", tmp_path / "device"], check=True)
    for gpu, facts in GPUS.items():
        done = run_here(tmp_path, ["capture", "-o", f"{gpu}.h5", "-q", "--gpu", gpu, "./device"])
        words = facts.split()
        assert done.stdout.split("\n")[:2] == [facts, " ".join(words[:5])], (gpu, done.stderr)
