"""The state of the DRAM channels as arrays, and the records of which they are made."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memsim.gpu.memory import Dram
from memsim.hierarchy.codes import NEVER
from memsim.hierarchy.requests import new_queues

CHANNEL = np.dtype(
    [
        ("clock", "<i8"),  # up to when it has decided
        ("refresh", "<i8"),  # when the next refresh is due
        ("bus_free", "<i8"),  # one past the last data cycle
        ("last_column", "<i8"),
        ("read_end", "<i8"),  # last read command + rtw: first cycle a write command may follow
        ("write_end", "<i8"),  # last write data + wtr: first cycle a read command may follow
        ("activate", "<i8"),  # last activate
        ("window", "<i8", 4),  # the last four activates
        ("at", "<i4"),  # oldest of them
        ("reads", "<i4"),  # entries in use
        ("writes", "<i4"),
        ("draining", "<i4"),
        ("started", "<i8"),  # banks that have opened a row for a request and not served it
        ("admitted", "<i8"),  # requests; their numbers are their ages
        ("row_at", "<i8"),  # next row command: its cycle, UNKNOWN if it has to be found
        ("row_age", "<i8"),  # of its request
        ("column_at", "<i8"),  # next column command
        ("column_age", "<i8"),
        ("direction", "<i8"),  # whose turn it is: 0 reads', 1 writes'; of writes that join the reads: 0
    ]
)
BANK = np.dtype(
    [
        ("row", "<i8"),  # open row, or -1
        ("activate", "<i8"),  # earliest activate that its group allows
        ("fresh", "<i8"),  # nothing of the open row has been accessed yet
    ]
)
# Requests of one bank, reads and writes apart, in order of arrival. `hit` is the oldest to the open row, or -1.
BANK_QUEUE = np.dtype([("head", "<i4"), ("tail", "<i4"), ("hit", "<i4"), ("pad", "<i4")])
COMMAND = np.dtype([("time", "<i8"), ("name", "u1"), ("bank", "u1"), ("channel", "<u2"), ("row", "<i4")])
PRECHARGE, ACTIVATE, READ, WRITE, REFRESH = range(5)
LONG_AGO = -(1 << 40)
UNKNOWN = -1  # of a next command: it has to be found anew
BANK_BITS = 6
AGE_BITS = 40  # of a request's age, with its bank, in the scheduler's rank
NO_AGE = 1 << 61


class Channels(NamedTuple):
    """All DRAM channels: parameters and state."""

    p: np.ndarray
    channels: np.ndarray
    banks: np.ndarray  # [channel * banks + bank]
    bank_queues: np.ndarray  # [channel, write, bank] flat, as the next two, which the scheduler compares side by side
    head_age: np.ndarray  # age of the oldest request (see `aged`), NO_AGE if there is none
    hit_age: np.ndarray  # age of the oldest request to the open row, NO_AGE if there is none
    column_ready: np.ndarray  # as head_age: earliest column command, of the bank and its group alone
    row_ready: np.ndarray  # [channel, bank] flat: earliest precharge of the open row, or activate if there is none
    started: np.ndarray  # as head_age: of the request that the bank has opened its row for and not served, else NO_AGE
    held: np.ndarray  # writes of each channel that are in no batch yet
    requests: np.ndarray
    to_dram: np.ndarray  # event queue
    queues: np.ndarray  # requests of each channel that its scheduler does not see yet
    from_dram: np.ndarray  # event queue
    counters: np.ndarray  # [op, event, unit] of level dram
    sectors: np.ndarray
    entries: np.ndarray  # of the queues, that a request for these sectors takes
    commands: np.ndarray  # COMMAND log, empty unless asked for
    logged: np.ndarray  # [1] commands logged
    log: np.ndarray  # requests (line << 8 | mask), for the main-memory step
    log_state: np.ndarray  # one LOG record


def new_channels(own: Dram) -> dict[str, np.ndarray]:
    """The state of idle channels, by the names of Channels: every row closed, nothing recent, nothing queued.

    Refreshes of the channels are spread evenly over the first interval.
    """
    channels, banks = own.channels, own.banks
    c = np.zeros(channels, CHANNEL)
    for name in ("bus_free", "last_column", "read_end", "write_end", "activate", "window"):
        c[name] = LONG_AGO
    c["row_at"] = c["column_at"] = UNKNOWN
    interval = own.timing.refi
    c["refresh"] = NEVER if interval is None else np.arange(1, channels + 1) * interval // channels
    b = np.zeros(channels * banks, BANK)
    b["row"] = -1
    b["activate"] = LONG_AGO
    q = np.zeros(2 * channels * banks, BANK_QUEUE)
    q["head"] = q["tail"] = q["hit"] = -1
    return {
        "channels": c,
        "banks": b,
        "bank_queues": q,
        "head_age": np.full(2 * channels * banks, NO_AGE),
        "hit_age": np.full(2 * channels * banks, NO_AGE),
        "started": np.full(2 * channels * banks, NO_AGE),
        "held": new_queues(channels),
        "column_ready": np.zeros(2 * channels * banks, np.int64),
        "row_ready": np.zeros(channels * banks, np.int64),
    }
