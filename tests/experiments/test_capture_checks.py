"""What captured programs print of their results is read for what it says."""

import pytest

from experiments.capture.trying import verdict

PRINTED = {
    "Max error: 2.861023e-05": "ended",
    "  RMS error: 7.2e-06\n  MAX error: 2.8e-05\nTest passed": "passed",
    "Max absolute error: 0": "ended",
    "relative error: nan": "failed",
    "ERROR: 37 differences found": "failed",
    "Error: 3 elements are wrong, test passed": "failed",
    "Max error: 0.1, results do not agree": "failed",
    "hello": "ended",
}


@pytest.mark.parametrize("printed", PRINTED)
def test_counted_error_fails_and_plain_figure_does_not(printed):
    assert verdict(printed) == PRINTED[printed]
