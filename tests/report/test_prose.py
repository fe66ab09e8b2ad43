"""Wrapped sentences."""

from memsim.analysis.percent import percent
from memsim.report.prose import wrapped


def test_percentages_stay_on_one_line():
    text = " ".join(f"a part of length {'x' * length} takes {percent(0.45)}" for length in range(60))
    lines = wrapped(text).split("\n")
    assert " ".join(line.strip() for line in lines) == text
    assert not any(line.strip().startswith("%") for line in lines) and max(map(len, lines)) <= 100
