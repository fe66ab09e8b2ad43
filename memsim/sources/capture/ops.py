"""Static ops of a captured launch: each is an access (a site with its width) of one array."""

from __future__ import annotations

import numpy as np

from memsim.sources.capture.accesses import Ops
from memsim.sources.capture.sites import Site
from memsim.trace.schema import NO_OP, Space, StaticOp


class AccessOps:
    """The static ops of a launch, one an access and array; the compiled merge numbers them as its warps meet them."""

    def __init__(self) -> None:
        self._loop = Ops(np.zeros((0, 0), np.int32), np.zeros((NO_OP, 2), np.int32), np.zeros(1, np.int64))

    def loop(self, n_accesses: int, n_arrays: int) -> Ops:
        """For the compiled merge, with room for every access of every array."""
        old = self._loop.number
        if old.shape != (n_accesses, n_arrays):
            number = np.full((n_accesses, n_arrays), -1, np.int32)
            number[: old.shape[0], : old.shape[1]] = old
            self._loop = self._loop._replace(number=number)
        return self._loop

    @property
    def made(self) -> np.ndarray:
        """i4 [n_ops, 2], access and array of each."""
        return self._loop.made[: self._loop.n_made[0]]

    @property
    def arrays(self) -> list[int]:
        """Numbers of the arrays that are accessed, ascending."""
        return np.unique(self.made[:, 1]).tolist()


def static_op(site: Site, width: int, space: Space, array: int) -> StaticOp:
    """An access of a site as a row of the trace's table."""
    assert site.kind is not None
    by_data = bool(site.address_from)
    return StaticOp(site.kind, space, width, array, site.line, site.column, site.file, site.text, by_data=by_data)
