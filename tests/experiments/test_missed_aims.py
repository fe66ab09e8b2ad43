"""Missed aims are listed by the mechanism that explains them."""

from __future__ import annotations

import re
from math import nan

from experiments.harness.__main__ import STUDIES
from experiments.harness.mechanisms import mechanisms, missed_table
from experiments.harness.scoreboard import row
from experiments.harness.study import AtLeast, Claim


def test_mechanisms_belong_to_studies_that_exist():
    assert {one.study for one in mechanisms()} <= set(STUDIES)
    assert all(re.compile(one.claims) and one.text for one in mechanisms())


def test_missed_rows_are_counted_by_mechanism():
    met, missed, new = (
        row(Claim(name, nan, ours, aim=AtLeast(1)))
        for name, ours in (("triton: atomics", 2), ("h100: atomics", 0), ("a new claim", 0))
    )
    lines = missed_table({"triton": [met, missed, missed, new]}).splitlines()[2:]
    assert [line.rsplit("|", 2)[1].strip() for line in lines] == ["2", "1"]
    assert "which words" in lines[0] and "not explained" in lines[1]
