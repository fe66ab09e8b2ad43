"""What the compiled merge looks up: sites, variants and arrays, as columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from memsim.sources import local_memory
from memsim.sources.capture.accesses import Memory, Sites
from memsim.sources.capture.lane_log import Array, Free, Variant
from memsim.sources.capture.positions import LATCH, TAG_MASK
from memsim.sources.capture.records import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from memsim.sources.capture.sites import LAST_SITE, Site
from memsim.trace.schema import NO_OP, ArrayInfo, Kind, Space

NOWHERE = 2**62  # no address
UNKNOWN = Array("(unknown)", Space.global_, 0, 0)  # what addresses outside every array belong to
# What a GPU's probes give as offsets: nothing says which array of the block's or the thread's it is.
WINDOWS = (
    Array("shared", Space.shared, SHARED_WINDOW, WINDOW_BYTES),
    Array("local", Space.local, LOCAL_WINDOW, WINDOW_BYTES, stack_bytes=local_memory.WINDOW),
)


class SiteTable:
    """Sites, and the variants that words name.

    Attributes:
        by_id: the sites.
        accesses: site and width of each access; several variants may be one.

    Args:
        sites: the front end's table.
        gaps: whether they have gaps.
        unroll: iterations before a back-edge of a loop that the compiler can count.
    """

    def __init__(self, sites: Sequence[Site], gaps: bool, unroll: int = 1) -> None:
        self.by_id = {site.id: site for site in sites}
        self.accesses: list[tuple[int, int]] = []
        self._numbers: dict[tuple[int, int], int] = {}
        self._variants: dict[int, Variant] = {}
        n = max(self.by_id, default=0) + 1
        assert n <= LAST_SITE + 1
        first_wait, waits = _lists(self.by_id, n, lambda site: site.waits_for)
        first_datum, data = _lists(self.by_id, n, lambda site: site.data_from)
        unrolling = np.ones(TAG_MASK + 1, np.int32)  # also of latches that only a log gone wrong has
        for site in sites:
            unrolling[site.id] = unroll if site.unroll is None else site.unroll
        self._loop = Sites(
            site_of=np.zeros(0, np.int32),
            access_of=np.zeros(0, np.int32),
            width=np.zeros(0, np.int32),
            returns=_column(self.by_id, n, bool, lambda site: site.kind in (Kind.load, Kind.atomic)),
            unroll=unrolling,
            gap=_column(self.by_id, n, np.int32, lambda site: site.gap if gaps else 0),
            first_wait=first_wait,
            waits=waits,
            first_datum=first_datum,
            data=data,
        )
        self._whole = True  # whether `_loop` has every variant

    def add(self, variant: Variant) -> None:
        """Know a variant from now on.

        Raises:
            ValueError: its site accesses nothing, or it has the number of a mark.
        """
        site = self.by_id.get(variant.site)
        if site is None or site.kind is None or not 0 < variant.number < LATCH or not 0 < variant.width <= NO_OP:
            raise ValueError(f"variant {variant.number} of {variant.width} bytes at site {variant.site}")
        access = (variant.site, variant.width)
        if access not in self._numbers:
            self._numbers[access] = len(self.accesses)
            self.accesses.append(access)
        self._variants[variant.number] = variant
        self._whole = False

    def loop(self) -> Sites:
        """For the compiled merge."""
        if not self._whole:
            site_of, access_of = np.zeros((2, max(self._variants) + 1), np.int32)
            for number, variant in self._variants.items():
                site_of[number], access_of[number] = variant.site, self._numbers[variant.site, variant.width]
            width = np.array([width for _, width in self.accesses], np.int32)
            self._loop = self._loop._replace(site_of=site_of, access_of=access_of, width=width)
            self._whole = True
        return self._loop


class ArrayTable:
    """The program's arrays as they come and go.

    Attributes:
        known: every array there ever was; the first stands for addresses outside of all. One that is freed and comes
            again, all the same, is one.
    """

    def __init__(self) -> None:
        self.known: list[Array] = [UNKNOWN]
        self._numbers: dict[Array, int] = {}
        self._live: dict[int, int] = {}  # base -> number
        self._memory: Memory | None = None
        self._stack_bytes = 0

    def add(self, array: Array) -> int:
        """Know an array, by the number returned, from now on; it replaces another at the same base."""
        if array not in self._numbers:
            self._numbers[array] = len(self.known)
            self.known.append(array)
        number = self._numbers[array]
        if self._live.get(array.base) != number:
            self._live[array.base] = number
            self._memory = None
            if array.space is Space.local:
                self._stack_bytes = array.stack_bytes
        return number

    def free(self, message: Free) -> None:
        """Forget where an array lay."""
        self._live.pop(message.base, None)
        self._memory = None

    def forget(self) -> None:
        """Forget where all arrays lay."""
        self._live.clear()
        self._memory = None

    def info(self, number: int, shared_start: int) -> ArrayInfo:
        """How the trace shows an array; ``shared_start`` is where a shared one lies in its block's memory."""
        array = self.known[number]
        base, size = array.base, 0 if array in WINDOWS else array.bytes
        if array.space is Space.shared:
            base = shared_start
        elif array.space is Space.local:
            base, size = local_memory.START, 0  # as importers say where the extent is not known
        return ArrayInfo(array.name, array.space, base, size, min(array.element_bytes, NO_OP))

    def loop(self, n_accesses: int) -> Memory:
        """For the compiled merge, with room for so many accesses."""
        if self._memory is None or len(self._memory.recent) < n_accesses:
            self._memory = self._built(n_accesses)
        return self._memory

    def _built(self, n_accesses: int) -> Memory:
        live = sorted(self._live.items())
        arrays = [self.known[number] for _, number in live]
        return Memory(
            start=np.array([*(array.base for array in arrays), NOWHERE], np.int64),
            stop=np.array([*(array.base + array.bytes for array in arrays), 0], np.int64),
            number=np.array([*(number for _, number in live), 0], np.int32),
            space=np.array([*(array.space for array in arrays), UNKNOWN.space], np.int32),
            recent=np.full(n_accesses, len(arrays), np.int32),
            stack_bytes=np.array([self._stack_bytes], np.int64),
        )


def _column(sites: dict[int, Site], n: int, dtype: Any, value: Callable[[Site], int]) -> np.ndarray:
    """Something of every site, by id."""
    column = np.zeros(n, dtype)
    for number, site in sites.items():
        column[number] = value(site)
    return column


def _lists(sites: dict[int, Site], n: int, value: Callable[[Site], Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Lists of sites, one after the other, and where each begins."""
    lists = [value(sites[number]) if number in sites else () for number in range(n)]
    first = np.cumsum([0, *map(len, lists)]).astype(np.int32)
    return first, np.array([site for each in lists for site in each], np.int32)
