"""Kernels that a program's tuner has tuned: the configurations that it tried, and the launches that it timed.

A report is JSON: ``{"kernel": NAME, "configurations": [{"chosen": {NAME: VALUE}, "benchmark": NUMBER}]}``. A
configuration that failed has ``"reason": TEXT`` in the place of its benchmark. Benchmarks are counted per process, from
0. A tuner that reports nothing is named by ``{"unreported": TEXT}``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memsim.capture.protocol import ProtocolError


@dataclass(frozen=True)
class TimedLaunch:
    """A launch that was timed.

    Attributes:
        milliseconds: the time that the program received.
        traces: one of each of the timer's ``blocks``; empty where it keeps none.
    """

    milliseconds: float
    traces: Sequence[Path] = ()


@dataclass(frozen=True)
class Configuration:
    """One configuration of a tuned kernel.

    Attributes:
        chosen: value by choice.
        launches: that were timed; empty where it failed.
        reason: why it failed.
    """

    chosen: dict[str, Any]
    launches: Sequence[TimedLaunch] = ()
    reason: str = ""

    @property
    def milliseconds(self) -> float:
        return sum(one.milliseconds for one in self.launches)

    def __str__(self) -> str:
        return ", ".join(f"{name}: {value}" for name, value in self.chosen.items())


@dataclass(frozen=True)
class TunedKernel:
    """A tuned kernel, and its configurations in the order in which they were tried."""

    kernel: str
    configurations: Sequence[Configuration]

    def summary(self, gpu: str) -> str:
        """One line for the user: the best configuration, and how much longer the worst takes."""
        times = {one.milliseconds: one for one in self.configurations if not one.reason}
        if not times:
            return (
                f"{self.kernel} is not tuned for {gpu}: "
                f"none of its {len(self.configurations)} configurations can be launched there"
            )
        shortest, worst = min(times), max(times)
        timed = sum(not one.reason for one in self.configurations)
        return (
            f"{self.kernel} tuned for {gpu}, {timed} configurations simulated: "
            f"{times[shortest]} takes {shortest:.3g} ms; "
            f"{times[worst]} takes {worst / shortest:.2f} times as long"
        )


@dataclass(frozen=True)
class SilentTuner:
    """A tuner that does not report what it tries, named with its version."""

    name: str


def read_report(text: str, benchmarks: Sequence[Sequence[TimedLaunch]]) -> TunedKernel | SilentTuner:
    """The tuned kernel of a report, or a tuner that reports none.

    Args:
        text: the report.
        benchmarks: the timed launches of the process's benchmarks.

    Raises:
        ProtocolError: the report makes no sense.

    >>> read_report('{"kernel": "k", "configurations": [{"chosen": {"B": 2}, "reason": "too large"}]}', [])
    TunedKernel(kernel='k', configurations=[Configuration(chosen={'B': 2}, launches=(), reason='too large')])
    """
    try:
        report = json.loads(text)
        if "unreported" in report:
            return SilentTuner(str(report["unreported"]))
        return TunedKernel(str(report["kernel"]), [_configuration(one, benchmarks) for one in report["configurations"]])
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise ProtocolError(f"a tuner's report is invalid ({error})") from None


def _configuration(one: dict[str, Any], benchmarks: Sequence[Sequence[TimedLaunch]]) -> Configuration:
    chosen = dict(one["chosen"])
    if "reason" in one:
        return Configuration(chosen, reason=str(one["reason"]))
    launches = benchmarks[one["benchmark"]]
    return Configuration(chosen, launches, "" if launches else "launched no kernel")
