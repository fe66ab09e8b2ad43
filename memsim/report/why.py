"""Findings as text: what to look at first, why, what putting it right wins, and what to try."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from memsim.analysis.result import Result
from memsim.support.terminal import prose_columns
from memsim.why import LEAST_EXCESS, Explanation, Finding, explanations
from memsim.why.parts import BOUND, busiest, busy

_SHOWN = 6
_LEAST_GAIN = 0.01  # a cause whose repair wins less is named, and no more
_MEANING = (
    "to win: share of the kernel's time that a replay with the cause put right does not take, with the 95 % interval "
    "of its mean; at most: what the part leaves that is then the busiest; gains overlap"
)
_EXCESS = "in excess: share of the memory time, which ranks and does not predict; at most: as the busiest part allows"


def why_text(result: Result, found: Sequence[Explanation] | None = None) -> str:
    """What ``memsim show --why`` prints.

    Args:
        result: the result.
        found: its causes, most to win first; None: nothing is replayed.
    """
    causes = list(explanations(result) if found is None else found)
    told = [one for one in causes if is_told(one)]
    parts = [_head(result, told, bool(causes)), *(_entry(n, one) for n, one in enumerate(told[:_SHOWN], 1))]
    if rest := told[_SHOWN:]:
        parts.append(f"and for less: {', '.join(one.cause for one in rest)} (memsim show --json lists them)")
    if void := [f"{one.cause} {_percent(one.at_stake)}%" for one in causes if one not in told]:
        parts.append(_wrapped(f"put right in a replay, without gain: {', '.join(void)}", "", "  "))
    return "\n\n".join(parts)


def is_told(one: Explanation) -> bool:
    """Whether a cause is worth a reader's time: a replay that put it right won something, or none was made."""
    return one.gain is None or one.at_stake >= _LEAST_GAIN


def _head(result: Result, told: Sequence[Explanation], found: bool) -> str:
    name = f"{result.trials.about['trace']['kernel']} on {result.gpu}"
    if told:
        replayed = any(one.gain for one in told)
        order = "most to win first" if replayed else "most in excess first"
        what, meaning = (
            f"{len(told)} finding{'s' * (len(told) != 1)} of weight, {order}",
            _MEANING if replayed else _EXCESS,
        )
    else:
        waste = f"no access wastes {LEAST_EXCESS:.0%} of the memory time"
        what, meaning = "nothing of weight", "what is in excess wins nothing in a replay" if found else waste
    return "\n".join(_wrapped(line, "", "  ") for line in (f"{name}: {what}", _busy(result), meaning))


def _busy(result: Result) -> str:
    parts = busy(result)
    name, most = busiest(parts)
    verdict = f"bound by {name}" if most >= BOUND else "bound by latency, for no part is busy for long"
    ranked = sorted(parts.items(), key=lambda part: -part[1])
    return f"{verdict}; busy of the time: {', '.join(f'{part} {share:.0%}' for part, share in ranked)}"


def gain_text(one: Explanation) -> str:
    """What it wins, in words."""
    if one.gain is None:
        return f"{one.excess:.0%} in excess, not replayed"
    its = one.gain.share.interval()
    within = f" ({_percent(its.low)} … {_percent(its.high)})" if its else ""
    return f"{_percent(one.gain.share.mean)}%{within} to win"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _entry(number: int, one: Explanation) -> str:
    lines = [f"{number}. {one.cause}: {gain_text(one)}, at most {one.bound:.0%}"]
    if one.gain is not None:
        lines.append(_wrapped(f"replayed with {one.gain.repair}", "   ", "      "))
    for evidence in dict.fromkeys(finding.evidence for finding in one.findings):
        lines += [_place(finding) for finding in one.findings if finding.evidence == evidence]
        lines.append(_wrapped(evidence, "      ", "      "))
    lines.append(_wrapped(f"try: {one.findings[0].advice}", "   ", "        "))
    return "\n".join([*lines, f"   see {one.cause.section}"])


def _place(finding: Finding) -> str:
    array = f" ({finding.array})" if finding.array else ""
    return _wrapped(f"{finding.place}  {finding.excess:4.0%}  {finding.text}{array}", "   ", " " * 10)


def _wrapped(text: str, first: str, then: str) -> str:
    return textwrap.fill(text, prose_columns(), initial_indent=first, subsequent_indent=then)
