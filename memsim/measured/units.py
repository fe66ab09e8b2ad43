"""The profiler's units, which it scales to what reads well, taken back to base ones."""

from __future__ import annotations

import re

_TIME_NS = {
    "nsecond": 1.0, "usecond": 1e3, "msecond": 1e6, "second": 1e9,
    "ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9,
}  # fmt: skip
_PREFIX = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}  # decimal: 32 KiB of shared memory print as 32.77 Kbyte
_COUNTED = re.compile(r"([KMGT]?)(byte|sector|request|inst|cycle|block|thread|warp)s?")


def to_base(value: float, unit: str) -> float | None:
    """A value in ns, bytes, or what its unit counts; None for a unit that is not known.

    >>> to_base(1.5, "usecond"), to_base(2, "Mbyte"), to_base(87.5, "%"), to_base(1, "furlong")
    (1500.0, 2000000.0, 87.5, None)
    """
    if unit in ("", "%"):
        return value
    if unit in _TIME_NS:
        return value * _TIME_NS[unit]
    found = _COUNTED.fullmatch(unit)
    return value * _PREFIX[found[1]] if found else None
