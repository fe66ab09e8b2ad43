"""Bottlenecks that a profile keeps."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from memsim.analysis.statistics import Sample
from memsim.support.errors import InputError
from memsim.why.finding import Bottleneck, Cause, Finding, Gain
from memsim.why.stored import bottlenecks, documents

FINDING = Finding(Cause.scattered, "a.cu:3", "load a[i]", "a", 0.5, 0.4, "32 sectors", "move", (0, 2), {"DRAM": 0.25})
GAIN = Gain("side by side", Sample(np.array([0.25, 0.5])), 0.75)
BOTTLENECKS = [
    Bottleneck(Cause.scattered, (FINDING,), 0.5, 0.75, GAIN),
    Bottleneck(Cause.latency, (), 0.25, 0.5),
]


def test_stored_bottlenecks_are_read_back():
    found = bottlenecks("p.h5", json.loads(json.dumps(documents(BOTTLENECKS))), 3)
    assert found[1] == BOTTLENECKS[1] and found[0].findings == BOTTLENECKS[0].findings
    assert np.array_equal(found[0].gain.share.values, GAIN.share.values)
    assert found[0].rank() == BOTTLENECKS[0].rank()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ([0, "cause"], "no such cause"),
        ([0, "gain", "share"], ["a"]),
        ([0, "gain"], 3),
        ([0, "findings", 0, "ops"], [3]),
        ([0, "findings", 0, "text"], 7),
        ([0, "findings", 0, "removed_work"], []),
        ([0, "upper_bound"], True),
        ([0], None),
        ([], {"a": 1}),
    ],
)
def test_damaged_bottlenecks_are_refused(path, value):
    whole = [copy.deepcopy(documents(BOTTLENECKS))]
    place = whole
    for step in [0, *path][:-1]:
        place = place[step]
    place[[0, *path][-1]] = value
    with pytest.raises(InputError, match="about.causes"):
        bottlenecks("p.h5", whole[0], 3)
