"""What one launch leaves to the next: L2's lines. L1s are emptied between kernels, and nothing else lasts."""

from __future__ import annotations

import numpy as np

from memsim.hierarchy.machine import Machine

_OF_CACHE = ("tags", "ways", "oldest", "sets", "predictions")
_OF_SLICES = ("dirty_ways", "way_of", "copied")


def hand_on(before: Machine, after: Machine) -> None:
    """Let L2 begin with the lines that a launch has left there, dirty ones too.

    Args:
        before: with nothing under way.
        after: of the same L2 and the same numbers of lines, with nothing run yet. What it writes back of `before`
            counts to no static op: another kernel's wrote it.
    """
    old, new = before.slices, after.slices
    for name in _OF_CACHE:
        np.copyto(getattr(new.cache, name), getattr(old.cache, name))
    for name in _OF_SLICES:
        np.copyto(getattr(new, name), getattr(old, name))
    new.writers[:] = after.counters.shape[1] - 1
