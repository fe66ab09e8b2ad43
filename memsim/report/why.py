"""Findings: what to look at first, the evidence, the estimated speed-up, and what to try."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from memsim.analysis.percent import percent, percent_change
from memsim.analysis.result import RunResult
from memsim.analysis.time_breakdown import time_breakdown
from memsim.analysis.utilization import LATENCY, bound_by, busy_shares
from memsim.report.best_possible import breakdown_line
from memsim.report.output import CommandOutput, joined
from memsim.report.prose import wrapped
from memsim.report.result_json import document, findings_document
from memsim.why import LEAST_SHARE, Bottleneck, Finding, find_bottlenecks

_SHOWN = 6
_LEAST_GAIN = 0.01  # a cause whose removal saves less is named, and no more
_MEANING = (
    "estimated speed-up: of a replay with the cause removed, with the 95 % interval of the mean time; upper bound: the "
    "busiest part of the GPU then still has its work to do; the speed-ups of several causes overlap"
)
_SHARE = (
    "attributable share: of the memory time; it ranks findings and does not predict a speed-up; upper bound: as the "
    "busiest part of the GPU allows"
)


def why_output(result: RunResult, found: Sequence[Bottleneck] | None = None) -> CommandOutput:
    """What ``memsim show --why`` prints; as rows, its findings; as values, the object of ``memsim show --json``.

    Args:
        result: the result.
        found: its causes, the largest saving first; None: nothing is replayed.
    """
    return CommandOutput(
        lambda: _findings(result, found), lambda: _rows(result, found), lambda: document(result, found)
    )


def why_text(result: RunResult, found: Sequence[Bottleneck] | None = None) -> str:
    """The same as text."""
    return joined(_findings(result, found))


def _rows(result: RunResult, found: Sequence[Bottleneck] | None) -> Iterator[dict[str, Any]]:
    for one in findings_document(result, found) or ():
        gain = one.pop("gain") or {"mean": None, "interval": None}
        low, high = gain["interval"] or (None, None)
        yield one | {"gain": gain["mean"], "gain_low": low, "gain_high": high}


def _findings(result: RunResult, found: Sequence[Bottleneck] | None) -> list[str]:
    bottlenecks = list(find_bottlenecks(result) if found is None else found)
    reported = [one for one in bottlenecks if is_reported(one)]
    paragraphs = [
        _head(result, reported, bool(bottlenecks)),
        *(_entry(n, one) for n, one in enumerate(reported[:_SHOWN], 1)),
    ]
    if rest := reported[_SHOWN:]:
        paragraphs.append(f"smaller findings: {', '.join(one.cause for one in rest)} (memsim show --json lists them)")
    if void := [f"{one.cause} (time {_change(one.expected_saving)})" for one in bottlenecks if one not in reported]:
        paragraphs.append(wrapped(f"replayed without a speed-up: {', '.join(void)}"))
    return paragraphs


def is_reported(one: Bottleneck) -> bool:
    """Whether a cause is worth a reader's time: a replay without it was faster, or none was made."""
    return one.gain is None or one.expected_saving >= _LEAST_GAIN


def _head(result: RunResult, reported: Sequence[Bottleneck], found: bool) -> str:
    name = f"{result.trials.about['trace']['kernel']} on {result.gpu}"
    if reported:
        replayed = any(one.gain for one in reported)
        order = "largest estimated speed-up first" if replayed else "largest attributable share first"
        what = f"{len(reported)} finding{'s' * (len(reported) != 1)}, {order}"
        meaning = _MEANING if replayed else _SHARE
    else:
        waste = f"no access has an attributable share of {percent(LEAST_SHARE)} of the memory time"
        what, meaning = "no findings", "no replay with a cause removed is faster" if found else waste
    breakdown = time_breakdown(result)
    limit = [] if breakdown is None else [breakdown_line(breakdown)]
    return "\n".join(wrapped(line) for line in (f"{name}: {what}", _busy(result), *limit, meaning))


def _busy(result: RunResult) -> str:
    bound, _ = bound_by(result)
    verdict = f"bound by {bound}" + (": no part of the GPU is busy for long" if bound == LATENCY else "")
    ranked = sorted(busy_shares(result).items(), key=lambda part: -part[1])
    return f"{verdict}; busy share of the time: {', '.join(f'{part} {percent(share)}' for part, share in ranked)}"


def gain_text(one: Bottleneck) -> str:
    """The estimated speed-up and the time that it saves.

    >>> import numpy as np
    >>> from memsim.analysis.statistics import Sample
    >>> from memsim.why import Cause, Gain
    >>> gain_text(Bottleneck(Cause.scattered, (), 0.9, 0.6, Gain("", Sample(np.array([0.5, 0.5])), 0.6)))
    'estimated speed-up 2x (time -50.0 %, 95 % interval -50.0 … -50.0), upper bound -60.0 %'
    """
    bound = f"upper bound {_change(one.upper_bound)}"
    if one.gain is None:
        return f"attributable share {percent(one.attributable_share)}, not replayed, {bound}"
    saved, its = one.gain.share.mean, one.gain.interval
    within = f", 95 % interval {-100 * its.high:+.1f} … {-100 * its.low:+.1f}" if its else ""
    return f"estimated speed-up {1 / (1 - saved):.3g}x (time {_change(saved)}{within}), {bound}"


def _change(saved: float) -> str:
    """The change of the time, of the share that is saved."""
    return percent_change(-saved, 1)


def _entry(number: int, one: Bottleneck) -> str:
    lines = [wrapped(f"{number}. {one.cause}: {gain_text(one)}", "", "   ")]
    if one.gain is not None:
        lines.append(wrapped(f"replayed with {one.gain.transform}", "   ", "      "))
    for evidence in dict.fromkeys(finding.evidence for finding in one.findings):
        lines += [_accesses_line(finding) for finding in one.findings if finding.evidence == evidence]
        lines.append(wrapped(evidence, "      ", "      "))
    for advice in dict.fromkeys(finding.advice for finding in one.findings):
        lines.append(wrapped(f"try: {advice}", "   ", "        "))
    return "\n".join([*lines, f"   see {one.cause.section}"])


def _accesses_line(finding: Finding) -> str:
    array = f" ({finding.array})" if finding.array else ""
    share = f"{percent(finding.attributable_share):>5}"
    return wrapped(f"{finding.location}  {share}  {finding.text}{array}", "   ", " " * 10)
