"""What a larger L1 or L2 would give a kernel: curves of every capacity, and replays at three of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from memsim.analysis.choices import Convention
from memsim.analysis.conventions import AccessKind, hit_ratio
from memsim.analysis.statistics import Ratio
from memsim.gpu.carve_out import carved
from memsim.gpu.config import GPU
from memsim.gpu.occupancy import occupancy
from memsim.gpu.presets import override
from memsim.hierarchy.counters import Level
from memsim.montecarlo.run import simulate_each
from memsim.montecarlo.trials import Trials
from memsim.profile.curve import Curve, curves, held_bytes, l1_use, l2_use
from memsim.profile.order import interleaved
from memsim.support.errors import InputError
from memsim.trace.coalesce import coalesce
from memsim.trace.coalescing_rules import l1_serves
from memsim.trace.reader import Trace

FACTORS = (0.5, 1.0, 2.0)  # of the present size, that are replayed
SHARES = (0.5, 0.9)  # of the best hit ratio, whose capacities are reported
_STEPS = 4  # capacities a doubling, in tables


@dataclass(frozen=True)
class Replayed:
    """A replay with its sets, latencies and merges, to compare with the curve.

    Attributes:
        bytes: capacity of the cache.
        ways: of its sets.
        hit: read hit ratio, ``traffic`` convention.
        curve: what the curve says of the same capacity.
    """

    bytes: int
    ways: int
    hit: Ratio
    curve: float


@dataclass(frozen=True)
class CacheCapacity:
    """One cache.

    Attributes:
        bytes: present capacity for lines; 0 where it is off.
        curve: its hit ratio against lines, see profile.curve.
        replayed: at half, once and twice the present size, where a GPU of that size can be.
    """

    bytes: int
    curve: Curve
    replayed: tuple[Replayed, ...]

    def hit_ratio(self, nbytes: np.ndarray | int) -> np.ndarray:
        """The curve at so many bytes."""
        return self.curve.hit_ratio(np.asarray(nbytes) // self.curve.line_bytes)

    @property
    def sizes(self) -> np.ndarray:
        """Bytes at which the curve is worth a look: four a doubling, from a few lines to all that are reused."""
        most = max(len(self.curve.distances) * self.curve.step * self.curve.line_bytes, 2 * self.bytes, 1024)
        octaves = np.log2(most / 1024)
        sizes = 1024 * 2 ** (np.arange(np.ceil(octaves * _STEPS) + 1) / _STEPS)
        return np.unique(np.append(np.round(sizes).astype(np.int64), [self.bytes] if self.bytes else []))

    def needed(self, share: float) -> int:
        """Fewest bytes that give this share of the best hit ratio; 0 where nothing ever hits."""
        return self.curve.needed(share) * self.curve.line_bytes


@dataclass(frozen=True)
class Capacity:
    """The caches of a GPU, for a kernel.

    Attributes:
        kernel, gpu, digest: what was looked at; digest of the trace.
        sampled: one line in so many was followed.
        caches: "l1" (every SM's its own), "l2" (behind L1s of the present size); without those that nothing reads.
    """

    kernel: str
    gpu: str
    digest: str
    sampled: int
    caches: Mapping[str, CacheCapacity]


def capacity(
    trace: Trace,
    gpu: GPU,
    *,
    trials: int = 4,
    seed: int = 0,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Capacity:
    """Find a kernel's hit ratio at every capacity of L1 and L2, and replay it at three; see :func:`memsim.capacity`.

    Args:
        gpu: the machine; its L1 is what shared memory leaves of it.

    Raises:
        InputError: neither cache is on, or nothing is read through them.
    """
    if trials < 0:
        raise InputError("capacity", "trials", f"is {trials}; give 0 for the curves only, or more")
    shape = trace.launch
    held = occupancy(gpu, shape.threads_per_block, shape.registers, shape.shared_bytes)
    gpu = override(carved(gpu, held), {"l1.carve_outs": []})  # the variants keep what it leaves
    l1, l2 = l1_use(trace, gpu), l2_use(trace, gpu)
    tx = coalesce(trace, gpu)
    order = interleaved(tx, gpu.sm.count, held.blocks, max(len(tx.lines), 1))
    found = dict(zip(("l1", "l2"), curves(tx, order, gpu.l1.line_bytes, l1, l2), strict=True))
    present = {"l1": l1.lines * l1.line_bytes, "l2": l2.lines * l2.line_bytes}
    read = {name: curve for name, curve in found.items() if present[name] and curve.uses}
    if not read:
        raise InputError(trace.path, "loads", f"use no cache of {gpu.name}; give a GPU whose caches serve them")
    variants = {name: list(sized(gpu, name)) if trials else [] for name in read}
    gpus = [one for some in variants.values() for one in some]
    done = simulate_each(trace, gpus, trials=trials, seed=seed, jobs=jobs, progress=progress) if gpus else {}
    caches = {}
    for name, curve in read.items():
        at = tuple(_replayed(trace, name, variant, done[variant], curve) for variant in variants[name])
        caches[name] = CacheCapacity(present[name], curve, at)
    return Capacity(trace.kernel, gpu.name, trace.digest, next(iter(read.values())).step, caches)


def sized(gpu: GPU, name: str) -> Iterator[GPU]:
    """The GPU with a cache of half, the same and twice the size: by its sets, else, where those cannot be, by its ways.

    What is reserved of an L1 goes with its size.
    """
    cache = getattr(gpu, name)
    for factor in FACTORS:
        fields: dict[str, object] = {f"{name}.size_bytes": int(cache.size_bytes * factor)}
        if name == "l1":
            reserved = int(cache.reserved_bytes * factor) // cache.line_bytes * cache.line_bytes
            fields["l1.reserved_bytes"] = reserved
        for ways in (cache.ways, int(cache.ways * factor)):
            try:
                yield override(gpu, fields | {f"{name}.ways": ways})
            except InputError:
                continue  # so many sets, or ways, cannot be
            break


def _replayed(trace: Trace, name: str, gpu: GPU, trials: Trials, curve: Curve) -> Replayed:
    """A cache's replayed read hit ratio on a variant, over the loads that the curve counts."""
    cache = getattr(gpu, name)
    rows = [k for k, op in enumerate(trace.ops) if name == "l2" or l1_serves(op, gpu)]
    counters = trials.counters[:, rows].sum(axis=1)
    values = hit_ratio(counters, Level[name], (AccessKind.read,), Convention.traffic, gpu.compute_capability)
    nbytes = held_bytes(gpu, name)
    said = float(curve.hit_ratio(nbytes // cache.line_bytes))
    return Replayed(nbytes, cache.ways, Ratio(values, Convention.traffic), said)
