"""Default run and samples next to whole launches."""

from __future__ import annotations

import pytest

from experiments.launch_samples.compare import Answer, answer, compared, launches

WHOLE = Answer("a", "whole", 100, 8.0, 2.0, 2.0, 2.0, 0.5, 0.25, 1.0)


@pytest.mark.parametrize(("high", "held"), [(2.0, "yes"), (1.99, "no")])
def test_interval_holds_the_whole_launch(high, held):
    other = Answer("a", "sample", 20, 2.0, 1.9, 1.8, high, 0.49, 0.28, 1.0)
    assert compared([WHOLE, other]) == [f"| a | sample | 20 % | 4.0 | -5.0 % | 3.0 | {held} |"]


def test_small_launch_cannot_be_sampled():
    launch = launches()["Fan1"]
    assert answer("Fan1", launch, "sample").blocks == 0
    assert answer("Fan1", launch, "default").blocks == 8
