"""Points of a design against their definitions; everything wrong with a study is one line before anything runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

import memsim
from memsim.studies import design
from memsim.studies.expressions import Expression
from memsim.studies.ranges import made
from memsim.support.errors import InputError


def study(**data):
    return memsim.Study("s.toml", **({"kernels": "spmv", "gpus": "tesla-c2050"} | data))


def test_a_grid_has_every_combination():
    found = study(vary={"l1": {"ways": [4, 8]}, "workload.rows": {"from": 1024, "to": 4096, "step": 2, "scale": "log"}})
    assert [tuple(point.values()) for point in found.points] == [(w, r) for w in (4, 8) for r in (1024, 2048, 4096)]


def test_fields_follow_others_in_any_order():
    found = study(
        vary={"l1.size_bytes": [16384, 49152]},
        follow={"l1.mshrs": "l1.ways * 2", "l1.ways": "l1.size_bytes // (l1.line_bytes * 32)"},
    )
    assert [(run.gpu.l1.ways, run.gpu.l1.mshrs) for run in found.runs] == [(4, 8), (12, 24)]


def test_require_leaves_points_out():
    found = study(vary={"l1.ways": [4, 8, 16], "dram.banks": [4, 8]}, require=["l1.ways <= 2 * dram.banks"])
    assert len(found.points) == 5 and found.left_out == 1


def test_several_kernels_and_gpus_are_cases():
    found = study(kernels=["spmv", "saxpy"], gpus=["tesla-c2050", "tesla-v100"], vary={"l1.mshrs": [32, 64]})
    assert [str(case) for case in found.cases][:2] == ["spmv on tesla-c2050", "spmv on tesla-v100"]
    assert len(found.runs) == 8 and {run.base for run in found.runs} == {"tesla-c2050", "tesla-v100"}


def test_the_gpu_can_be_a_field():
    found = study(vary={"gpu": ["tesla-c2050", "gtx480"], "l1.ways": [4]})
    assert [run.base for run in found.runs] == ["tesla-c2050", "gtx480"] and len(found.cases) == 1
    assert [run.gpu.l1.ways for run in found.runs] == [4, 4]


@pytest.mark.parametrize("method", ["random", "latin_hypercube", "sobol"])
def test_samples_fill_a_range_evenly(method):
    vary = {"dram.queue": made({"from": 1, "to": 64}), "sm.clock_mhz": made({"from": 100.0, "to": 1e4, "scale": "log"})}
    points = design.sampled(method, vary, 256, seed=3)
    assert points == design.sampled(method, vary, 256, seed=3) != design.sampled(method, vary, 256, seed=4)
    integers = [point["dram.queue"] for point in points]
    assert all(type(one) is int and 1 <= one <= 64 for one in integers)
    below = sum(point["sm.clock_mhz"] < 1000 for point in points)  # half of a logarithmic range
    assert abs(below - 128) <= {"random": 45, "latin_hypercube": 1, "sobol": 1}[method]
    if method == "latin_hypercube":  # four a value: one in each 256th
        assert set(np.bincount(integers)[1:]) == {4}


def test_saltelli_points_are_what_scipy_asks_for():
    vary = {name: made({"from": 0.0, "to": 1.0}) for name in "abc"}
    points = np.array([list(p.values()) for p in design.sampled("saltelli", vary, 8, seed=0)]).reshape(5, 8, 3)
    a, b, *mixed = points
    for field, ab in enumerate(mixed):
        assert np.array_equal(ab[:, field], b[:, field])
        assert np.array_equal(np.delete(ab, field, 1), np.delete(a, field, 1))


@pytest.mark.parametrize(
    "text", ["__import__('os')", "().__class__", "[1]", "lambda: 1", "f(2)", "a.b()", "1 +", "x[0]"]
)
def test_only_arithmetic_is_evaluated(text):
    with pytest.raises(ValueError):
        Expression(text)


@pytest.mark.parametrize(
    ("text", "wrong"), [("9**9**9**9", "out of range"), ("1/0", "zero"), ("'a'*9**9", "arithmetic")]
)
def test_what_cannot_be_computed_is_said(text, wrong):
    with pytest.raises(ValueError, match=wrong):
        Expression(text)({})


BAD = {
    "vary.l1.sise is unknown; did you mean": {"vary": {"l1.sise": [1]}},
    "l1.size_bytes gives size_bytes = 16384; .* (point 0: l1.ways = 5)": {"vary": {"l1.ways": [5]}},
    "vary.l1.ways is a range without step": {"vary": {"l1.ways": {"from": 1, "to": 8}}},
    "vary.l1.ways lists a value twice": {"vary": {"l1.ways": [4, 4]}},
    "vary.l1.ways goes from 8 to 4": {"vary": {"l1.ways": {"from": 8, "to": 4, "step": 1}}},
    "makes 250,000 points; give fewer, or set design.most = 250000": {
        "vary": {"l1.mshrs": {"from": 1, "to": 500, "step": 1}, "dram.queue": {"from": 1, "to": 500, "step": 1}}
    },
    "workload.row is not a parameter of spmv": {"vary": {"workload.row": [5]}},
    "stochastic.arbitration is 3": {"vary": {"stochastic.arbitration": [True, 3]}},
    "follow.l1.ways uses l1.siz, which is unknown; did you mean": {
        "vary": {"l1.size_bytes": [4096]}, "follow": {"l1.ways": "l1.siz"},
    },
    "follow has l1.ways and l1.mshrs, which follow from each other": {
        "vary": {"dram.queue": [4]}, "follow": {"l1.ways": "l1.mshrs", "l1.mshrs": "l1.ways"},
    },
    "gpus has c2050, which is not in the library": {"gpus": "c2050", "vary": {"l1.ways": [4]}},
    "trial is unknown; did you mean trials": {"trial": 3},
    "design.methods is unknown; did you mean method": {"design": {"methods": "grid"}},
    "blocks is unknown; blocks belongs to [kernels.NAME]": {"blocks": "1x"},
    "design.trials is unknown; trials belongs to the study": {"design": {"trials": 3}},
    "zzz is unknown; the study has kernels, gpus, ": {"zzz": 1},
    "design.points is 100; sobol needs a power of two": {
        "design": {"method": "sobol", "points": 100}, "vary": {"l1.mshrs": {"from": 1, "to": 9}},
    },
    "set.l1.ways is given": {"vary": {"l1.mshrs": [4]}, "set": {"l1.ways": 4}, "follow": {"l1.ways": "4"}},
    "vary has no field": {},
    "require leaves none of the 2 points": {"vary": {"l1.ways": [4, 8]}, "require": ["l1.ways > 99"]},
    "kernels.t.trace is nowhere.h5, which does not exist": {
        "kernels": {"t": {"trace": "nowhere.h5"}}, "vary": {"l1.ways": [4]},
    },
    "kernels.t has no source": {"kernels": {"t": {}}, "vary": {"l1.ways": [4]}},
    "max_trials is 3; give 4": {"max_trials": 3, "vary": {"l1.ways": [4]}},
}  # fmt: skip


@pytest.mark.parametrize("wrong", BAD)
def test_what_is_wrong_is_one_line(wrong):
    with pytest.raises(InputError) as raised:
        study(**BAD[wrong]).check()
    message = str(raised.value)
    head, _, tail = wrong.partition(" .* ")
    assert message.startswith("s.toml: ") and head.replace("set.l1.ways is given", "is given in") in message
    assert tail in message and "\n" not in message


def test_paths_start_at_the_study_file(tmp_path, monkeypatch):
    """From any current folder; names of the library stay names."""
    (folder := tmp_path / "studies").mkdir()
    memsim.trace("saxpy", n=1024, blocks="all", out=folder / "t.h5")
    shutil.copy(ROOT / "traces" / "saxpy.py", folder / "own.py")
    (folder / "own.toml").write_text('inherit = "tesla-v100"\nname = "own"\n')
    (folder / "s.toml").write_text(
        'kernels = ["t.h5", "own.py", "spmv"]\ngpus = ["own.toml", "a100"]\n[vary]\n"l1.mshrs" = [16]\n'
    )
    for current, name in ((tmp_path, "studies/s.toml"), (folder, "s.toml")):
        monkeypatch.chdir(current)
        found = memsim.Study.load(name)
        found.check()
        assert [case.kernel for case in found.cases] == ["t", "t", "own", "own", "spmv", "spmv"]
        assert {Path(run.base).name for run in found.runs} == {"own.toml", "a100"}
    monkeypatch.chdir(tmp_path)
    (folder / "s.toml").write_text('kernels = ["gone.h5"]\n[vary]\n"l1.mshrs" = [16]\n')
    with pytest.raises(InputError, match=r"trace is studies/gone.h5, which does not exist"):
        memsim.Study.load("studies/s.toml").check()
