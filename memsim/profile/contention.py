"""Lanes of an atomic that meet on one address: hardware does them one after the other."""

from __future__ import annotations

import numpy as np

from memsim.profile.demand import Columns
from memsim.trace.lanes import IDLE, lane_addresses
from memsim.trace.reader import Trace
from memsim.trace.schema import OpKind


def contention(trace: Trace) -> Columns:
    """Distinct addresses of each instruction's atomics, and the most lanes on one of them: i8 [n_ops]."""
    n_ops = len(trace.ops)
    found = np.zeros((2, n_ops), np.int64)
    atomics = [k for k, op in enumerate(trace.ops) if op.kind in (OpKind.atomic, OpKind.reduction)]
    for chunk in trace.chunks() if atomics else ():
        rows = np.flatnonzero(np.isin(chunk.op, atomics))
        op, (distinct, most) = chunk.op[rows], meeting(lane_addresses(chunk, rows))
        for column, values in zip(found, (distinct, most), strict=True):
            column += np.bincount(op, weights=values, minlength=n_ops).astype(np.int64)
    return {"addresses": found[0], "most_on_one": found[1]}


def meeting(addresses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct addresses of each instruction, and the most lanes on one: i8 [rows] each.

    Args:
        addresses: i8 [rows, LANES], IDLE where a lane does not take part.

    >>> [found.tolist() for found in meeting(np.array([[8, 4, 8, IDLE], [8, 8, 8, 8]]))]
    [[2, 1], [2, 4]]
    """
    ordered = np.sort(addresses, axis=1)
    active = ordered != IDLE
    new = active.copy()
    new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    run, most = np.zeros(len(addresses), np.int64), np.zeros(len(addresses), np.int64)
    for lane in range(addresses.shape[1]):
        run = np.where(new[:, lane], 1, run + active[:, lane])
        most = np.maximum(most, run)
    return new.sum(axis=1), most
