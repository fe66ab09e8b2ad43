"""The accesses of one source line to one array: what they request, and what the replay made of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import PurePath

from memsim.analysis.choices import Convention
from memsim.analysis.conventions import AccessKind, outcome_counts
from memsim.analysis.loads import array_name, load
from memsim.analysis.result import RunResult
from memsim.analysis.utilization import CONSTANTS, DRAM, ISSUE, L2, LOAD_STORE
from memsim.gpu.config import GPU
from memsim.hierarchy.counters import CountUnit, Level
from memsim.models.machine import idle_miss_cycles
from memsim.profile.op_profile import OpProfile
from memsim.trace.coalescing_rules import SECTOR_BYTES
from memsim.why.finding import ADVICE, Cause, Finding
from memsim.why.work import ResultWork

ON_CHIP = ("shared", "constant")
_COMPONENTS = {"issue": ISSUE, "load_store": LOAD_STORE, "l2": L2, "dram": DRAM, "constants": CONSTANTS}


@dataclass(frozen=True)
class SourceAccess:
    """The memory instructions of one source line on one array, of one kind, added up.

    Attributes:
        location, text, array: where it is, what it does.
        stores: whether it stores.
        on_chip: whether it goes to shared or constant memory.
        own_unit: whether that is constant memory with a unit of its own.
        atomics: whether it adds up in memory.
        width: bytes of a lane's access.
        warp_size: lanes of a warp.
        ops: numbers of its static instructions.
        waited: its share of all waiting.
        time_share: its share of all waiting, or of all sectors that go to L1, whichever is more (no warp waits for a
            store).
        issued: share of the memory instructions.
        queued: share of its loads' waiting that an idle machine would not have; of a store, that of all loads.
        profile: what it asks for.
        dense_sectors: that its instructions need at least; of a divergent one, what all its lanes would.
        l1_fetched: sectors that L1 asked L2 for, a trial.
        l1_hit: hit ratio of its sectors.
        dram_read: sectors, a trial.
        dram_redundant: share of its sectors in memory's traffic that nobody needed to move again.
        dram_times: how often memory reads each sector of its array.
        busy: by component (analysis.utilization), the share of the time in which it works for this access.
        partial: share of its cycles in L2's slices that sectors take which it stores in part, beyond whole ones.
    """

    location: str
    text: str
    array: str
    stores: bool
    on_chip: bool
    own_unit: bool
    atomics: bool
    width: int
    warp_size: int
    ops: tuple[int, ...]
    waited: float
    time_share: float
    issued: float
    queued: float
    profile: OpProfile
    dense_sectors: int
    l1_fetched: float
    l1_hit: float
    dram_redundant: float
    dram_times: float
    busy: Mapping[str, float]
    partial: float

    def finding(self, cause: Cause, share: float, evidence: str, **saved: float) -> Finding:
        """A finding here, before the upper bound is applied.

        Args:
            cause: what is wrong.
            share: the attributable one, of the memory time.
            evidence: in numbers.
            saved: by component, the share of its work for this access that a fix saves at most.
        """
        share = float(min(1.0, share))
        removed_work = {
            component: self.busy[component] * saved.get(name, 0.0) for name, component in _COMPONENTS.items()
        }
        where = self.location, self.text, self.array
        return Finding(cause, *where, share, share, evidence, ADVICE[cause], self.ops, removed_work)


def diverges(profile: OpProfile, warp_size: int) -> bool:
    """Whether a good part of the lanes is idle."""
    return profile.lanes < 0.9 * warp_size * profile.instructions


def source_accesses(result: RunResult, gpu: GPU) -> Iterator[SourceAccess]:
    """The accesses of all source lines."""
    trials = result.trials
    groups: dict[tuple[object, ...], list[int]] = {}
    for number, op in enumerate(trials.ops):
        groups.setdefault((op["file"], op["line"], op["array"], op["kind"]), []).append(number)
    work = ResultWork.of(result)
    queued = _queued(result, gpu)
    for ops in groups.values():
        first = trials.ops[ops[0]]
        total = reduce(add, (work.profiles[op] for op in ops))
        l1 = outcome_counts(
            work.counters[ops].sum(axis=0), Level.l1, CountUnit.sectors, (AccessKind.read, AccessKind.atomic)
        )
        moved = float(work.counters[ops, Level.dram, :, CountUnit.sectors].sum())
        stores = first["kind"] in ("store", "reduction")
        dense = total.instructions * -(-first["width"] * gpu.sm.warp_size // SECTOR_BYTES)  # of all lanes side by side
        yield SourceAccess(
            location=f"{first['file'].rsplit('/', 1)[-1]}:{first['line']}",
            text="; ".join(dict.fromkeys(f"{trials.ops[op]['kind']} {trials.ops[op]['text']}" for op in ops)),
            array=array_name(trials, first),
            stores=stores,
            on_chip=first["space"] in ON_CHIP,
            own_unit=first["space"] == "constant" and gpu.sm.constant_cycles is not None,
            atomics=first["kind"] in ("atomic", "reduction"),
            width=first["width"],
            warp_size=gpu.sm.warp_size,
            ops=tuple(ops),
            waited=float(work.waited[ops].sum()),
            time_share=work.time_share(ops),
            issued=total.instructions / work.instructions,
            queued=queued if stores else _queued_at(result, gpu, ops),
            profile=total,
            dense_sectors=max(total.least_sectors, dense * diverges(total, gpu.sm.warp_size)),
            l1_fetched=float(l1[1] + l1[2]),
            l1_hit=float(l1[0] / l1.sum()) if l1.sum() else 0.0,
            dram_redundant=max(0.0, 1 - total.first_sectors / moved) if moved else 0.0,
            dram_times=work.dram_times(ops[0]),
            busy=work.busy(ops, total),
            partial=work.partial(ops),
        )


def _queued(result: RunResult, gpu: GPU) -> float:
    """Of all loads together."""
    return _queued_at(result, gpu, [k for k, op in enumerate(result.trials.ops) if op["kind"] in ("load", "atomic")])


def _queued_at(result: RunResult, gpu: GPU, ops: list[int]) -> float:
    """Share of the observed latency beyond that of the same hits and misses on an idle machine; 0 if nothing waits."""
    if not result.trials.latency_count[:, ops].any():
        return 0.0
    of = load(result.trials, tuple(ops), Convention.model)
    h1, h2 = (0.0 if ratio.mean != ratio.mean else ratio.mean for ratio in (of.l1_hit, of.l2_hit))
    beyond = h2 * gpu.l2.hit_latency_cycles + (1 - h2) * idle_miss_cycles(gpu)
    idle = h1 * gpu.l1.hit_latency_cycles + (1 - h1) * beyond
    return max(0.0, 1 - idle / of.latency.mean)


def kernel_definition(result: RunResult) -> tuple[str, int]:
    """The file and line that define a result's kernel, by ``__global__`` or ``def`` and its name.

    Line 0 if the source is not known or does not; the file is then the one that holds most of the kernel's ops, or its
    program's first.
    """
    trace, sources = result.trials.about["trace"], result.trials.sources
    name = re.escape(re.sub(r"[<\[].*", "", trace["kernel"]).rpartition("::")[2].partition("(")[0].strip())
    pattern = re.compile(rf"(?:__global__[^;{{}}]*?|\bdef\s+)\b({name})\s*\(")
    files = [file for file, _ in Counter(op["file"] for op in result.trials.ops if op["file"]).most_common()]
    for file in files:
        text = "\n".join(sources.get(file) or ())
        if at := pattern.search(text):
            return file, text.count("\n", 0, at.start(1)) + 1
    return (files or [trace["source"]])[0], 0


def kernel_location(result: RunResult) -> str:
    """Where the kernel is defined, short: its file's name and, where it is known, the line."""
    file, line = kernel_definition(result)
    return f"{PurePath(file).name}:{line}" if line else PurePath(file).name
