"""Which lanes execute: frames (the warps that values have rows for), scopes and contexts (the active lanes).

Values are matrices with a row for every warp of their frame. Entering a divergent region narrows the mask; once many
warps have no active lane left the region gets a frame of its own with the other warps only, so that a few long
rows of a loop do not cost the work of all.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from memsim.sources.describe import compiled
from memsim.sources.describe.arithmetic import Becomes
from memsim.sources.describe.instruction_mixes import N_CLASSES
from memsim.sources.describe.waiting import DEPENDENCES

CROWDED = 0.75  # below this share of warps with active lanes, a region gets its own frame

# i4 [rows, DEPENDENCES]: the newest sequence whose loads a value depends on, and its newest loads, by class (as
# memsim.sources.waits counts them), -1 for none; None: it depends on none at all.
Since = np.ndarray | None


class WarpFrame:
    """A set of warps of the batch: ``warps`` i4 [rows]; ``rows`` are its rows in the parent frame."""

    def __init__(self, warps: np.ndarray, parent: WarpFrame | None = None, rows: np.ndarray | None = None) -> None:
        self.warps, self.parent, self.rows = warps, parent, rows
        self._rows_in: dict[int, np.ndarray] = {}
        self.independent = np.full((len(warps), DEPENDENCES), -1, np.int32)

    def select(self, rows: np.ndarray) -> WarpFrame:
        """The frame of some of its rows."""
        return WarpFrame(self.warps[rows], self, rows)

    def rows_in(self, ancestor: WarpFrame) -> np.ndarray:
        """The rows of its warps in an enclosing frame."""
        rows = self._rows_in.get(id(ancestor))
        if rows is None:
            assert self.parent is not None and self.rows is not None, "a frame is used outside its region"
            rows = self.rows if self.parent is ancestor else self.parent.rows_in(ancestor)[self.rows]
            self._rows_in[id(ancestor)] = rows
        return rows


@dataclass(eq=False)
class Scope:
    """A region of the kernel (the whole, a ``where``, a loop): a value may be used inside the scope it was made in."""

    depth: int
    parent: Scope | None = None

    def inside(self, other: Scope) -> bool:
        """Whether this scope is ``other`` or nested in it."""
        scope: Scope | None = self
        while scope is not None and scope.depth > other.depth:
            scope = scope.parent
        return scope is other


@dataclass(eq=False)
class Context:
    """The active lanes at one moment.

    Attributes:
        scope, frame: the region and the warps.
        mask: bool [rows, lanes], or None when every lane is active.
        bits: u4 [rows] (u8 of more than 32 lanes), the same, packed.
        since: what the execution depends on (conditions of the enclosing regions).
        used: what their arithmetic has used, not yet noted for the warps.
        issued: non-memory instructions of every active warp that are not yet charged to the warps, by class, the last
            of no known one.
        condition: bool [rows, lanes] of the last ``where`` in this context, for its ``otherwise``.
    """

    scope: Scope
    frame: WarpFrame
    mask: np.ndarray | None
    bits: np.ndarray
    since: Since = None
    used: Since = None
    issued: list[int] = field(default_factory=lambda: [0] * (N_CLASSES + 1))
    condition: tuple[np.ndarray, Since] | None = field(default=None, repr=False)

    @property
    def any(self) -> bool:
        return bool(self.bits.any())

    def lanes(self) -> np.ndarray:
        """The mask as booleans [n_warps, warp_size], or [n_warps, 1] where all lanes are active."""
        return np.ones((len(self.bits), 1), bool) if self.mask is None else self.mask

    def issue(self, instructions: Becomes) -> None:
        """Have every active warp issue some more non-memory instructions."""
        for each, count in instructions.items():
            self.issued[each] += count

    def again(self, scope: Scope) -> Context:
        """The context of the same lanes, for a region of their own."""
        return Context(scope, self.frame, self.mask, self.bits, self.since)

    def narrowed(self, condition: np.ndarray, since: Since, scope: Scope) -> Context:
        """The context of its lanes where ``condition`` bool [rows, lanes] holds too."""
        mask = condition if self.mask is None else self.mask & condition
        bits = compiled.active_bits(mask)
        frame, since = self.frame, newest(self.since, since)
        rows = np.flatnonzero(bits)
        if len(rows) < CROWDED * len(bits):
            frame, mask, bits = frame.select(rows), mask[rows], bits[rows]
            since = None if since is None else since[rows]
        return Context(scope, frame, None if mask.all() else mask, bits, since)


def newest(first: Since, second: Since) -> Since:
    """What a value made of two others depends on."""
    if first is None or second is None:
        return second if first is None else first
    return np.maximum(first, second)
