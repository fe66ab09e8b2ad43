"""The sentences and tables of a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isnan, prod
from typing import TYPE_CHECKING, Any

from memsim.analysis.choices import Convention, Grouping, Method
from memsim.analysis.model_error import LEVEL, family_of, least_programs, model_error
from memsim.analysis.percent import percent
from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Interval
from memsim.analysis.stopping import Running, bounds_text, widest
from memsim.analysis.tables import ABSENT, between, milliseconds, number, with_interval
from memsim.analysis.time_breakdown import time_breakdown
from memsim.gpu.components import COMPONENTS
from memsim.hierarchy.counters import CountUnit
from memsim.report.best_possible import breakdown_table
from memsim.report.output import Block, CommandOutput, PrintedTable, joined
from memsim.report.result_json import document

if TYPE_CHECKING:
    from memsim.studies.uncertain import ModelError
    from memsim.why import Bottleneck

_MEANING = {
    Convention.model: "hit: the data was there; a merge with an outstanding fetch is not a hit",
    Convention.traffic: "hit: nothing was sent down a level; a merge with an outstanding fetch is a hit",
    Convention.profiler: "hit: as the GPU's own counters count",
}
_GROUP_TITLE = {
    Grouping.load: "static loads",
    Grouping.array: "loads by array",
    Grouping.line: "loads by source line",
}


def output(
    result: RunResult,
    *,
    method: str = Method.t,
    by: str = Grouping.load,
    bottlenecks: Callable[[], Sequence[Bottleneck] | None] = lambda: None,
    error: ModelError | None = None,
    notes: Sequence[str] = (),
) -> CommandOutput:
    """Everything ``memsim show`` prints of a result; as rows, the loads.

    Args:
        result: what to show.
        method: of the ratios' interval of the mean, ``t`` or ``bootstrap``.
        by: what the loads are grouped by: ``load``, ``array`` or ``line``.
        bottlenecks: find what makes the kernel slow; called for the values alone.
        error: the model's own error bar.
        notes: sentences below.
    """
    bars, more = _uncertain(result, error) if error is not None else ([], {})
    return CommandOutput(
        lambda: [*_blocks(result, method, by), *bars, *notes],
        lambda: result.loads_by(by).records(),
        lambda: document(result, bottlenecks()) | more,
    )


def _uncertain(result: RunResult, error: ModelError) -> tuple[list[Block], dict[str, Any]]:
    """The model's own error bar, and its part of the JSON object."""
    from memsim.report.sensitivity import two_error_bars, uncertain_document  # which takes half a second to import

    return [two_error_bars(result, error)], {"uncertain": uncertain_document(error)}


def tables(result: RunResult, *, method: str = Method.t, by: str = Grouping.load) -> str:
    """The same as text."""
    return joined(_blocks(result, method, by))


def _blocks(result: RunResult, method: str, by: str) -> list[Block]:
    title = f"{_GROUP_TITLE[Grouping(by)]} ({_clock(result)})"
    return [
        heading(result),
        ratio_table(result, method),
        _counted(result),
        time_lines(result),
        *_breakdown(result),
        PrintedTable.of(result.loads_by(by), title, _legend(result)),
        *_stores(result),
        *(f"note: {note}" for note in notes(result)),
    ]


def _breakdown(result: RunResult) -> list[Block]:
    """The best possible time and what separates the predicted one from it, where the file holds what they need."""
    found = time_breakdown(result)
    return [] if found is None else [breakdown_table(found)]


def _stores(result: RunResult) -> list[Block]:
    """What no warp waits for, if there is any."""
    if not len(result.stores):
        return []
    title = "static stores and reductions (32-byte sectors: per trial, per warp instruction, moved by DRAM)"
    return [PrintedTable.of(result.stores, title)]


def heading(result: RunResult) -> str:
    """What was simulated: kernel, GPU, trials, seed, launch, trace."""
    trace = result.trials.about["trace"]
    trials = len(result.trials.trial)
    parameters = " ".join(f"{name}={value}" for name, value in trace.get("parameters", {}).items())
    launch = ", ".join(f"{name} {'x'.join(map(str, trace[name]))}" for name in ("grid", "block") if name in trace)
    lines = [
        f"{trace['kernel']} on {result.gpu}: {trials} trial{'s' * (trials != 1)}{_enough(result)}, seed {result.seed}",
        f"{trace.get('source', '')} {parameters}".strip(),
        f"{launch}; trace {trace['digest'][:12]}",
    ]
    return "\n".join(line for line in lines if line)


def _enough(result: RunResult) -> str:
    """Why there were no more trials, unless somebody said how many."""
    rule = result.until
    if rule is None or result.interrupted or result.unreached:
        return ""
    if rule["reached"]:
        return f" ({bounds_text(rule)})"
    return f" (the most; {_least_known(result, rule)})"


