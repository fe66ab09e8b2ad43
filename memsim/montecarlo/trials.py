"""The results of a run, as analysis and files have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memsim.hierarchy.trial import Trial
from memsim.trace.source_text import Sources


@dataclass(kw_only=True)
class Trials(Trial):
    """Raw results of all trials: every array of :class:`memsim.hierarchy.trial.Trial` with an axis of trials in front.

    Attributes:
        trial: i8 [t], number of each trial, ascending (its random draws depend on the seed and this alone).
        about: gpu (dict, whole configuration), gpu_provenance (dict), seed, versions (dict), trace (dict: digest,
            kernel, source, parameters, grid, block, blocks: how many were traced, wave_blocks: how many the GPU holds
            at once, 0 if not known), sample (of a sample of a whole launch's blocks: its groups as [first, first
            measured, end], traced: all blocks; trace.blocks then are those replayed in time, and executed and profiles
            are missing), executed (dict: registers, shared_bytes; of the traced warps, warps,
            compute_instructions, barriers, one per warp, masked, accesses of no lane), created
            (ISO time).
        ops: list of dicts kind, space (names), width, array (index into arrays, or -1), line, column, file, text,
            profile (dict, see profile.ops.OpProfile).
        arrays: list of dicts name, base, bytes, element_bytes.
        sources: lines of the files that ops name, as far as the trace has them (trace.source_text).
    """

    trial: np.ndarray = field(metadata={"dtype": "<i8", "shape": ()})
    about: dict[str, Any] = field(default_factory=dict)
    ops: list[dict[str, Any]] = field(default_factory=list)
    arrays: list[dict[str, Any]] = field(default_factory=list)
    sources: Sources = field(default_factory=dict)

    @property
    def _before(self) -> tuple[int, ...]:
        return (len(self.trial),)

    @classmethod
    def of(cls, finished: Mapping[int, Trial], **texts: Any) -> Trials:
        """Some trials by number, one or more, as one value.

        Args:
            finished: trials by number.
            texts: about, ops, arrays and sources.
        """
        numbers = sorted(finished)
        columns: dict[str, Any] = {k: np.stack([getattr(finished[n], k) for n in numbers]) for k in Trial.columns(0)}
        return cls(**columns, trial=np.array(numbers), **texts)

    def separate(self) -> dict[int, Trial]:
        """The trials by number: the inverse of :meth:`of`."""
        columns = arrays_of(self)
        return {int(k): Trial(**{name: of[row] for name, of in columns.items()}) for row, k in enumerate(self.trial)}


def arrays_of(trial: Trial) -> dict[str, np.ndarray]:
    """The arrays of one trial (or of several) by name, as journals and caches keep them."""
    return {name: getattr(trial, name) for name in Trial.columns(0)}


def trial_of(arrays: Mapping[str, np.ndarray], n_ops: int) -> Trial | None:
    """The trial of stored arrays; None where they are not those of a kernel with `n_ops` static instructions."""
    fits = {name: (of.dtype.str, of.shape) for name, of in arrays.items()} == Trial.columns(n_ops)
    return Trial(**arrays) if fits else None
