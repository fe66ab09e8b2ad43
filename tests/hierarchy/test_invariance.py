"""Results depend on the seed and nothing else: not on how time is cut, nor on whether the loops are compiled."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import machines
import numpy as np
import pytest
from budget import drawn
from hypothesis import Phase, given
from hypothesis import strategies as st
from machines import instruction
from places import HELPERS, ROOT

from memsim.gpu.config import GPU
from memsim.gpu.presets import load_gpu
from memsim.hierarchy import machine
from memsim.hierarchy.l2 import parameters
from memsim.hierarchy.parameters import longest_quantum
from memsim.hierarchy.system import System
from memsim.trace.schema import OpKind
from memsim.trace.transactions import Transactions


def fingerprint(tx: Transactions, gpu: GPU, seed: int, quantum: int | None = None, warm: bool = False) -> dict:
    """Everything a trial counts and the caches it leaves, byte for byte."""
    system = System(tx, gpu, 2, np.random.SeedSequence(seed), quantum=quantum)
    trial = system.run(warm)
    parts = {name: getattr(trial, name) for name in trial.columns(tx.n_ops) if not name.endswith("seconds")}
    parts["memory_log"] = system.memory_log
    for level in ("sms", "slices"):
        cache = getattr(system.machine, level).cache
        parts |= {f"{level}.{name}": cache.ways[name] for name in ("valid", "dirty")} | {f"{level}.tag": cache.tags}
    return {name: np.asarray(value).tobytes() for name, value in parts.items()}


def scramble(gpu: GPU, blocks: int = 40, seed: int = 1) -> Transactions:
    """Blocks of four warps that read and write random lines, with barriers: enough of them to use a preset's parts."""
    rng = np.random.default_rng(seed)
    whole = (1 << gpu.l1.line_bytes // 32) - 1

    def warp() -> list[dict]:
        flow = []
        for step in range(24):
            lines = rng.integers(0, 3000, rng.integers(1, 6)).tolist()
            kind = OpKind(int(rng.choice(4, p=[0.7, 0.2, 0.05, 0.05])))
            mask = whole if kind == OpKind.load else 1
            asked = [(line, mask, kind == OpKind.store) for line in lines]
            flow.append(instruction(asked, kind, op=kind, compute_run=int(rng.integers(0, 9))))
            flow += [instruction(barrier=True)] if step % 8 == 7 else []
        return flow

    return machines.trace([[warp() for _ in range(4)] for _ in range(blocks)], range(3000))


@pytest.mark.slow
@drawn(40)
@given(st.data())
def test_every_quantum_gives_the_same_bytes(data):
    gpu = data.draw(machines.machines())
    tx = data.draw(machines.traces(gpu))
    seed, warm, most = data.draw(st.integers(0, 9)), data.draw(st.booleans()), longest_quantum(gpu)
    expected = fingerprint(tx, gpu, seed, most, warm)
    for quantum in sorted({1, 2, 3, (most + 1) // 2, most - 1} & set(range(1, most))):
        assert fingerprint(tx, gpu, seed, quantum, warm) == expected, f"quantum {quantum}, bound {most}"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tesla-c2050", "gtx480", "tesla-v100"])
def test_every_quantum_gives_same_bytes_on_preset(name):
    gpu = load_gpu(name)
    tx = scramble(gpu)
    most = longest_quantum(gpu)
    expected = fingerprint(tx, gpu, 0, most)
    for quantum in (1, 7, most // 2, most - 1):
        assert fingerprint(tx, gpu, 0, quantum) == expected, f"quantum {quantum}, bound {most}"


def test_seed_gives_same_bytes_and_zero_is_seed():
    gpu = load_gpu("tesla-c2050")
    tx = scramble(gpu)
    assert fingerprint(tx, gpu, 0) == fingerprint(tx, gpu, 0)
    drawn = [fingerprint(tx, gpu, seed)["counters"] for seed in range(4)]
    assert len(set(drawn)) == 4


def test_seed_is_unused_with_every_chance_off():
    gpu = load_gpu("tesla-c2050")
    switches = {name: False for name in ("start_alignment", "warp_weights", "arbitration")}
    gpu = gpu.model_copy(update={"stochastic": gpu.stochastic.model_copy(update=switches)})
    tx = scramble(gpu)
    assert fingerprint(tx, gpu, 0) == fingerprint(tx, gpu, 1)


@pytest.mark.parametrize("name", ["tesla-c2050", "tesla-v100"])
def test_specialized_loops_give_bytes_of_general_ones(name, monkeypatch):
    gpu = load_gpu(name)
    tx = scramble(gpu)
    expected = fingerprint(tx, gpu, 0)
    monkeypatch.setattr(parameters, "KINDS", [])
    monkeypatch.setattr(machine, "for_lru", lambda cache: cache)
    assert fingerprint(tx, gpu, 0) == expected


def plain_run(path: str) -> None:
    """What the subprocess below does."""
    cases = pickle.loads(Path(path).read_bytes())
    Path(path).write_bytes(pickle.dumps([fingerprint(*case) for case in cases]))


def test_the_loops_do_the_same_as_plain_python(tmp_path):
    cases = []

    @drawn(20, 1, phases=[Phase.generate], database=None)
    @given(st.data())
    def collect(data):
        gpu = data.draw(machines.machines())
        cases.append((data.draw(machines.traces(gpu)), gpu, data.draw(st.integers(0, 9))))

    collect()
    path = tmp_path / "cases"
    path.write_bytes(pickle.dumps(cases))
    folders = [Path(__file__).parent, HELPERS, ROOT]
    code = f"import test_invariance; test_invariance.plain_run({str(path)!r})"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(map(str, folders))}
    subprocess.run(
        [sys.executable, "-W", "error", "-c", code], check=True, env=environment, timeout=300 + 10 * len(cases)
    )
    for case, plain in zip(cases, pickle.loads(path.read_bytes()), strict=True):
        assert fingerprint(*case) == plain