def _least_known(result: RunResult, rule: Mapping[str, Any]) -> str:
    """What a rule waited for in vain: the time, or else the ratio with the widest interval."""
    so_far = Running(rule["convention"])
    so_far.add(result.trials)
    if rule.get("time") is not None and so_far.time_width >= rule["time"]:
        return f"the time is known within {50 * so_far.time_width:.2g} %"
    return _widest_of(result, rule["convention"])


def notes(result: RunResult) -> list[str]:
    """What makes the numbers say less than was wanted, each in a line or two."""
    return [*_unreached(result), *_caution(result)]


def _unreached(result: RunResult) -> list[str]:
    """What is missing where a run ended before its intervals were as narrow as they were to be."""
    rule, trials = result.until, len(result.trials.trial)
    if rule is None or not result.unreached:
        return []
    counted = f"{trials} trial{'s' * (trials != 1)}"
    return [f"--until {rule['width']:g} was not reached in {counted}: {_widest_of(result, rule['convention'])}"]


def _widest_of(result: RunResult, convention: str) -> str:
    found = widest(RunResult(result.trials, convention).ratios)
    return "there is no interval yet" if found is None else f"{_title(found[0])}'s interval is {found[1]:.2g} wide"


def _title(name: str) -> str:
    level, access = name.split("_")
    return f"{level.upper()} {access}"


def _caution(result: RunResult) -> list[str]:
    """What makes the numbers below say little: a part of a launch that does not even fill the GPU."""
    trace = result.trials.about["trace"]
    traced, launched, wave = trace["blocks"], prod(trace["grid"]), trace["wave_blocks"]  # 0: not known
    if traced >= min(wave, launched):
        return []
    return [
        f"the trace has {traced:,} of {launched:,} blocks, where {result.gpu} holds {wave:,} at a time: "
        f"it is not full.\nMake the trace with --gpu {result.gpu}, or with more --blocks."
    ]


def ratio_table(result: RunResult, method: str = Method.t) -> PrintedTable:
    """The three hit ratios: mean, sd, the interval that holds the mean, the interval that holds one run."""
    headers, rows = ratio_rows(result, method)
    note = f"convention {result.convention}: {_MEANING[result.convention]}"
    return PrintedTable(headers, rows, [False, True, True, True, True], note=note)


def ratio_rows(result: RunResult, method: str = Method.t) -> tuple[list[str], list[list[str]]]:
    """The headers and rows of that table."""
    rows = []
    for name, ratio in result.ratios.items():
        intervals = [_percent_interval(found) for found in (ratio.interval(method=method), ratio.spread())]
        rows.append([_title(name), number(ratio.mean * 100, 2), number(ratio.sd * 100, 3), *intervals])
    return ["hit ratio", "mean %", "sd %", f"95 % interval of the mean ({method})", "one run: mean ± 2 sd"], rows


def _counted(result: RunResult) -> PrintedTable:
    """The table of counters that the convention asks for."""
    if result.convention is not Convention.profiler:
        return counter_table(result)
    from memsim.report.profiler import levels  # which needs what reads the profiler's own files

    return levels(result)


def counter_table(result: RunResult) -> PrintedTable:
    """Mean counts of a trial by level, in transactions and in 32-byte sectors."""
    headers, rows = counter_rows(result)
    right = [False, False] + [True] * (len(headers) - 2)
    return PrintedTable(headers, rows, right, "counts of a trial (mean)", "\n".join(_component_lines(result)))


def counter_rows(result: RunResult) -> tuple[list[str], list[list[str]]]:
    """The headers and rows of that table."""
    names = ("reads", "writes", "atomics", "hits", "misses", "merges")
    rows = [
        [level.upper(), unit, *(number(counts.get(name, float("nan"))) for name in names)]
        for level, units in result.counters.items()
        for unit, counts in units.items()
    ]
    below_l2 = [
        [level.upper(), CountUnit.sectors.name, *(number(counts[name]) for name in names)]
        for one in COMPONENTS
        if one.section in result.components
        for level, counts in one.levels(result.components[one.section]).items()
    ]
    rows[-len(CountUnit) : -len(CountUnit)] = below_l2  # before the rows of DRAM
    return ["level", "unit", *names], rows


def _component_lines(result: RunResult) -> Iterator[str]:
    """The figures of merit of the components that the GPU has."""
    for one in COMPONENTS:
        if one.section in result.components:
            found, kind = result.components[one.section], result.trials.about["gpu"][one.section][one.chooser]
            known = [ratio.name for ratio in one.ratios if not isnan(found[ratio.name])]
            ratios = ", ".join(f"{name} {number(100 * found[name], 1)} %" for name in known)
            if ratios:
                yield f"{one.section} ({kind}): {ratios}"
            counted = [counter for counter in one.counters if found[counter]]
            counts = ", ".join(f"{name} {number(found[name])}" for name in counted)
            if counts and not one.levels(found):
                yield f"{one.section} counts: {counts}"


