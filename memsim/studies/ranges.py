"""The values that a field may take in a study: a list, or a range in equal or logarithmic steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Value = int | float | bool | str
_SCALES = ("linear", "log")
_KEYS = {"from", "to", "step", "count", "scale"}
_MOST_LEVELS = 10_000


@dataclass(frozen=True)
class Listed:
    """Values that are listed: numbers, switches or words."""

    values: tuple[Value, ...]

    def levels(self) -> tuple[Value, ...]:
        return self.values

    def at(self, share: float) -> Value:
        """The value at a share of the list, 0 to 1 (exclusive).

        >>> Listed((4, 8)).at(0.5)
        8
        """
        return self.values[min(int(share * len(self.values)), len(self.values) - 1)]


@dataclass(frozen=True)
class Range:
    """Any number from `low` to `high`, both included, which only random designs can take; whole ones where both are.

    Attributes:
        log: whether equal steps are factors.
        is_integer: whether only whole numbers are meant.
    """

    low: float
    high: float
    log: bool
    is_integer: bool

    def levels(self) -> None:
        return None

    def at(self, share: float) -> Value:
        """The value at a share of the range, 0 to 1 (exclusive).

        >>> made({"from": 1, "to": 4}).at(0.99), made({"from": 1.0, "to": 100.0, "scale": "log"}).at(0.5)
        (4, 10.0)
        """
        end = self.high + 1 if self.is_integer else self.high  # each whole number has an equal share
        found = self.low * (end / self.low) ** share if self.log else self.low + share * (end - self.low)
        return min(math.floor(found), int(self.high)) if self.is_integer else found


Values = Listed | Range


def is_range(data: Any) -> bool:
    """Whether a table of a study file is a range rather than a section with fields of its own."""
    return isinstance(data, Mapping) and bool(data) and set(data) <= _KEYS


def made(data: Any) -> Values:
    """The values that a study file gives: a list, a table ``{from, to, step | count, scale}``, or one value.

    Raises:
        ValueError: what is wrong and what would be right.

    >>> made({"from": 4096, "to": 65536, "count": 5, "scale": "log"}).levels()
    (4096, 8192, 16384, 32768, 65536)
    >>> made({"from": 2, "to": 6, "step": 2}).levels(), made(["lru", "fifo"]).levels()
    ((2, 4, 6), ('lru', 'fifo'))
    """
    if is_range(data):
        return _range(data)
    values = data if isinstance(data, list | tuple) else [data]
    if not values:
        raise ValueError("has no values; give a list, or { from = 1, to = 8, step = 1 }")
    for value in values:
        if not isinstance(value, int | float | str) or (isinstance(value, float) and not math.isfinite(value)):
            raise ValueError(f"has {value!r:.60}; give numbers, text or switches, or {{ from = 1, to = 8, step = 1 }}")
    if len({(type(value), value) for value in values}) < len(values):
        raise ValueError("lists a value twice; leave one out")
    return Listed(tuple(values))


def _range(data: Mapping[str, Any]) -> Values:
    low, high, scale = data.get("from"), data.get("to"), data.get("scale", "linear")
    for name, bound in (("from", low), ("to", high)):
        if isinstance(bound, bool) or not isinstance(bound, int | float) or not math.isfinite(bound):
            raise ValueError(f"has {name} = {bound!r:.60}; give a number")
    assert low is not None and high is not None
    if scale not in _SCALES:
        raise ValueError(f"has scale = {scale!r:.60}; give linear or log")
    if not low < high:
        raise ValueError(f"goes from {low} to {high}; give a smaller `from` than `to`")
    if scale == "log" and low <= 0:
        raise ValueError(f"starts at {low}; a logarithmic range starts above 0")
    is_integer = isinstance(low, int) and isinstance(high, int)
    steps = _steps(data, low, high, scale == "log", is_integer)
    return Range(low, high, scale == "log", is_integer) if steps is None else Listed(steps)


def _steps(data: Mapping[str, Any], low: float, high: float, log: bool, is_integer: bool) -> tuple[Value, ...] | None:
    """The levels; with scale = "log", `step` is a factor."""
    step, count = data.get("step"), data.get("count")
    if step is not None and count is not None:
        raise ValueError("gives both step and count; give one of them")
    if count is not None:
        if type(count) is not int or not 2 <= count <= _MOST_LEVELS:
            raise ValueError(f"has count = {count!r:.60}; give a whole number from 2 to {_MOST_LEVELS:,}")
        shares = [k / (count - 1) for k in range(count)]
        exact = [low * (high / low) ** share if log else low + share * (high - low) for share in shares]
        return tuple(dict.fromkeys(round(one) for one in exact)) if is_integer else tuple(exact)
    if step is None:
        return None
    if isinstance(step, bool) or not isinstance(step, int | float) or not step > (1 if log else 0):
        raise ValueError(f"has step = {step!r:.60}; give a number above {'1, a factor' if log else '0'}")
    n = math.floor((math.log(high / low) / math.log(step) if log else (high - low) / step) + 1e-9)
    if n >= _MOST_LEVELS:
        raise ValueError(f"has {n + 1:,} steps; give at most {_MOST_LEVELS:,}")
    exact = [low * step**k if log else low + k * step for k in range(n + 1)]
    return tuple(round(one) for one in exact) if is_integer and isinstance(step, int) else tuple(exact)
