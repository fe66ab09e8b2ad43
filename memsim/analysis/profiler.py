"""What Nsight Compute would have counted, under its own names.

Every figure is one value a trial, of the *whole* launch: where a part of its blocks was traced, counts are multiplied
by launched / traced blocks, and what the part left dirty in L2 is written, but for what the launch leaves there, too.
Sectors have 32 bytes. What counts as a hit is the ``profiler`` convention (:mod:`memsim.analysis.conventions`) as from
compute capability 7.0 on, which is where the profiler begins; docs/how_to/profiler.md has a line for each name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from memsim.analysis.choices import Convention
from memsim.analysis.conventions import AccessKind, hits_of
from memsim.analysis.launch_time import deferred_writes
from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Sample
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.trace.schema import Instructions

SECTOR_BYTES = 32
_OLDEST = "7.0"  # compute capability that the profiler begins with
_ACCESS = {
    "load": AccessKind.read,
    "store": AccessKind.write,
    "atomic": AccessKind.atomic,
    "reduction": AccessKind.atomic,
}
_OP = {
    "load": "ld",
    "store": "st",
    "atomic": "atom",
    "reduction": "red",
}  # as names of L1's metrics say
# Read-only data goes through the load-store unit from compute capability 7.0 on, and counts as global.
_SPACE = {"global": "global", "global_": "global", "texture": "global", "local": "local"}


@dataclass(frozen=True)
class Metric:
    """A figure under the profiler's name.

    Attributes:
        name: as ``ncu --metrics`` takes it.
        unit: the profiler's base unit: sector, request, byte, cycle, ns, inst, or %.
        values: one per trial.
    """

    name: str
    unit: str
    values: Sample


def metrics(result: RunResult) -> dict[str, Metric]:
    """All figures that a result has, by name, in the order of the levels.

    Instructions and requests need the profile that files have from version 1.2 on, and instructions a trace that states
    those between its memory accesses; what is not known is left out.

    ::

        metrics(Result.load("r.h5"))["lts__t_sector_hit_rate.pct"].values.mean
    """
    groups = (_l1(result), _shared(result), _l2(result), _dram(result), _time(result), _instructions(result))
    return {metric.name: metric for part in groups for metric in part}


def scale(result: RunResult) -> float:
    """Launched blocks over traced ones."""
    trace = result.trials.about["trace"]
    return prod(trace["grid"]) / trace["blocks"]


def _count(result: RunResult, name: str, unit: str, counts: np.ndarray) -> Metric:
    return Metric(name, unit, Sample(counts * scale(result)))


def _rate(name: str, hits: np.ndarray, total: np.ndarray) -> Metric:
    rate = np.divide(100.0 * hits, total, out=np.full(total.shape, np.nan), where=total > 0)
    return Metric(name, "%", Sample(rate))


def _hits(
    result: RunResult, level: Level, rows: np.ndarray | slice, access: AccessKind
) -> tuple[np.ndarray, np.ndarray]:
    """Hit sectors and all sectors of some rows of the counters, each [trials]."""
    counters = result.trials.counters[:, rows].sum(axis=1)
    return hits_of(counters, level, (access,), Convention.profiler, _OLDEST)


def _summed(pairs: Iterable[tuple[np.ndarray, np.ndarray]], trials: int) -> tuple[np.ndarray, np.ndarray]:
    hits, total = np.zeros(trials, np.int64), np.zeros(trials, np.int64)
    for some, all_ in pairs:
        hits, total = hits + some, total + all_
    return hits, total


def _ops_by(result: RunResult) -> dict[tuple[str, str], np.ndarray]:
    """Rows of the static instructions by space and kind, as the metrics of L1 name them."""
    found: dict[tuple[str, str], list[int]] = {}
    for number, op in enumerate(result.trials.ops):
        if op["space"] in _SPACE:
            found.setdefault((_SPACE[op["space"]], op["kind"]), []).append(number)
    return {key: np.array(rows) for key, rows in found.items()}


def _l1(result: RunResult) -> Iterator[Metric]:
    groups, trials = _ops_by(result), len(result.trials.trial)
    counted = {key: _hits(result, Level.l1, rows, _ACCESS[key[1]]) for key, rows in groups.items()}
    yield _rate("l1tex__t_sector_hit_rate.pct", *_summed(counted.values(), trials))
    for space, kind in [(space, kind) for space in ("global", "local") for kind in _OP if (space, kind) in groups]:
        hits, total = counted[space, kind]
        of = f"pipe_lsu_mem_{space}_op_{_OP[kind]}"
        if (requests := _profiled(result, "instructions", groups[space, kind])) is not None:
            yield _count(result, f"l1tex__t_requests_{of}.sum", "request", requests)
        yield from _lookups(result, f"l1tex__t_sectors_{of}", hits, total)
        yield _rate(f"l1tex__t_sector_{of}_hit_rate.pct", hits, total)


def _profiled(result: RunResult, field: str, rows: Iterable[int]) -> np.ndarray | None:
    """A sum of the profiles of some ops, the same for all trials; None where a file has no profiles."""
    profiles = [result.trials.ops[row].get("profile") for row in rows]
    known = [profile[field] for profile in profiles if profile is not None]
    return np.full(len(result.trials.trial), sum(known)) if len(known) == len(profiles) else None


def _shared(result: RunResult) -> Iterator[Metric]:
    for kind, op in (("load", "ld"), ("store", "st")):
        rows = [n for n, one in enumerate(result.trials.ops) if (one["space"], one["kind"]) == ("shared", kind)]
        passes, least = _profiled(result, "passes", rows), _profiled(result, "least_passes", rows)
        if not rows or passes is None or least is None:
            continue
        of = f"mem_shared_op_{op}.sum"
        yield _count(result, f"l1tex__data_bank_conflicts_pipe_lsu_{of}", "", passes - least)
        yield _count(result, f"l1tex__data_pipe_lsu_wavefronts_{of}", "", passes)


def _l2(result: RunResult) -> Iterator[Metric]:
    if not result.trials.about["gpu"]["l2"].get("enabled", True):
        return
    of_sms = slice(-1)  # the last row: page walks, and what no op caused
    yield _rate("lts__t_sector_hit_rate.pct", *_of_l2(result, slice(None), tuple(AccessKind)))
    yield from _lookups(result, "lts__t_sectors", *_of_l2(result, slice(None), tuple(AccessKind)))
    requests = result.trials.counters[:, of_sms, Level.l2, :, CountUnit.transactions].sum(axis=(1, 2))
    yield _count(result, "lts__t_requests_srcunit_tex.sum", "request", requests)
    yield from _lookups(result, "lts__t_sectors_srcunit_tex", *_of_l2(result, of_sms, tuple(AccessKind)))
    for source, rows in (("", slice(None)), ("srcunit_tex_", of_sms)):
        for access in (AccessKind.read, AccessKind.write):
            found = _of_l2(result, rows, (access,))
            yield from _lookups(result, f"lts__t_sectors_{source}op_{access}", *found)
            yield _rate(f"lts__t_sector_{source}op_{access}_hit_rate.pct", *found)


def _of_l2(result: RunResult, rows: slice, accesses: tuple[AccessKind, ...]) -> tuple[np.ndarray, np.ndarray]:
    return _summed((_hits(result, Level.l2, rows, access) for access in accesses), len(result.trials.trial))


def _lookups(result: RunResult, name: str, hits: np.ndarray, total: np.ndarray) -> Iterator[Metric]:
    yield _count(result, f"{name}.sum", "sector", total)
    yield _count(result, f"{name}_lookup_hit.sum", "sector", hits)
    yield _count(result, f"{name}_lookup_miss.sum", "sector", total - hits)


def _dram(result: RunResult) -> Iterator[Metric]:
    counters = result.trials.counters[:, :, Level.dram, :, CountUnit.sectors].sum(axis=1)
    for access in (AccessKind.read, AccessKind.write):
        sectors = counters[:, [event for event in Event if event.name.startswith(access)]].sum(axis=1) * scale(result)
        if access is AccessKind.write:
            sectors = sectors + deferred_writes(result.trials)
        yield Metric(f"dram__sectors_{access}.sum", "sector", Sample(sectors))
        yield Metric(f"dram__bytes_{access}.sum", "byte", Sample(sectors * SECTOR_BYTES))


def _time(result: RunResult) -> Iterator[Metric]:
    elapsed, active = (time.values * 1e6 for time in (result.kernel_time, result.active_time))  # ns
    yield Metric("gpc__cycles_elapsed.max", "cycle", Sample(elapsed / result.ns_per_cycle))
    yield Metric("sm__cycles_active.max", "cycle", Sample(active / result.ns_per_cycle))
    yield Metric("gpu__time_duration.sum", "ns", Sample(elapsed))


def _instructions(result: RunResult) -> Iterator[Metric]:
    executed = result.trials.about.get("executed", {})
    memory = _profiled(result, "instructions", range(len(result.trials.ops)))
    if memory is None or not executed.get("compute_instructions"):
        return
    every = memory + executed["compute_instructions"] + executed["masked"]
    if result.trials.about["trace"].get("instructions") != Instructions.machine_code:
        every += executed["barriers"]  # the compute runs of machine code have them already
    yield _count(result, "smsp__inst_executed.sum", "inst", every)
