"""The studies run on small snapshots, and the scoreboard says what they found."""

from __future__ import annotations

import math
import re

import pytest

from experiments.harness import __main__ as papers
from experiments.harness.readme import filled, markdown
from experiments.harness.scoreboard import as_markdown, keep, kept, row, text
from experiments.harness.study import AtLeast, Claim, Points, Within


@pytest.mark.slow
@pytest.mark.parametrize("name", papers.STUDIES)
def test_quick_study_fills_each_table(name, tmp_path, monkeypatch):
    for package in papers.NEEDS.get(name, ()):
        pytest.importorskip(package, reason=f"{package} is not installed")
    readme = (papers.EXPERIMENTS / name / "README.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    outcome = papers.run(name, quick=True, jobs=1)
    assert outcome.claims
    assert all(math.isfinite(claim.ours) for claim in outcome.claims)
    assert filled(readme, outcome.tables)
    assert list((tmp_path / "out" / "papers" / name).glob("*.png"))


def test_every_study_is_listed_where_people_look():
    readme = (papers.EXPERIMENTS / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"^\| \[(\w+)\]", readme, re.MULTILINE))
    assert set(papers.STUDIES) <= linked == {path.parent.name for path in papers.EXPERIMENTS.glob("*/README.md")}


def test_the_scoreboard_shows_error_aim_and_verdict(tmp_path):
    claims = [
        Claim("ratio", 50.0, 53.0, (52.5, 53.5), "%", "table 1", aim=Points(3.5)),
        Claim("time", 200.0, 180.0, unit="ms", aim=Within(0.05)),
        Claim("correlation", math.nan, 0.97, aim=AtLeast(0.9)),
    ]
    rows = {"a": [row(claim) for claim in claims]}
    ratio, time, correlation, _, count = text(rows).splitlines()[2:]
    assert " ".join(ratio.split()) == "a ratio 50 53 52.5 … 53.5 % +3.0 pp within 3.5 met"
    assert " ".join(time.split()) == "a time 200 180 ms -10.0 % within 5 % missed"
    assert " ".join(correlation.split()) == "a correlation – 0.97 ≥ 0.9 met"
    assert count == "3 claims; 2 of 3 aims met"
    assert "| met | table 1 |" in as_markdown(rows)
    keep(tmp_path / "rows.csv", rows["a"])
    assert kept(tmp_path / "rows.csv") == rows["a"] and kept(tmp_path / "none.csv") == []


def test_a_table_and_its_place_must_both_exist():
    table = markdown(["x"], [["1"]])
    with pytest.raises(ValueError, match="places for \\['a'\\], the study has tables \\['b'\\]"):
        filled("<!-- table a --><!-- end -->", {"b": table})
