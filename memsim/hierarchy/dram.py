"""DRAM channels, advanced by one window of time in their own command clock.

A channel decides once a request: which one goes next (FCFS, or first-ready FCFS: the oldest row hit, else the request
whose bank can activate first), then places its precharge, activate and column commands at the earliest cycles that the
timing table allows. Decisions run at most one row conflict ahead of the data bus, so that later row hits are still
seen. Writes are held and drained in batches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memsim.config import DramPolicy
from memsim.hierarchy.compiled import loop
from memsim.hierarchy.requests import FETCH, append, pop, schedule, take_bucket
from memsim.hierarchy.sm_state import NEVER

CHANNEL = np.dtype(
    [
        ("clock", "<i8"),  # when it decides next
        ("bus_free", "<i8"),  # one past the last data cycle
        ("column", "<i8"),  # last column command
        ("read_end", "<i8"),  # last read command + rtw: first cycle a write command may follow
        ("write_end", "<i8"),  # last write data + wtr: first cycle a read command may follow
        ("activate", "<i8"),  # last activate
        ("window", "<i8", 4),  # the last four activates
        ("at", "<i4"),  # oldest of them
        ("reads", "<i4"),
        ("writes", "<i4"),
        ("draining", "<i4"),
        ("admitted", "<i8"),  # requests; their numbers are their ages
    ]
)
BANK = np.dtype(
    [
        ("row", "<i8"),  # open row, or -1
        ("column", "<i8"),  # earliest column command
        ("precharge", "<i8"),  # earliest precharge
        ("activate", "<i8"),  # earliest activate, when closed
    ]
)
# Requests of one bank, reads and writes apart, in order of arrival. `hit` is the oldest to the open row, or -1.
BANK_QUEUE = np.dtype([("head", "<i4"), ("tail", "<i4"), ("hit", "<i4"), ("pad", "<i4")])
LOG = np.dtype(
    [
        ("entries", "<i8"),
        ("stride", "<i8"),  # one run of so many is taken
        ("left", "<i8"),  # requests to come in the present run
        ("taking", "<i8"),  # whether it is taken
        ("skip", "<i8"),  # runs to skip before the next
    ]
)
COMMAND = np.dtype([("time", "<i8"), ("name", "u1"), ("bank", "u1"), ("channel", "<u2"), ("row", "<i4")])
PRECHARGE, ACTIVATE, READ, WRITE = range(4)
LONG_AGO = -(1 << 40)
BANK_BITS = 6
AGE_BITS = 40  # of a request's age, with its bank, in the scheduler's rank
NO_AGE = 1 << 61
POLICY = {DramPolicy.fcfs: 0, DramPolicy.fr_fcfs: 1}


class Channels(NamedTuple):
    """All DRAM channels: parameters and state."""

    p: np.ndarray
    channels: np.ndarray
    banks: np.ndarray  # [channel * banks + bank]
    bank_queues: np.ndarray  # [channel, write, bank] flat, as the next two, which the scheduler compares side by side
    head_age: np.ndarray  # age of the oldest request (see `aged`), NO_AGE if there is none
    hit_age: np.ndarray  # age of the oldest request to the open row, NO_AGE if there is none
    ready: np.ndarray  # [channel, bank] flat: when the bank could activate another row
    requests: np.ndarray
    from_l2: np.ndarray  # calendar
    queues: np.ndarray  # requests of each channel that its scheduler does not see yet
    to_l2: np.ndarray  # calendar
    counters: np.ndarray  # [op, event, unit] of level dram
    sectors: np.ndarray
    commands: np.ndarray  # COMMAND log, empty unless asked for
    logged: np.ndarray  # [1] commands logged
    log: np.ndarray  # requests (line << 8 | mask), for the main-memory step
    log_state: np.ndarray  # one LOG record


def new_log() -> np.ndarray:
    """The state of an empty log."""
    state = np.zeros(1, LOG)
    state["stride"] = 1
    return state


def new_channels(channels: int, banks: int) -> dict[str, np.ndarray]:
    """The state of idle channels, by the names of Channels: every row closed, nothing recent, nothing queued."""
    c = np.zeros(channels, CHANNEL)
    for name in ("bus_free", "column", "read_end", "write_end", "activate", "window"):
        c[name] = LONG_AGO
    b = np.zeros(channels * banks, BANK)
    b["row"] = -1
    q = np.zeros(2 * channels * banks, BANK_QUEUE)
    q["head"] = q["tail"] = q["hit"] = -1
    return {
        "channels": c,
        "banks": b,
        "bank_queues": q,
        "head_age": np.full(2 * channels * banks, NO_AGE),
        "hit_age": np.full(2 * channels * banks, NO_AGE),
        "ready": np.zeros(channels * banks, np.int64),
    }


@loop
def to_clock(p, time):
    """First DRAM cycle at or after an SM cycle."""
    return (time * p.clock_up + p.clock_down - 1) // p.clock_down


@loop
def to_time(p, clock):
    """First SM cycle at or after a DRAM cycle."""
    return (clock * p.clock_down + p.clock_up - 1) // p.clock_up


@loop
def log_command(m, c, name, bank, row, clock):
    """Keep a command for those who check timing."""
    n = m.logged[0]
    if n < len(m.commands):
        m.commands[n].time = clock
        m.commands[n].name = name
        m.commands[n].bank = bank
        m.commands[n].channel = c
        m.commands[n].row = row
        m.logged[0] = n + 1


@loop
def aged(number, bank):
    """A request's age for the scheduler to compare: its number, then its bank, so that the least names the bank."""
    return np.int64(number) << BANK_BITS | bank


