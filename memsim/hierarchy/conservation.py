"""Laws that every replay keeps, whatever the machine: what one level sends, the next one gets.

Results files are asked whether they keep them, so that counters which were exchanged or changed are found out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from memsim.gpu.choices import L1WritePolicy, WriteHit, WriteMiss
from memsim.gpu.components import COMPONENTS, counts_of
from memsim.gpu.translation import TRANSLATION
from memsim.hierarchy.counters import CountUnit, Event, Level, latency_bin_edges
from memsim.hierarchy.trial import Trial

READS, WRITES, ATOMICS = slice(0, 4), slice(4, 8), slice(8, 12)
NOT_HERE = [Event.read_miss, Event.read_sector_miss]
_MOST_SECTORS = 8  # of a transaction: a line has at most 256 bytes
_NEVER_IN_DRAM = [
    event for event in Event if event.name.endswith(("_merge", "_sector_miss")) or event.name.startswith("atomic")
]

_Config = dict[str, dict[str, Any]]  # a GPU's configuration, by section


def broken_law(trials: Trial, gpu: _Config) -> str | None:
    """What does not add up in one trial or several (an axis in front), in words; None if everything does.

    Args:
        gpu: the configuration of the replay; laws that depend on a field it lacks are not asked for.
    """
    return next((words for words, holds in _LAWS.items() if not holds(trials, gpu)), _of_components(trials, gpu))


def _transactions(trials: Trial, _gpu: _Config) -> bool:
    counted = trials.counters[..., Level.l1, :, CountUnit.transactions].sum(axis=(-2, -1))
    return bool(np.array_equal(counted, trials.transactions))


def _sectors(trials: Trial, _gpu: _Config) -> bool:
    for kinds in (READS, WRITES, ATOMICS):
        counted = trials.counters[..., kinds, :].sum(axis=-2)
        sectors, transactions = counted[..., CountUnit.sectors], counted[..., CountUnit.transactions]
        if (sectors < transactions).any() or (sectors > _MOST_SECTORS * transactions).any():
            return False
    return True


def _reads_to_l2(trials: Trial, gpu: _Config) -> bool:
    """Of every op; with address translation the last row holds the steps of page walks, which no L1 sends."""
    rows = slice(-1 if TRANSLATION.is_on(gpu) else None)
    l1, l2 = trials.counters[..., rows, Level.l1, :, :], trials.counters[..., rows, Level.l2, :, :]
    return bool((l1[..., NOT_HERE, :].sum(axis=-2) == l2[..., READS, :].sum(axis=-2)).all())


def _walks(trials: Trial, gpu: _Config) -> bool:
    loads = trials.counters[..., -1, Level.l2, READS, CountUnit.transactions].sum(axis=-1)
    walks = counts_of(TRANSLATION, trials.components)["shared_miss"]
    return bool((loads == walks * gpu.get("translation", {}).get("walk_levels", 0)).all())


def _lookups(trials: Trial, gpu: _Config) -> bool:
    sent = trials.counters[..., :-1, Level.l2, :, CountUnit.transactions].sum(axis=(-2, -1))
    found = counts_of(TRANSLATION, trials.components)
    return not TRANSLATION.is_on(gpu) or bool((sent == found["sm_hit"] + found["sm_miss"] + found["sm_merge"]).all())


def _atomics_to_l2(trials: Trial, _gpu: _Config) -> bool:
    l1, l2 = trials.counters[..., Level.l1, ATOMICS, :], trials.counters[..., Level.l2, ATOMICS, :]
    return bool((l1.sum(axis=-2) == l2.sum(axis=-2)).all())


def _writes_to_l2(trials: Trial, gpu: _Config) -> bool:
    policy = gpu["l1"].get("write_policy")
    if policy is None or (policy == L1WritePolicy.write_back and gpu["l1"].get("enabled", True)):
        return True  # what leaves a write-back L1 is what is pushed out of it
    l1, l2 = trials.counters[..., Level.l1, WRITES, :], trials.counters[..., Level.l2, WRITES, :]
    sent, came = l1.sum(axis=-2), l2.sum(axis=-2)
    if gpu["l1"].get("local_write_policy") == L1WritePolicy.write_back and gpu["l1"].get("enabled", True):
        # Local memory leaves when it is pushed out, under the op that wrote a line last.
        return bool((came[..., CountUnit.sectors].sum(axis=-1) <= sent[..., CountUnit.sectors].sum(axis=-1)).all())
    return bool((came <= sent if gpu["l1"].get("merges_stores") else came == sent).all())


def _fetches_from_dram(trials: Trial, gpu: _Config) -> bool:
    """Each missing sector once, with it at most the rest of what a miss fetches, and of written sectors the rest."""
    l2 = gpu["l2"]
    most = l2.get("fetch_bytes", l2.get("sector_bytes"))  # its name before 1.3
    if most is None or l2.get("write_hit") != WriteHit.any or "write_miss" not in l2:
        return True
    events = [*NOT_HERE, Event.atomic_miss, Event.atomic_sector_miss]
    if l2.get("enabled", True) and l2["write_miss"] in (WriteMiss.fetch, WriteMiss.update_memory):
        events += [Event.write_miss, Event.write_sector_miss]
    fetched = trials.counters[..., Level.l2, events, CountUnit.sectors].sum(axis=(-2, -1))
    read = trials.counters[..., Level.dram, READS, CountUnit.sectors].sum(axis=(-2, -1))
    for one in reversed([one for one in COMPONENTS if one.is_on(gpu)]):
        read = one.l2_reads(counts_of(one, trials.components), gpu[one.section][one.chooser], read)
    written = trials.counters[..., Level.dram, WRITES, CountUnit.sectors].sum(axis=(-2, -1))
    completed = written if l2.get("max_partial_ways") else 0  # at most: a sector that is completed is then written
    return bool((fetched <= read).all() and (read <= fetched * (most // 32) + completed).all())


def _of_components(trials: Trial, gpu: _Config) -> str | None:
    """What does not add up between the counters of a component."""
    for one in COMPONENTS:
        counts = counts_of(one, trials.components)
        if not one.is_on(gpu) and any(values.any() for values in counts.values()):
            return f"{one.section} counts, but the GPU has none"
        if broken := next((words for words, holds in one.laws.items() if not np.all(holds(counts))), None):
            return broken
    return None


def _adds_up(trials: Trial, kind: str) -> bool:
    """Whether latencies in their bins can be so many and have their sum; those beyond the last edge may be anything."""
    histogram, count, total = (getattr(trials, f"{kind}_{each}") for each in ("histogram", "count", "sum"))
    edges = latency_bin_edges().astype(np.int64)
    binned = histogram.sum(axis=-1)
    least, most = histogram @ edges[:-1], histogram @ (edges[1:] - 1)
    beyond = (histogram[..., -1] > 0) | (binned < count)
    return bool(((binned <= count) & (total >= least) & ((total <= most) | beyond)).all())


def _waited(trials: Trial, _gpu: _Config) -> bool:
    reads = trials.counters[..., :-1, Level.l1, READS, CountUnit.transactions].sum(axis=-1)
    return bool((trials.latency_count >= reads).all())  # in addition, atomics, and accesses of shared memory


def _instructions(trials: Trial, _gpu: _Config) -> bool:
    of_instructions, of_transactions = trials.instruction_latency_count, trials.latency_count
    return bool((of_instructions <= of_transactions).all() and ((of_instructions > 0) == (of_transactions > 0)).all())


def _groups(trials: Trial, _gpu: _Config) -> bool:
    counted, of_groups = trials.counters.sum(axis=-4), trials.group_counters.sum(axis=-4)
    return bool((of_groups <= counted).all() and (trials.group_cycles.sum(axis=-1) <= trials.cycles).all())


_LAWS: dict[str, Callable[[Trial, _Config], bool]] = {
    "L1 counts accesses of no op": lambda trials, _: not trials.counters[..., -1, Level.l1, :, :].any(),
    "L1 counts another number of transactions than were replayed": _transactions,
    "sectors do not fit transactions": _sectors,
    "L2 is read another number of times than L1 missed": _reads_to_l2,
    "L2 is read for no op another number of times than page walks do": _walks,
    "TLBs are asked another number of times than L2": _lookups,
    "L2 gets other atomics than L1 sent": _atomics_to_l2,
    "L2 gets other stores than L1 sent": _writes_to_l2,
    "DRAM reads other sectors than L2 missed": _fetches_from_dram,
    "DRAM counts events of caches": lambda trials, _: not trials.counters[..., Level.dram, _NEVER_IN_DRAM, :].any(),
    "latencies do not fit their histogram": lambda trials, _: _adds_up(trials, "latency"),
    "latencies of main memory do not fit their histogram": lambda trials, _: _adds_up(trials, "memory"),
    "fewer latencies than loads are counted": _waited,
    "latencies of instructions are not those of their transactions": _instructions,
    "groups of blocks count more than the trial": _groups,
}
