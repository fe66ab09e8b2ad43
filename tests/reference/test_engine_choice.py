"""`engine="reference"`: the same results as the compiled engine's, in the same files and reports."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import memsim
from memsim.cli import app
from memsim.montecarlo.trials import Trials
from memsim.support.errors import InputError

SECONDS = ("wall_seconds", "compiled_seconds")


def arrays(trials: Trials) -> dict[str, np.ndarray]:
    return {name: getattr(trials, name) for name in Trials.columns(0) if name not in SECONDS}


@pytest.mark.parametrize(
    ("kernel", "parameters", "gpu", "settings"),
    [
        ("saxpy", {"n": 1024}, "tesla-c2050", {}),
        ("spmv", {"rows": 256, "nnz_per_row": 6}, "tesla-v100", {"stochastic.page_placement": True}),
        ("reduction", {"n": 2048}, "h100", {}),
    ],
)
def test_both_engines_give_the_same_result(kernel, parameters, gpu, settings):
    trace = memsim.trace(kernel, **parameters)
    both = [
        memsim.simulate(trace, gpu, trials=1, seed=3, settings=settings, engine=engine).trials
        for engine in ("compiled", "reference")
    ]
    compiled, reference = map(arrays, both)
    for name, values in compiled.items():
        np.testing.assert_array_equal(values, reference[name], err_msg=name)
    assert compiled["memory_count"].all()


def test_the_command_runs_the_reference_model(tmp_path):
    trace, out = tmp_path / "saxpy.h5", tmp_path / "result.h5"
    memsim.trace("saxpy", n=1024, out=trace)
    ran = CliRunner().invoke(
        app, ["run", str(trace), "--engine", "reference", "--trials", "1", "--gpu", "rtx4090", "-o", str(out)]
    )
    assert ran.exit_code == 0, ran.output
    assert CliRunner().invoke(app, ["show", str(out), "--json"]).exit_code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (dict(engine="reference", warm=True), "run: engine reference cannot replay a trace with warm caches"),
        (dict(engine="simpy"), "run: engine is 'simpy'; must be compiled or reference"),
    ],
)
def test_what_an_engine_lacks_is_refused_by_name(options, said):
    with pytest.raises(InputError, match=said):
        memsim.simulate(memsim.trace("saxpy", n=64), "rtx4090", trials=1, **options)
