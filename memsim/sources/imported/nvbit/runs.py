"""Sorts records by launch, block and warp through the disk: mem_trace prints those of all warps as they come.

What fits into memory is sorted and becomes a *run*. Runs beyond the first go to temporary files; at the end they are
merged a few blocks at a time. Records of one warp keep the order of the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from memsim.sources.imported.nvbit.scan import KEY_BITS
from memsim.sources.imported.warp_slices import order
from memsim.support.files import writing
from memsim.trace.bits import popcounts
from memsim.trace.schema import EXPLICIT

RunSlice = tuple[np.ndarray, np.ndarray]  # records, and the explicit addresses of these, one after the other


@dataclass(frozen=True)
class _Run:
    """Sorted records; ``address`` of each counts in ``addresses``. The keys are there once more, side by side."""

    keys: np.ndarray
    records: np.ndarray
    addresses: np.ndarray

    def slice_of(self, start: int, stop: int) -> RunSlice:
        """A copy of some records and their addresses."""
        records = np.array(self.records[start:stop])
        if not len(records):
            return records, np.zeros(0, np.uint32)
        first, last = int(records["address"][0]), int(records["address"][-1] + _counts(records[-1:])[0])
        return records, np.array(self.addresses[first:last])


class Runs:
    """All records of a file.

    Args:
        folder: for temporary files, which are the caller's to remove.
        batch: records that are merged at a time, about.
    """

    def __init__(self, folder: Path, batch: int) -> None:
        self._folder, self._batch = folder, batch
        self._runs: list[_Run] = []

    def add(self, records: np.ndarray, addresses: np.ndarray, *, last: bool) -> None:
        """Take copies of records in the order of the file; the last ones stay in memory.

        Raises:
            InputError: the disk is full.
        """
        records, addresses = sort((records, addresses))
        if not len(records):
            return
        columns = [np.ascontiguousarray(records["key"]), records, addresses]
        if not last:
            columns = [self._on_disk(column, number) for number, column in enumerate(columns)]
        self._runs.append(_Run(*columns))

    def _on_disk(self, column: np.ndarray, number: int) -> np.ndarray:
        if not len(column):
            return column
        path = self._folder / f"{len(self._runs)}.{number}"
        with writing(path):
            column.tofile(path)
        return np.memmap(path, column.dtype, "r")

    def launch(self, number: int, warps_per_block: int) -> Iterator[RunSlice]:
        """The records of one launch, sorted by warp, some whole blocks at a time."""
        keys = [run.keys for run in self._runs]
        at = [int(np.searchsorted(key, number << KEY_BITS)) for key in keys]
        stop = [int(np.searchsorted(key, (number + 1) << KEY_BITS)) for key in keys]
        share = max(self._batch // max(len(keys), 1), 1)
        while any(a < b for a, b in zip(at, stop, strict=True)):
            # The first key that some run cannot bring in whole, and at least one block beyond the first key.
            first = min(int(key[a]) for key, a, b in zip(keys, at, stop, strict=True) if a < b)
            ahead = [int(key[a + share]) for key, a, b in zip(keys, at, stop, strict=True) if a + share < b]
            until = min(ahead, default=(number + 1) << KEY_BITS)
            warp, first_warp = (key & ((1 << KEY_BITS) - 1) for key in (until, first))
            if ahead:
                block = max(warp // warps_per_block, first_warp // warps_per_block + 1)
                until = (number << KEY_BITS) + block * warps_per_block
            ends = [a + int(np.searchsorted(key[a:b], until)) for key, a, b in zip(keys, at, stop, strict=True)]
            slices = [run.slice_of(a, b) for run, a, b in zip(self._runs, at, ends, strict=True)]
            yield sort(_concatenated(slices))
            at = ends


def _counts(records: np.ndarray) -> np.ndarray:
    """Explicit addresses of each record."""
    return np.where(records["stride"] == EXPLICIT, popcounts(np.ascontiguousarray(records["mask"])), 0)


def _concatenated(slices: list[RunSlice]) -> RunSlice:
    records = np.concatenate([records for records, _ in slices])
    counts = _counts(records)
    records["address"] = np.cumsum(counts) - counts
    return records, np.concatenate([addresses for _, addresses in slices])


def sort(run_slice: RunSlice) -> RunSlice:
    """Records by key, those of one key in their order, and their addresses likewise."""
    records, addresses = run_slice
    by_key = np.argsort(records["key"], kind="stable")
    records = records[by_key]
    counts = _counts(records)
    addresses = addresses[order(records["address"], records["address"] + counts)]
    records["address"] = np.cumsum(counts) - counts
    return records, addresses
