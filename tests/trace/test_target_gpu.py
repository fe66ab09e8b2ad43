"""A trace knows which GPU it was made for, and is replayed on it where none is named."""

from __future__ import annotations

import json

import pytest
from changing import changed
from typer.testing import CliRunner

import memsim
from memsim.cli import app
from memsim.gpu.defaults import DEFAULT_GPU
from memsim.gpu.presets import load_gpu, override
from memsim.support.errors import InputError
from memsim.trace.reader import Trace
from memsim.trace.schema import ArrayInfo, LaunchShape, OpKind, Space, StaticInstruction
from memsim.trace.target_gpu import resolve_gpu
from memsim.trace.writer import TraceWriter


def _recorded(gpu, **more):
    return memsim.trace("saxpy", n=512, gpu=gpu, blocks="all", **more)


def test_trace_is_replayed_on_its_own_gpu(tmp_path):
    trace = _recorded("tesla-c2050", out=tmp_path / "t.h5")
    assert trace.gpu == "tesla-c2050" and resolve_gpu(trace, None) == "tesla-c2050"
    simulated = memsim.simulate(trace, trials=1)
    assert simulated.trials.about["gpu"]["name"] == "tesla-c2050"
    assert simulated.trials.about["gpu_provenance"]["l1.ways"]["source"]
    done = CliRunner().invoke(app, ["estimate", str(tmp_path / "t.h5"), "--json"])
    assert json.loads(done.stdout)["gpu"] == "tesla-c2050"


def test_a_gpu_that_is_named_goes_before(tmp_path):
    assert resolve_gpu(_recorded("tesla-c2050"), "h100") == "h100"


def test_every_way_in_has_one_default(tmp_path):
    assert resolve_gpu(memsim.trace("saxpy", n=512), None) == DEFAULT_GPU
    shown = {name: CliRunner().invoke(app, [name, "--help"]).stdout for name in ("trace", "capture", "run", "explore")}
    assert all(DEFAULT_GPU in " ".join(text.split()) for text in shown.values())


def test_the_gpu_belongs_to_no_digest():
    assert _recorded("tesla-c2050").digest == _recorded("h100").digest


def test_trace_that_does_not_tell_is_for_default(tmp_path):
    """As another tracer's, and as one of a memsim that did not write it down."""
    with TraceWriter(tmp_path / "t.h5", kernel="k", source="k.py", parameters={}) as writer:
        array = ArrayInfo("x", Space.global_, 0, 128, 4)
        writer.finish(
            LaunchShape((1, 1, 1), (32, 1, 1)),
            [StaticInstruction(OpKind.load, Space.global_, 4, 0, 1, 1, "k.py", "x")],
            [array],
        )
    silent = Trace.open(tmp_path / "t.h5")
    with changed(tmp_path / "t.h5") as file:
        del file.attrs["gpu"]
    for trace in (silent, Trace.open(tmp_path / "t.h5")):
        assert trace.gpu == "" and resolve_gpu(trace, None) == DEFAULT_GPU


def test_gpu_without_preset_must_be_named_again(tmp_path):
    """The file that described it may be another by now, or gone; another GPU in its place would be a silent one."""
    file = tmp_path / "mine.toml"
    file.write_text('inherit = "h100"\n[l1]\nways = 2\n')
    for gpu in (file, override(load_gpu("h100"), {"sm.count": 4})):
        trace = _recorded(gpu)
        with pytest.raises(InputError, match=r"gpu is h100 \(not the preset\), .* name a GPU"):
            memsim.estimate(trace)
        assert memsim.estimate(trace, "h100")
