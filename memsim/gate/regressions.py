"""What became worse between a baseline and a change, on which source line, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memsim.analysis.percent import percent
from memsim.gate.baseline import Allowed
from memsim.gate.figures import AccessFigures, KernelFigures, MeasuredKernel

# Below these a growth is no regression: of a kernel that had none, the smallest share would be infinite.
_SLACK = {"bank_conflicts": 0.05, "dram_bytes": 4096.0}
_GREW = 0.02  # share of the kernel's total by which one access grew, from which on it explains a longer time
TITLES = {
    "time": "time", "sectors_per_request": "sectors per request", "bank_conflicts": "bank conflicts per request",
    "dram_bytes": "DRAM bytes", "occupancy": "occupancy",
}  # fmt: skip


@dataclass(frozen=True)
class Regression:
    """One figure that grew by more than is allowed.

    Attributes:
        figure: a field of baseline.Allowed.
        kernel, gpu: whose.
        before, now: values; times in microseconds.
        allowed: the share by which it may grow.
        file, line: of the cause.
        reason: what changed there.
        advice: the cause that findings name at this line, and what to try; empty if there is none.
    """

    figure: str
    kernel: str
    gpu: str
    before: float
    now: float
    allowed: float
    file: str
    line: int
    reason: str
    advice: str = ""


def regressions(before: KernelFigures, now: MeasuredKernel, allowed: Allowed) -> list[Regression]:
    """The figures of one kernel that are worse than allowed."""
    found = []
    for figure in TITLES:
        field = "time_us" if figure == "time" else figure
        was, value, share = getattr(before, field), getattr(now.figures, field), getattr(allowed, figure)
        if figure == "occupancy":
            worse = value < was * (1 - share)
        else:
            worse = value > was * (1 + share) + _SLACK.get(figure, 0.0)
        if worse:
            file, line, reason = _CAUSES[figure](before, now)
            advice = ": ".join(now.causes.get((file, line), ()))
            found.append(Regression(figure, before.kernel, before.gpu, was, value, share, file, line, reason, advice))
    return found


def is_better(before: KernelFigures, now: KernelFigures, allowed: Allowed) -> bool:
    """Whether a kernel's time shrank by more than it may grow: a reason to write a new baseline."""
    return now.time_us < before.time_us * (1 - allowed.time)


def matched(before: KernelFigures, now: KernelFigures) -> Iterator[tuple[AccessFigures | None, AccessFigures]]:
    """Each access with its counterpart in the baseline: of the same source text, else of the same kind and array."""
    left, pairs = list(before.accesses), dict[int, AccessFigures]()

    def key(one: AccessFigures, exact: bool) -> tuple[str, ...]:
        return one.kind, one.space, one.array, one.code if exact else ""

    for exact in (True, False):
        for number, one in enumerate(now.accesses):
            other = next((each for each in left if key(each, exact) == key(one, exact)), None)
            if number not in pairs and other is not None:
                pairs[number] = other
                left.remove(other)
    return ((pairs.get(number), one) for number, one in enumerate(now.accesses))


def _growth_of_ratio(
    before: KernelFigures, now: MeasuredKernel, amount: Callable[[AccessFigures], float], spaces: bool, unit: str
) -> tuple[str, int, str]:
    """The access whose amount per request grew most, weighted by its requests."""
    largest: tuple[float, AccessFigures, float, float] | None = None
    for was, one in matched(before, now.figures):
        if (one.space in ("shared", "constant")) != spaces or not one.requests:
            continue
        ratio = amount(one) / one.requests
        old = amount(was) / was.requests if was and was.requests else 0.0
        grew = (ratio - old) * one.requests
        if largest is None or grew > largest[0]:
            largest = grew, one, old, ratio
    if largest is None or largest[0] <= 0:
        return _kernel_itself(now, f"{unit} grew, as the kernel's accesses changed")
    _, one, old, ratio = largest
    return _at(one, f"{_named(one)}: {ratio:.3g} {unit}, baseline {old:.3g}")


def _by_sectors(before: KernelFigures, now: MeasuredKernel) -> tuple[str, int, str]:
    return _growth_of_ratio(before, now, lambda one: one.sectors, False, "sectors per request")


