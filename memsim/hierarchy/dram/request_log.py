"""A sample of the requests to DRAM that one trial makes, for the main-memory step: runs of consecutive ones."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import inlined

LOG = np.dtype(
    [
        ("entries", "<i8"),
        ("stride", "<i8"),  # one run of so many is taken
        ("left", "<i8"),  # requests to come in the present run
        ("taking", "<i8"),  # whether it is taken
        ("skip", "<i8"),  # runs to skip before the next
    ]
)


def new_log() -> np.ndarray:
    """The state of an empty log."""
    state = np.zeros(1, LOG)
    state["stride"] = 1
    return state


@inlined
def log_request(m, line, mask):
    """Keep runs of consecutive requests to DRAM, spread evenly over the trial: when the log is full, every other run
    is dropped and twice as many requests lie between runs from then on."""
    if m.log_state[0].left == 0:
        begin_run(m)
    m.log_state[0].left -= 1
    if m.log_state[0].taking:
        m.log[m.log_state[0].entries] = line << 8 | mask
        m.log_state[0].entries += 1


@inlined
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
        for first in range(0, half, run):
            for k in range(first, first + run):
                m.log[k] = m.log[k + first]
        m.log_state[0].entries = half
        m.log_state[0].stride *= 2
    m.log_state[0].skip = m.log_state[0].stride - 1
