"""Bottlenecks as JSON values, as a program's profile keeps them: its page then shows the findings of its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from memsim.analysis.statistics import Sample
from memsim.support.errors import InputError
from memsim.why.finding import Bottleneck, Cause, Finding, Gain

_TEXTS, _NUMBERS = ("location", "text", "array", "evidence", "advice"), ("attributable_share", "bounded_share")


def documents(causes: Sequence[Bottleneck]) -> list[dict[str, Any]]:
    """The causes as values that JSON can hold."""
    found = []
    for one in causes:
        gain = one.gain
        found.append(
            {
                "cause": str(one.cause),
                "findings": [
                    asdict(each) | {"cause": str(each.cause), "ops": list(map(int, each.ops))} for each in one.findings
                ],
                "attributable_share": float(one.attributable_share),
                "upper_bound": float(one.upper_bound),
                "gain": None
                if gain is None
                else {
                    "transform": gain.transform,
                    "share": gain.share.values.tolist(),
                    "upper_bound": float(gain.upper_bound),
                },
            }
        )
    return found


def bottlenecks(path: object, stored: Any, n_ops: int) -> list[Bottleneck]:
    """What :func:`documents` wrote.

    Args:
        path: of the file, for messages.
        stored: what it holds.
        n_ops: static instructions of the kernel.

    Raises:
        InputError: it holds anything else.
    """
    try:
        return [_bottleneck(one, n_ops) for one in stored]
    except (TypeError, KeyError, ValueError, AttributeError):
        raise InputError(path, "about.causes", "holds impossible values; the file is damaged") from None


def _bottleneck(one: Mapping[str, Any], n_ops: int) -> Bottleneck:
    gain = one["gain"]
    return Bottleneck(
        Cause(one["cause"]),
        tuple(_finding(each, n_ops) for each in one["findings"]),
        _share(one["attributable_share"]),
        _share(one["upper_bound"]),
        None
        if gain is None
        else Gain(
            _text(gain["transform"]), Sample(np.array(list(map(_share, gain["share"])))), _share(gain["upper_bound"])
        ),
    )


def _finding(one: Mapping[str, Any], n_ops: int) -> Finding:
    ops = one["ops"]
    if not all(type(op) is int and 0 <= op < n_ops for op in ops):
        raise ValueError("ops")
    return Finding(
        cause=Cause(one["cause"]),
        **{name: _text(one[name]) for name in _TEXTS},  # type: ignore[arg-type]
        **{name: _share(one[name]) for name in _NUMBERS},  # type: ignore[arg-type]
        ops=tuple(ops),
        removed_work={_text(name): _share(value) for name, value in one["removed_work"].items()},
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("text")
    return value


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e6:
        raise ValueError("share")
    return float(value)