@loop
def admit(m, c, clock):
    """Move the requests that have come by `clock` into the bank queues, while there is room."""
    p = m.p[0]
    while True:
        r = m.queues[c].head
        if r < 0 or m.requests[r].time * p.clock_up > clock * p.clock_down:
            return
        write = 0 if m.requests[r].kind == FETCH else 1
        if write:
            if m.channels[c].writes >= p.write_queue:
                return
            m.channels[c].writes += 1
        else:
            if m.channels[c].reads >= p.queue:
                return
            m.channels[c].reads += 1
        pop(m.queues, c, m.requests)
        age = m.channels[c].admitted
        m.requests[r].key = age
        m.channels[c].admitted = age + 1
        bank = m.requests[r].bank
        q = (c * 2 + write) * p.banks + bank
        append(m.bank_queues, q, m.requests, r)
        if m.bank_queues[q].head == r:
            m.head_age[q] = aged(age, bank)
        if m.bank_queues[q].hit < 0 and m.requests[r].row == m.banks[c * p.banks + bank].row:
            m.bank_queues[q].hit = r
            m.hit_age[q] = aged(age, bank)


@loop
def oldest(ages, first, n):
    """Bank of the smallest of `n` ages, or -1 if all are NO_AGE."""
    best = NO_AGE
    for k in range(first, first + n):
        best = min(best, ages[k])
    return -1 if best == NO_AGE else best & ((1 << BANK_BITS) - 1)


@loop
def choose(m, c, write, clock):
    """Bank whose request goes next: the oldest (FCFS), the oldest row hit, else the one that can activate first."""
    p = m.p[0]
    base = (c * 2 + write) * p.banks
    if not p.policy:
        return oldest(m.head_age, base, p.banks)
    bank = oldest(m.hit_age, base, p.banks)
    if bank >= 0:
        return bank
    best = NEVER
    for k in range(p.banks):
        best = min(best, (max(m.ready[c * p.banks + k] - clock, 0) << AGE_BITS) + m.head_age[base + k])
    return best & ((1 << BANK_BITS) - 1)


@loop
def find_hit(m, q, r, bank, row):
    """Note the first request from `r` on, all in `bank`, that goes to `row`."""
    while r >= 0 and m.requests[r].row != row:
        r = m.requests[r].next
    m.bank_queues[q].hit = r
    m.hit_age[q] = aged(m.requests[r].key, bank) if r >= 0 else NO_AGE


@loop
def remove(m, q, r, bank):
    """Take request `r` out of the queue of a bank."""
    at = m.bank_queues[q].head
    after = m.requests[r].next
    if at == r:
        m.bank_queues[q].head = after
        m.head_age[q] = aged(m.requests[after].key, bank) if after >= 0 else NO_AGE
        return
    while m.requests[at].next != r:
        at = m.requests[at].next
    m.requests[at].next = after
    if m.bank_queues[q].tail == r:
        m.bank_queues[q].tail = at


@loop
def open_row(m, c, bank, row, clock):
    """Precharge if need be and activate, each as early as the table allows."""
    p = m.p[0]
    b = c * p.banks + bank
    at = m.channels[c].at
    earliest = max(clock, m.channels[c].activate + p.rrd, m.channels[c].window[at] + p.faw)
    if m.banks[b].row >= 0:
        precharge = max(clock, m.banks[b].precharge)
        log_command(m, c, PRECHARGE, bank, m.banks[b].row, precharge)
        m.banks[b].activate = precharge + p.rp
    activate = max(earliest, m.banks[b].activate)
    log_command(m, c, ACTIVATE, bank, row, activate)
    m.banks[b].row = row
    m.banks[b].column = activate + p.rcd
    m.banks[b].precharge = activate + p.ras
    m.channels[c].activate = activate
    m.channels[c].window[at] = activate
    m.channels[c].at = (at + 1) & 3
    for write in range(2):
        q = (c * 2 + write) * p.banks + bank
        find_hit(m, q, m.bank_queues[q].head, bank, row)


