"""memsim.prune and memsim.predicted_times: order, failures, which kernel; and with Triton, that a slow access loses."""

from __future__ import annotations

from functools import partial
from math import inf
from types import SimpleNamespace

import pytest

import memsim
from memsim.exploration import prune
from memsim.support.errors import InputError

GRID = (4,)


class Config:
    """What memsim uses of ``triton.Config``."""

    def __init__(self, block):
        self.block = block

    def all_kwargs(self):
        return {"BLOCK": self.block}

    def __repr__(self):
        return f"block {self.block}"


@pytest.fixture
def launched(monkeypatch):
    """Kernels whose time is the block's size; blocks over 64 do not fit. Yields the functions that were launched."""
    functions = []

    def launch(function, config, named, addresses, gpu, kwargs):
        functions.append(function)
        if config.block > 64:
            raise InputError("prune", "block", "is too large; give at most 64")
        return config.block

    timer = SimpleNamespace(simulate=lambda run, flushed: float(run))
    monkeypatch.setattr(prune, "_launch", launch)
    monkeypatch.setattr(prune, "KernelRun", lambda launch, memory, **options: launch)
    monkeypatch.setattr(prune, "BenchmarkTimer", lambda gpu, report: timer)
    return functions


def test_fastest_configurations_are_kept_in_order(launched):
    configs = [Config(block) for block in (32, 128, 8, 64, 16)]
    times = memsim.predicted_times(configs, {"n": 3}, gpu="a100", kernel="k", grid=GRID)
    assert [(one.block, time) for one, time in times] == [(8, 8.0), (16, 16.0), (32, 32.0), (64, 64.0), (128, inf)]
    kept = memsim.prune(configs, {"n": 3}, keep=2, gpu="a100", kernel="k", grid=GRID)
    assert [one.block for one in kept] == [8, 16]


def test_few_configurations_are_not_simulated(launched):
    configs = [Config(64), Config(8)]
    assert memsim.prune(configs, {}, keep=2, kernel="k", grid=GRID) == configs and not launched


def test_kernel_is_that_of_the_calling_autotuner(launched):
    class Autotuner:
        """Triton's calls the function with itself in a frame above."""

        fn, early_config_prune = "its kernel", partial(memsim.prune, keep=1, gpu="a100")

        def run(self, configs):
            return self.early_config_prune(configs, {"n": 3}, grid=GRID)

    (kept,) = Autotuner().run([Config(32), Config(8)])
    assert kept.block == 8 and launched == ["its kernel"] * 2


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"configs": [{"BLOCK": 8}] * 2}, r"configs has a dict; give triton.Config"),
        ({"configs": [Config(128), Config(256)]}, "configs cannot be simulated: block 128: prune: block is too large"),
        ({"keep": 0}, "keep is 0"),
        ({"grid": None}, "grid is not given"),
        ({"kernel": None}, "kernel is missing, and the caller is not a Triton autotuner"),
    ],
)
def test_wrong_arguments_are_refused(launched, changed, problem):
    given = {"configs": [Config(8), Config(16)], "keep": 1, "kernel": "k", "grid": GRID} | changed
    given = {name: value for name, value in given.items() if value is not None}
    with pytest.raises(InputError, match=problem):
        memsim.prune(named_args={}, gpu="a100", **given)


def test_heuristics_add_arguments_from_the_inside_out():
    jitted = SimpleNamespace(fn="python", device_caches={})
    inner = SimpleNamespace(fn=jitted, values={"EVEN": lambda given: given["n"] % given["BLOCK"] == 0})
    outer = SimpleNamespace(fn=inner, values={"BLOCK": lambda given: 2 * given["n"]})
    assert prune._with_heuristics(outer, {"n": 4}) == (jitted, {"n": 4, "BLOCK": 8, "EVEN": False})


@pytest.mark.slow
def test_scattered_access_loses_with_triton(tmp_path, monkeypatch):
    triton, torch = (pytest.importorskip(name) for name in ("triton", "torch"))
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "scaled.py").write_text(SCALE)
    from scaled import scale

    configs = [triton.Config({"DOWN": down, "B": 128}, num_warps=4) for down in (1, 2, 0)]
    named = {"x": torch.ones(128 * 512), "out": torch.zeros(128 * 512), "step": 512}
    times = memsim.predicted_times(configs, named, gpu="a100", kernel=scale, grid=lambda given: (given["step"],))
    assert [config.kwargs["DOWN"] for config, _ in times] == [0, 1, 2]
    (_, along), (_, down), (_, failed) = times
    assert 0 < 2 * along < down and failed == inf


SCALE = """
import triton
import triton.language as tl


@triton.jit
def scale(x, out, step, DOWN: tl.constexpr, B: tl.constexpr):
    tl.static_assert(DOWN < 2, "no third way")
    i, j = tl.program_id(0), tl.arange(0, B)
    at = j * step + i if DOWN else i * B + j
    tl.store(out + at, 2 * tl.load(x + at))
"""
