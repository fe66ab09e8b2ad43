"""The slow version of a pair has the finding that its paper names, and the fast one has none of weight."""

from __future__ import annotations

import subprocess
import sys

import pytest
import synthetic

import memsim
from memsim.analysis.result import Result
from memsim.analysis.why import Cause, findings
from memsim.errors import InputError
from memsim.report.document import document
from memsim.report.why import why_text

# What CUDAMicroBench 2021 (for the transposes Ruetsch and Micikevicius 2009) names; slow and fast version.
PAIRS = [
    (Cause.scattered, "saxpy", dict(n=1 << 17, grid=64), dict(variant="block"), dict(variant="cyclic")),
    (Cause.misaligned, "saxpy", dict(n=1 << 16, dtype="float64"), dict(offset=1), dict(offset=0)),
    (Cause.divergence, "warp_divergence", dict(n=1 << 16), dict(variant="lanes"), dict(variant="warps")),
    (Cause.conflicts, "reduction", dict(n=1 << 16), dict(variant="interleaved"), dict(variant="sequential")),
    (Cause.reuse, "matmul", dict(n=96, dtype="float64"), dict(variant="naive"), dict(variant="tiled")),
    (Cause.scattered, "transpose", dict(n=256), dict(variant="naive"), dict(variant="padded")),
    (Cause.conflicts, "transpose", dict(n=256), dict(variant="tiled"), dict(variant="padded")),
]


def _result(name, parameters):
    trace = memsim.trace(name, blocks="all", **parameters)
    return memsim.simulate(trace, gpu="tesla-v100", trials=1, seed=1)


@pytest.mark.parametrize(("cause", "name", "common", "slow", "fast"), PAIRS)
def test_the_inefficiency_is_named_and_gone_in_the_fast_version(cause, name, common, slow, fast):
    first = findings(_result(name, common | slow))[0]
    assert first.cause is cause
    assert first.place.startswith(f"{name}.py:") and 0.03 <= first.cost <= 1
    assert findings(_result(name, common | fast)) == []


def test_text_and_json_say_the_same(tmp_path):
    result = _result("transpose", dict(n=128, variant="tiled"))
    (only,) = findings(result)
    assert only.evidence == "32.0 passes a warp instruction, 1.0 would do"
    text = why_text(result)
    assert text.startswith("1. transpose.py:") and only.evidence in text and only.advice in " ".join(text.split())
    assert document(result)["findings"] == [vars(only) | {"advice": only.advice}]
    result.save(tmp_path / "r.h5")
    command = [sys.executable, "-m", "memsim", "show", str(tmp_path / "r.h5"), "--why"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == text + "\n"


def test_nothing_of_weight_is_said_in_so_many_words():
    text = why_text(_result("saxpy", dict(n=1 << 16)))
    assert text.startswith("nothing of weight: no access wastes 3% of the memory time; main memory moves ")


def test_files_without_profiles_are_refused():
    with pytest.raises(InputError, match=r"ops\.profile is missing; run the trace again"):
        findings(Result(synthetic.spmv(2)))
    assert document(Result(synthetic.spmv(2)))["findings"] is None
