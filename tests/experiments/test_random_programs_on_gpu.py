"""Random programs on a GPU: what a run brings back, programs that fault or hang, and the comparison."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import numpy as np
import pytest
from sass_launches import needs_machine_code

from experiments.silicon.random_programs import __main__ as random_programs
from experiments.silicon.random_programs import compare, device, kept, package

KEPT = Path(__file__).parent.parent / "data" / "random_programs_h100.zip"  # what kept.keep wrote

WORKER = """
import json, sys, time
plan = json.loads(sys.argv[sys.argv.index("--work") + 1])
for name in plan["names"]:
    for seed in range(3):
        label = f"{name}/{seed}"
        if label not in plan["skip"]:
            print(json.dumps(["start", label]), flush=True)
            if label == "a/1":
                time.sleep(60)
            if label == "b/2":
                sys.exit("CudaError: cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS")
    print(json.dumps(["done", name]), flush=True)
"""


@pytest.mark.parametrize("shape", [(512,), (64, 5, 6)])
def test_packed_changes_come_back(shape):
    words = np.random.default_rng(0).integers(0, 1 << 63, (3, *shape), np.uint64)
    assert device.unpack(device.pack(words), words[0]).tolist() == words.tolist()


def test_programs_that_hang_or_fault_are_left_out(tmp_path, monkeypatch):
    script = tmp_path / "worker.py"
    script.write_text(WORKER)
    monkeypatch.setattr(device, "__file__", str(script))
    monkeypatch.setattr(device, "HANG_SECONDS", 0.4)
    lane = device.Lane(tmp_path, tmp_path, ["a", "b", "c"], time.monotonic() + 60)
    lane.run()
    assert lane.done == ["a", "b", "c"]
    assert lane.bad == {"a/1": "hangs", "b/2": "CudaError: cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS"}


@pytest.mark.slow
@needs_machine_code
def test_comparison_finds_a_changed_word(tmp_path):
    package.write(tmp_path, {"control": range(2)}, "h100")
    same = compare.compare(tmp_path, tmp_path)
    assert (same.programs, same.lines) == (2, [])
    (batch,) = json.loads((tmp_path / "batches.json").read_text())
    words = np.load(tmp_path / "words.npz")["control"]
    left = [found["sass"] for _, found in compare._machines(tmp_path, batch, words, compare.Comparison())]
    left[1][7] ^= 1
    (tmp_path / "control_0.bin").write_bytes(device.pack(np.stack([left[k] ^ words[k] for k in range(2)])))
    with tarfile.open(tmp_path / "results_0.tar", "w") as file:
        file.add(tmp_path / "control_0.bin", "control_0.xz")
    lines = compare.compare(tmp_path, tmp_path).lines
    assert [line.split(", ")[0] for line in lines] == [
        "control 1: gpu and sass: word 7", "control 1: gpu and ptx: word 7"
    ]  # fmt: skip


@pytest.mark.slow
@needs_machine_code
def test_machine_code_leaves_what_an_h100_left():
    found = list(kept.run_kept(KEPT))
    assert len(found) == 58
    assert [name for name, gpu, memsim in found if (gpu != memsim).any()] == []


@pytest.mark.slow
def test_device_runs_on_memsim_s_driver(tmp_path):
    programs, results = tmp_path / "programs", tmp_path / "results"
    package.write(programs, {"control": range(2), "typed": range(2)}, "h100", as_ptx=True)
    command = [sys.executable, "-m", "memsim", "capture", "-o", str(tmp_path / "traces"), "--launch", "all",
               "--every-launch", "--to-end", "--gpu", "h100", sys.executable, str(programs / "device.py"),
               str(programs), str(results), "--jobs", "2", "--seconds", "200"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    assert "4 programs ran on memsim" in done.stdout, done.stdout + done.stderr
    package.write(programs, {"control": range(2), "typed": range(2)}, "h100")
    found = compare.compare(programs, results)
    assert (found.programs, found.lines) == (4, [])


def test_seeds_are_checked(tmp_path, capsys):
    with pytest.raises(SystemExit):
        random_programs.main(["write", str(tmp_path), "--gpu", "h100", "--wide", "9-3"])
    assert "must be like 0-999" in capsys.readouterr().err
