"""Findings as text: what to look at first, why, and what to try."""

from __future__ import annotations

import textwrap
from itertools import groupby

from memsim.analysis.result import Result
from memsim.analysis.utilization import bandwidth_used
from memsim.models.mwp_cwp import Case
from memsim.why import LEAST_EXCESS, Cause, Finding, Regime, findings, regime
from memsim.why.findings import at_stake, gpu_of

_WIDTH = 100
_SHOWN = 6
_IMPLIES = {
    Case.few_warps: "warps are too few to hide waiting",
    Case.memory: "memory decides, computation hides behind it",
    Case.computation: "computation decides, memory hides behind it: expect less than the costs say",
}


def why_text(result: Result) -> str:
    """What ``memsim show --why`` prints."""
    ranked = [(cause, list(group)) for cause, group in groupby(findings(result), key=lambda one: one.cause)]
    parts = [_head(result, len(ranked)), *(_entry(n, *group) for n, group in enumerate(ranked[:_SHOWN], 1))]
    if rest := ranked[_SHOWN:]:
        parts.append(f"and for less: {', '.join(cause for cause, _ in rest)} (memsim show --json lists them)")
    return "\n\n".join(parts)


def _head(result: Result, causes: int) -> str:
    name = f"{result.trials.about['trace']['kernel']} on {result.gpu}"
    if causes:
        what = f"{causes} finding{'s' * (causes != 1)} of weight, the costliest first"
        meaning = (
            "in excess: share of the memory time; at stake: share of the kernel's time, no more can be won by putting "
            "it right; findings overlap"
        )
    else:
        what, meaning = "nothing of weight", f"no access wastes {LEAST_EXCESS:.0%} of the memory time"
    used = f"main memory moves {bandwidth_used(result):.0%} of what it could in this time"
    of = regime(result, gpu_of(result))
    lines = [f"{name}: {what}", *([_regime(of)] if of else []), used, meaning]
    return "\n".join(_wrapped(line, "", "  ") for line in lines)


def _regime(of: Regime) -> str:
    said = of.prediction
    return (
        f"MWP/CWP: {_IMPLIES[said.case]} (MWP {said.mwp:.1f}, limited by {of.mwp_limit}; CWP {said.cwp:.1f}; "
        f"{said.n} of {of.max_warps} warps an SM)"
    )


def _entry(number: int, cause: Cause, found: list[Finding]) -> str:
    excess = min(1.0, sum(one.excess for one in found))
    lines = [f"{number}. {cause}: {excess:.0%} in excess, up to {at_stake(found):.0%} at stake"]
    for evidence in dict.fromkeys(one.evidence for one in found):
        for one in found:
            if one.evidence == evidence:
                array = f" ({one.array})" if one.array else ""
                lines.append(_wrapped(f"{one.place}  {one.cost:4.0%}  {one.text}{array}", "   ", " " * 10))
        lines.append(_wrapped(evidence, "      ", "      "))
    return "\n".join([*lines, _wrapped(f"try: {found[0].advice}", "   ", "        ")])


def _wrapped(text: str, first: str, then: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=first, subsequent_indent=then)
