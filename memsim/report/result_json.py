"""A result as JSON: the contract of ``memsim show --json``, described in docs/reference/json.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from memsim.analysis.choices import Convention
from memsim.analysis.loads import Load
from memsim.analysis.profiler import metrics
from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Sample
from memsim.analysis.time_breakdown import time_breakdown
from memsim.report.best_possible import best_possible_document
from memsim.support.deprecated import with_old_keys

if TYPE_CHECKING:
    from memsim.why import Bottleneck, Finding


def document(result: RunResult, bottlenecks: Sequence[Bottleneck] | None = None) -> dict[str, Any]:
    """The contract's object, of JSON values: a quantity that does not exist is None.

    Args:
        result: the result.
        bottlenecks: of its slowness, with gains; None: as they are known without a replay.
    """
    about = result.trials.about
    found = with_old_keys(
        "result",
        {
            "gpu": result.gpu,
            "trace": about["trace"],
            "trials": len(result.trials.trial),
            "seed": result.seed,
            "interrupted": result.interrupted,
            "until": None if result.until is None else with_old_keys("until", result.until),
            "convention": str(result.convention),
            "ratios": {name: _with_sd(ratio) for name, ratio in result.ratios.items()},
            "counters": result.counters,
            "profiler": profiler_document(result) if result.convention is Convention.profiler else None,
            "translation": result.translation,
            "components": result.components,
            "cycles": result.cycles.mean,
            "cycles_interval": result.cycles.interval(),
            "waves": result.waves,
            "whole_kernel": result.whole,
            "sampling": None if result.sampling is None else asdict(result.sampling),
            "launch_cycles": result.launch_cycles,
            "kernel_time_ms": mean_and_interval(result.kernel_time),
            "kernel_time_interval_ms": result.kernel_time_interval,
            "prediction_interval_ms": result.prediction_interval,
            "kernel_time_is_least": result.is_least_time,
            **best_possible_document(time_breakdown(result)),
            "clock_mhz": about["gpu"]["sm"]["clock_mhz"],
            "memory_latency": mean_and_interval(result.memory_latency),
            "loads": [_load(load) for load in result.loads],
            "stores": [store.record() for store in result.stores],
            "findings": findings_document(result, bottlenecks),
            "performance": result.performance,
            "versions": about["versions"],
            "created": about["created"],
        },
    )
    return {name: without_nan(value) for name, value in found.items()}


def profiler_document(result: RunResult) -> dict[str, Any]:
    """The profiler's own figures by its names."""
    return {name: {"unit": one.unit, **mean_and_interval(one.values)} for name, one in metrics(result).items()}


def findings_document(result: RunResult, bottlenecks: Sequence[Bottleneck] | None) -> list[dict[str, Any]] | None:
    """Every finding of a result, the largest first; None of a file that does not hold what they need."""
    from memsim.why import find_bottlenecks, has_profiles

    if not has_profiles(result):
        return None  # a file before version 1.2
    found = find_bottlenecks(result) if bottlenecks is None else bottlenecks
    return [_finding(one, finding) for one in found for finding in one.findings]


def _finding(one: Bottleneck, finding: Finding) -> dict[str, Any]:
    found = {
        "cause": finding.cause,
        "location": finding.location,
        "text": finding.text,
        "array": finding.array,
        "attributable_share": finding.attributable_share,
        "bounded_share": finding.bounded_share,
        "evidence": finding.evidence,
        "advice": finding.advice,
        "see": one.cause.section,
        "upper_bound": one.upper_bound,
        "gain": None if one.gain is None else {"mean": one.gain.share.mean, "interval": one.gain.interval},
        "replayed": None if one.gain is None else one.gain.transform,
    }
    return with_old_keys("finding", found)


def _load(load: Load) -> dict[str, Any]:
    return {name: getattr(load, name) for name in ("file", "line", "column", "text", "array")} | {
        "l1_hit": load.l1_hit.mean,
        "l2_hit": load.l2_hit.mean,
        "latency": mean_and_interval(load.latency),
        "instruction_latency": mean_and_interval(load.instruction_latency),
        "x": mean_and_interval(load.x),
        "share": load.share.mean,
    }


def mean_and_interval(sample: Sample) -> dict[str, Any]:
    """A quantity as the contract has it."""
    return {"mean": sample.mean, "interval": sample.interval()}


def _with_sd(sample: Sample) -> dict[str, Any]:
    return {"mean": sample.mean, "sd": sample.sd, "interval": sample.interval()}


def without_nan(value: Any) -> Any:
    """The same JSON value, with None for every number that is not finite."""
    if isinstance(value, dict):
        return {name: without_nan(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
