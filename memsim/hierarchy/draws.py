"""What is random in a trial, by source, so that one source can be drawn anew while the others stay.

A trial's draws come from its own seeds: the pages' frames from a stream of their own, for how many numbers they take
is the trace's business; then, in this order, the key of all hashed draws and the phases of the blocks that start. So a
source that is switched on, or taken from another trial, leaves all others as they were.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from memsim.gpu.choices import Replacement, WarpScheduler
from memsim.gpu.config import GPU, MID_LAUNCH
from memsim.gpu.presets import override
from memsim.hierarchy.mapping import AddressLayout, layout
from memsim.trace.reader import Trace
from memsim.trace.transactions import Transactions

DRAM_GROUPING = "dram_grouping"  # of the main-memory step, which draws from a stream of its own
_KEYED = ("warp_weights", "arbitration", "warp_scheduler", "replacement")
SOURCES = ("page_placement", "start_alignment", *_KEYED, DRAM_GROUPING)
_SWITCHES = ("page_placement", "start_alignment", "arbitration", DRAM_GROUPING)


@dataclass(frozen=True)
class Draws:
    """The draws of one trial that a machine is built with.

    Attributes:
        where: places of the trace's lines.
        phases: f8 [blocks that start], each in [0, 1); None where all start at their beginning.
        warp_weights, arbitration, warp_scheduler, replacement: keys of the hashed draws, below 2**31.
    """

    where: AddressLayout
    phases: np.ndarray | None
    warp_weights: int
    arbitration: int
    warp_scheduler: int
    replacement: int


def draws(
    tx: Transactions,
    gpu: GPU,
    started: int,
    seeds: np.random.SeedSequence,
    where: AddressLayout | None = None,
    others: Mapping[str, np.random.SeedSequence] | None = None,
) -> Draws:
    """The draws of a trial.

    Args:
        tx, gpu: what is replayed, and on what.
        started: blocks that start at once.
        seeds: of the trial.
        where: the trace's layout; made here when None or when pages are placed at random.
        others: by source, the seeds of the trial whose draw replaces this one's.
    """
    own = _of_trial(tx, gpu, started, seeds, where)
    changed: dict[str, Any] = {}
    for source, other in (others or {}).items():
        name = {"page_placement": "where", "start_alignment": "phases"}.get(source, source)
        changed[name] = getattr(_of_trial(tx, gpu, started, other, where), name)
    return replace(own, **changed)


def _of_trial(
    tx: Transactions, gpu: GPU, started: int, seeds: np.random.SeedSequence, where: AddressLayout | None
) -> Draws:
    if where is None or gpu.stochastic.page_placement:
        where = layout(tx, gpu, page_stream(seeds) if gpu.stochastic.page_placement else None)
    rng = np.random.default_rng(seeds)
    key = int(rng.integers(1 << 31))
    phases = rng.random(started) if gpu.stochastic.start_alignment else None
    return Draws(where, phases, key, key, key, key)


def page_stream(seeds: np.random.SeedSequence) -> np.random.Generator:
    """The stream of page placement.

    It is a child's, by its key: spawning one would count up in `seeds`, and the next call would get another.
    """
    return np.random.default_rng(np.random.SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, 0)))


def active(gpu: GPU) -> tuple[str, ...]:
    """The sources from which a replay on this GPU draws.

    >>> from memsim.gpu.presets import load_gpu
    >>> active(load_gpu("tesla-c2050"))
    ('start_alignment', 'warp_weights', 'arbitration', 'dram_grouping')
    """
    chance = gpu.stochastic
    on = {name for name in _SWITCHES if getattr(chance, name)}
    scheduler = gpu.sm.warp_scheduler
    if scheduler is WarpScheduler.weighted_round_robin and chance.warp_weights and chance.max_weight > 1:
        on.add("warp_weights")
    if scheduler is WarpScheduler.random:
        on.add("warp_scheduler")
    policies = {cache.replacement for cache in (gpu.l1, gpu.l2) if cache.enabled}
    if policies & {Replacement.random, Replacement.brrip}:
        on.add("replacement")
    return tuple(name for name in SOURCES if name in on)


def with_start_alignment(gpu: GPU, trace: Trace) -> GPU:
    """Return the GPU with ``stochastic.start_alignment`` on or off, as it is right for a trace.

    Random phases (Baghsorkhi et al., PPoPP 2012, 3.2.1) stand for what went before: in the middle of a launch blocks
    have drifted apart. A trace that has the launch's first block begins where the launch does, with all blocks in
    step, which drift apart as far as they do; random phases would take from blocks that stay in step, as those of tiled
    matrix products do, what they share in the caches.
    """
    if gpu.stochastic.start_alignment != MID_LAUNCH:
        return gpu
    return override(gpu, {"stochastic.start_alignment": bool(trace.block_ids.min(initial=0) > 0)})
