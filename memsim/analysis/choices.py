"""What a user may choose when reading results; apart from the code that needs numpy, so that help texts are quick."""

from __future__ import annotations

from enum import StrEnum


class Convention(StrEnum):
    """Which requests a hit ratio counts as hits; :mod:`memsim.analysis.conventions` defines each."""

    model = "model"
    traffic = "traffic"
    profiler = "profiler"


class Method(StrEnum):
    """How an interval of the mean is found."""

    t = "t"  # Student's t: exact for normal trials
    bootstrap = "bootstrap"  # bias-corrected and accelerated (Efron 1987): for skewed trials


class Grouping(StrEnum):
    """What the loads are taken together by."""

    load = "load"
    array = "array"
    line = "line"
