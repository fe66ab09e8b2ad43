"""Lines by the time of their last use: a Fenwick tree of marks, one per line (Almasi et al., MSP 2002).

The marks after the time of a line's last use are the other lines used since: its stack distance.
"""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import loop

HASH_BITS = 20


@loop
def picked(line, halvings):
    """Whether a hash picks a line for a sample of one in 2**halvings (SHARDS: Waldspurger et al., FAST 2015)."""
    return ((np.int64(line) * 0x9E3779B1) >> 12) & ((1 << halvings) - 1) == 0


@loop
def add(tree, time, count):
    """Add so many marks at `time`."""
    at = time + 1
    while at < len(tree):
        tree[at] += count
        at += at & -at


@loop
def before(tree, time):
    """Marks at `time` and before."""
    at, total = time + 1, 0
    while at > 0:
        total += tree[at]
        at -= at & -at
    return total


@loop
def squeeze(tree, line_at, last, now):
    """Count time anew from 0, in the same order, without the times whose line was used again; returns the time now.

    Args:
        tree: of marks.
        line_at: i4, the line used at each time before `now`.
        last: i4 [lines], the time of each line's last use.
    """
    n_kept = 0
    for time in range(now):
        line = line_at[time]
        if last[line] == time:
            last[line] = n_kept
            line_at[n_kept] = line
            n_kept += 1
    for at in range(len(tree)):
        tree[at] = 0
    for time in range(n_kept):
        add(tree, time, 1)
    return n_kept