@loop
def transfer(m, c, bank, write, n, clock):
    """Column commands of `n` sectors of the open row; returns the end of their data."""
    p = m.p[0]
    b = c * p.banks + bank
    step = max(p.ccd, p.burst)
    column = max(clock, m.banks[b].column, m.channels[c].column + p.ccd)
    if write:
        column = max(column, m.channels[c].read_end, m.channels[c].bus_free - p.cwl)
    else:
        column = max(column, m.channels[c].write_end, m.channels[c].bus_free - p.cl)
    last = column + (n - 1) * step
    for k in range(n if len(m.commands) else 0):
        log_command(m, c, WRITE if write else READ, bank, m.banks[b].row, column + k * step)
    end = last + (p.cwl if write else p.cl) + p.burst
    m.channels[c].column = last
    m.channels[c].bus_free = end
    if write:
        m.channels[c].write_end = end + p.wtr
        m.banks[b].precharge = max(m.banks[b].precharge, end + p.wr)
    else:
        m.channels[c].read_end = last + p.rtw
        m.banks[b].precharge = max(m.banks[b].precharge, last + p.rtp)
    return end


@loop
def issue(m, c, write, clock):
    """Choose a request, carry it out and send it back to its slice."""
    p = m.p[0]
    bank = choose(m, c, write, clock)
    q = (c * 2 + write) * p.banks + bank
    r = m.bank_queues[q].hit if p.policy else m.bank_queues[q].head
    if r < 0:
        r = m.bank_queues[q].head
    row = m.requests[r].row
    n = m.sectors[m.requests[r].mask]
    event = 4 * write
    if m.banks[c * p.banks + bank].row != row:
        event += 1
        open_row(m, c, bank, row, clock)
    if m.bank_queues[q].hit == r:
        find_hit(m, q, m.requests[r].next, bank, row)
    remove(m, q, r, bank)
    m.counters[m.requests[r].op, event, 0] += 1
    m.counters[m.requests[r].op, event, 1] += n
    if write:
        m.channels[c].writes -= 1
    else:
        m.channels[c].reads -= 1
    m.requests[r].time = to_time(p, transfer(m, c, bank, write, n, clock)) + p.latency
    m.ready[c * p.banks + bank] = m.banks[c * p.banks + bank].precharge + p.rp
    m.requests[r].key = c
    m.requests[r].place = m.requests[r].sm
    schedule(m.to_l2, m.requests, r)


@loop
def advance_channel(m, c, end):
    """Advance one channel to the DRAM cycle `end`."""
    p = m.p[0]
    clock = m.channels[c].clock
    while clock < end:
        admit(m, c, clock)
        reads, writes = m.channels[c].reads, m.channels[c].writes
        if reads + writes == 0:
            r = m.queues[c].head
            if r < 0:
                break
            clock = max(clock, to_clock(p, m.requests[r].time))
            continue
        m.channels[c].draining = writes > p.write_low if m.channels[c].draining else writes >= p.write_high
        issue(m, c, 1 if m.channels[c].draining or reads == 0 else 0, clock)
        clock = max(clock + 1, m.channels[c].bus_free - p.ahead)
    m.channels[c].clock = clock


@loop
def log_request(m, line, mask):
    """Keep runs of consecutive requests to DRAM, spread evenly over the trial: when the log is full, every other run
    is dropped and twice as many requests lie between runs from then on."""
    if m.log_state[0].left == 0:
        begin_run(m)
    m.log_state[0].left -= 1
    if m.log_state[0].taking:
        m.log[m.log_state[0].entries] = line << 8 | mask
        m.log_state[0].entries += 1


@loop
def begin_run(m):
    """Take or skip the run of requests that begins now."""
    run = m.p[0].log_run
    m.log_state[0].left = run
    m.log_state[0].taking = m.log_state[0].skip == 0
    if m.log_state[0].skip:
        m.log_state[0].skip -= 1
        return
    if m.log_state[0].entries == len(m.log):
        half = len(m.log) // (2 * run) * run
        for k in range(half):
            m.log[k] = m.log[k + k // run * run]
        m.log_state[0].entries = half
        m.log_state[0].stride *= 2
    m.log_state[0].skip = m.log_state[0].stride - 1


@loop
def accept(m, start, end):
    """Hand what is due in [start, end) to the channels, and log it, in the order in which it comes."""
    for time in range(start, end):
        r = take_bucket(m.from_l2, time)
        while r >= 0:
            after = m.requests[r].next
            log_request(m, m.requests[r].line, np.int64(m.requests[r].mask))
            append(m.queues, m.requests[r].place, m.requests, r)
            r = after


@loop
def advance_channels(m, start, end):
    """Advance every channel over the SM cycles [start, end)."""
    accept(m, start, end)
    clock_end = to_clock(m.p[0], end)
    for c in range(len(m.channels)):
        advance_channel(m, c, clock_end)
