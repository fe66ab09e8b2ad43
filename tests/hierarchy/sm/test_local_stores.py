"""Local memory that L1 writes back stays there until its block ends, or until L1 is full."""

from __future__ import annotations

from dataclasses import replace

import machines
import numpy as np
import pytest
from machines import instruction

from memsim.gpu.config import GPU
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.hierarchy.functional_walk import TO_DRAM, TO_L2, walk
from memsim.hierarchy.system import System
from memsim.trace.schema import OpKind
from memsim.trace.transactions import Transactions

LOCAL, GLOBAL = 1, 2  # op numbers
LINES = 16  # of L1


def gpu(policy: str | None) -> GPU:
    l1 = dict(l1__size_bytes=LINES * 128, l1__line_bytes=128, l1__ways=LINES, l1__sector_bytes=32)
    return machines.gpu(sm__count=1, l1__local_write_policy=policy, stochastic__start_alignment=False, **l1)


def spilling(blocks: int, lines: int) -> Transactions:
    """Each block stores lines of its own to local memory, loads them, and then stores one line of global memory."""

    def block(number: int) -> list[list[dict]]:
        own = [(number * lines + k, 15) for k in range(lines)]
        rows = [instruction([line], OpKind.store, LOCAL) for line in own] + [instruction([line]) for line in own]
        return [[*rows, instruction([(blocks * lines + number, 15)], OpKind.store, GLOBAL)]]

    made = machines.trace([block(number) for number in range(blocks)])
    return replace(made, local=(np.arange(made.n_ops) == LOCAL).astype("u1"))


def sectors(tx: Transactions, policy: str | None) -> dict[str, int]:
    """Sectors of a replay, of stores to L2 by space, and that reach DRAM or miss on loads."""
    counters = System(tx, gpu(policy), 1, np.random.SeedSequence(0)).run().counters[..., CountUnit.sectors]
    writes = counters[:, Level.l2, Event.write_hit : Event.write_merge + 1].sum(axis=-1)
    reads = counters[:, Level.l2, : Event.read_merge + 1].sum()
    return dict(local=int(writes[LOCAL]), other=int(writes.sum() - writes[LOCAL]), reads=int(reads))


def test_local_memory_smaller_than_l1_stays():
    tx = spilling(blocks=20, lines=LINES - 2)
    assert sectors(tx, "write_back") == dict(local=0, other=20 * 4, reads=0)
    through = sectors(tx, None)
    assert through["local"] == 20 * (LINES - 2) * 4 and through["other"] == 20 * 4


@pytest.mark.parametrize("surplus", [1, 5])
def test_surplus_of_local_memory_is_written_back(surplus):
    """LRU: each store beyond the capacity pushes a line out, and each load pushes out one that is needed later."""
    written = sectors(spilling(1, LINES + surplus), "write_back")["local"]
    assert written == (LINES + surplus) * 4  # each dirty line leaves once; loads bring it back clean


def test_walked_blocks_leave_as_much_to_l2():
    """One block at a time on one SM: functional warming and the replay carry accesses out in the same order."""
    for lines in (LINES - 2, LINES + 3):
        tx, machine = spilling(6, lines), gpu("write_back")
        replayed, walked = (System(tx, machine, 1, np.random.SeedSequence(0)) for _ in range(2))
        counted = replayed.run().counters.sum(axis=0)[..., CountUnit.sectors].sum(axis=-1)
        traffic = walk(walked.machine, 1, walked.first, walked.end)
        assert traffic[TO_L2] == counted[Level.l2] and traffic[TO_DRAM] == counted[Level.dram]
        assert not walked.machine.sms.cache.ways["dirty"].any() and not replayed.machine.sms.cache.ways["dirty"].any()