def _by_conflicts(before: KernelFigures, now: MeasuredKernel) -> tuple[str, int, str]:
    return _growth_of_ratio(before, now, lambda one: one.conflicts, True, "bank conflicts per request")


def _by_traffic(before: KernelFigures, now: MeasuredKernel) -> tuple[str, int, str]:
    found = _grown(before, now, lambda one: one.dram_bytes)
    if found is None:
        return _kernel_itself(now, "no single access moves more bytes than before")
    _, was, one = found
    return _at(one, f"{_named(one)}: {one.dram_bytes:,.0f} bytes of DRAM traffic, baseline {was:,.0f}")


def _by_occupancy(before: KernelFigures, now: MeasuredKernel) -> tuple[str, int, str]:
    figures, held = now.figures, now.held
    changes = []
    if figures.registers != before.registers:
        changes.append(f"registers per thread {before.registers} → {figures.registers}")
    if figures.shared_bytes != before.shared_bytes:
        changes.append(f"shared memory per block {before.shared_bytes:,} → {figures.shared_bytes:,} bytes")
    limit = f"{held.blocks} block{'s' * (held.blocks != 1)} per SM, limited by {' and '.join(held.limiters)}"
    return _kernel_itself(now, "; ".join([*changes, limit]))


def _by_time(before: KernelFigures, now: MeasuredKernel) -> tuple[str, int, str]:
    """The line whose work grew most; else lost occupancy, more instructions, or the line that waits more."""
    quantities: dict[str, Callable[[AccessFigures], float]] = {
        "sectors requested": lambda one: one.sectors,
        "passes of shared memory": lambda one: one.passes,
        "bytes of DRAM traffic": lambda one: one.dram_bytes,
    }
    grown = [(found, unit) for unit, of in quantities.items() if (found := _grown(before, now, of)) is not None]
    if grown:
        (share, was, one), unit = max(grown, key=lambda each: each[0][0])
        if share >= _GREW:
            value = quantities[unit](one)
            return _at(one, f"{_named(one)}: {value:,.0f} {unit}, baseline {was:,.0f}")
    if now.figures.occupancy < before.occupancy * (1 - _GREW):
        return _by_occupancy(before, now)
    if now.figures.instructions > before.instructions * (1 + _GREW):
        executed = f"{before.instructions:,.0f} → {now.figures.instructions:,.0f}"
        return _kernel_itself(now, f"warp instructions {executed}")
    waiting = _grown(
        before, now, lambda one: one.waiting * now.figures.time_us, lambda one: one.waiting * before.time_us
    )
    if waiting is None:
        return _kernel_itself(now, "no access does more work than before; its order or its waiting changed")
    one = waiting[2]
    return _at(one, f"{_named(one)}: {percent(one.waiting)} of the kernel's waiting is here")


_CAUSES: dict[str, Callable[[KernelFigures, MeasuredKernel], tuple[str, int, str]]] = {
    "time": _by_time,
    "sectors_per_request": _by_sectors,
    "bank_conflicts": _by_conflicts,
    "dram_bytes": _by_traffic,
    "occupancy": _by_occupancy,
}


def _grown(
    before: KernelFigures,
    now: MeasuredKernel,
    amount: Callable[[AccessFigures], float],
    amount_before: Callable[[AccessFigures], float] | None = None,
) -> tuple[float, float, AccessFigures] | None:
    """The access whose amount grew most: the growth as a share of the kernel's total, its amount before, and it."""
    earlier = amount_before or amount
    total = max(sum(map(amount, now.figures.accesses)), sum(map(earlier, before.accesses)))
    pairs = [(earlier(was) if was else 0.0, one) for was, one in matched(before, now.figures)]
    if not pairs or not total:
        return None
    was, one = max(pairs, key=lambda pair: amount(pair[1]) - pair[0])
    grew = amount(one) - was
    return (grew / total, was, one) if grew > 0 else None


def _at(one: AccessFigures, reason: str) -> tuple[str, int, str]:
    return one.file, one.line, reason


def _kernel_itself(now: MeasuredKernel, reason: str) -> tuple[str, int, str]:
    return now.file, now.line, reason


def _named(one: AccessFigures) -> str:
    return f"{one.kind} of {one.array}" if one.array else f"{one.kind} in {one.space} memory"
