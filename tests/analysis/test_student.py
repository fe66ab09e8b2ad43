"""Student's quantiles are scipy's."""

from __future__ import annotations

import pytest
from scipy.special import stdtrit

from memsim.analysis.student import t_quantile


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.999])
def test_quantiles_are_those_of_scipy(level):
    for degrees in (*range(1, 70), 199, 200, 999, 1000):
        assert t_quantile(degrees, level) == pytest.approx(stdtrit(degrees, 0.5 + level / 2), rel=1e-9)