def time_lines(result: RunResult) -> str:
    """How long the kernel takes on the simulated GPU, and what that rests on."""
    lines = [
        f"predicted kernel time {'at least ' if result.is_least_time else ''}"
        f"{milliseconds(result.kernel_time)}{_one_launch(result)}",
        _prediction(result),
        _sampling(result),
        _instructions(result),
        f"{with_interval(result.cycles, decimals=0)} cycles replayed: {_replayed(result)}",
        f"the time includes {result.launch_cycles:,} cycles of launch overhead" if result.launch_cycles else "",
        _memory_latency(result),
    ]
    return "\n".join(filter(None, lines))


def _memory_latency(result: RunResult) -> str:
    """That of a loaded DRAM; nothing of a kernel that reads nothing from it."""
    latency = result.memory_latency
    in_ns = number(latency.mean * result.ns_per_cycle)
    return "" if isnan(latency.mean) else f"loaded DRAM latency {with_interval(latency)} cycles ({in_ns} ns)"


def _prediction(result: RunResult) -> str:
    """The prediction interval, and what it rests on; nothing where the time is a lower bound."""
    its = result.prediction_interval
    if its is None:
        return ""
    family = family_of(result.trials.about["gpu"]["compute_capability"])
    programs = model_error(family).programs
    rests_on = f"{programs} programs on {family}.x" if programs else "programs on other GPUs"
    if 0 < programs < least_programs(LEVEL):
        rests_on += " and of programs on other GPUs"
    return f"prediction interval ({percent(LEVEL)}): {between(its.low, its.high)}, from errors of {rests_on}"


def _instructions(result: RunResult) -> str:
    """Where the instructions between accesses come from, which decide on the time where memory does not."""
    known = {
        "none": "the trace has no instructions between accesses: memory alone takes so long",
        "estimated": "instructions between accesses are estimated, not of machine code: the time is a rough estimate",
        "compiled": "instructions between accesses are those of compiled code",
        "machine_code": "instructions, their waits and stall counts are those of the machine code that was executed",
    }
    return known.get(result.instructions or "", "")


def _one_launch(result: RunResult) -> str:
    """The interval that is to hold the launch's time, where a part of it was replayed."""
    its = result.kernel_time_interval
    return "" if its is None or result.whole else f", of one launch {between(its.low, its.high)}"


def _sampling(result: RunResult) -> str:
    """What sampling of blocks leaves unsure, apart from the order of warps."""
    found = result.sampling
    if found is None:
        return ""
    share = found.time_ms / result.kernel_time.mean
    ratios = (f"{_title(name)} ± {100 * half:.2f} points" for name, half in found.ratios.items() if half == half)
    terms = ", ".join([f"time ± {percent(share, 1)}", *ratios])
    return f"due to sampling of blocks, {found.groups} groups (95 % intervals): {terms}"


def _replayed(result: RunResult) -> str:
    """What was replayed, the whole launch or a block sample, and how its blocks began."""
    trace = result.trials.about["trace"]
    if result.whole:
        what = f"the whole launch, {trace['blocks']:,} blocks"
    elif result.sampling is not None:
        what = f"a sample, {trace['blocks']:,} of {prod(trace['grid']):,} blocks"
    else:
        what = f"a block sample, {trace['blocks']:,} of {prod(trace['grid']):,} blocks"
    return f"{what}, {_begun(result)}"


def _begun(result: RunResult) -> str:
    """How the blocks that are resident first began, which is as the launch does unless they lie in its middle."""
    about = result.trials.about
    if about["gpu"].get("stochastic", {}).get("start_alignment", True):
        return "started at random phases"
    return f"started together at block {about['trace'].get('first_block', 0):,}"


def _clock(result: RunResult) -> str:
    return f"latencies in cycles of {result.ns_per_cycle:.3f} ns; ± is half the 95 % interval of the mean"


def _legend(result: RunResult) -> str:
    gpu = result.trials.about["gpu"]
    t1, t2 = gpu["l1"]["hit_latency_cycles"], gpu["l2"]["hit_latency_cycles"]
    return (
        "latency: observed, from lookup to data, per transaction; share: of the latency of all loads\n"
        f"expected: H1 t1 + (1 - H1) [H2 t2 + (1 - H2) Tm], t1 = {t1}, t2 = {t2} cycles, Tm: DRAM latency"
    )


def _percent_interval(interval: Interval | None) -> str:
    return ABSENT if interval is None else f"{interval.low * 100:.2f} … {interval.high * 100:.2f}"
