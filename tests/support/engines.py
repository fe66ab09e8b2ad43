"""One trial on both engines, and the comparison of everything that they count."""

from __future__ import annotations

import machines
import numpy as np

from memsim.gpu.components import COUNTERS
from memsim.gpu.config import GPU
from memsim.hierarchy.counters import CountUnit, Event, Level, latency_bin_edges
from memsim.hierarchy.dram.state import ACTIVATE, PRECHARGE, READ, REFRESH, WRITE
from memsim.hierarchy.system import System
from memsim.hierarchy.trial import Trial
from memsim.reference.dram import ACT, PRE, RD, REF, WR
from memsim.reference.model import ReferenceModel
from memsim.trace.transactions import Transactions

COMMANDS = {PRECHARGE: PRE, ACTIVATE: ACT, READ: RD, WRITE: WR, REFRESH: REF}


def reference(
    tx: Transactions, gpu: GPU, resident: int, seed: int, before: ReferenceModel | None = None
) -> ReferenceModel:
    """The trace, replayed by the reference model with the draws of a seed."""
    return ReferenceModel(tx, gpu, resident, *machines.drawn(tx, gpu, resident, seed), before=before).run()


def both(tx: Transactions, gpu: GPU, resident: int, seed: int) -> tuple[System, Trial, ReferenceModel]:
    """The trace, replayed by both engines with the same draws."""
    system = System(tx, gpu, resident, np.random.SeedSequence(seed), commands=1 << 14)
    return system, system.run(), reference(tx, gpu, system.resident, seed)


def assert_equal(system: System, trial: Trial, model: ReferenceModel) -> None:
    """Every count, latency, cycle and DRAM command is the same."""
    found = model.statistics
    counted = {
        (int(op), Level(level).name, Event(event).name, CountUnit(unit).name): int(
            trial.counters[op, level, event, unit]
        )
        for op, level, event, unit in np.argwhere(trial.counters)
    }
    expected = {key: number for key, number in found.counts.items() if number}
    differences = {key: (counted.get(key, 0), expected.get(key, 0)) for key in counted.keys() | expected.keys()}
    assert not {key: pair for key, pair in differences.items() if pair[0] != pair[1]}, "(compiled, reference)"
    assert trial.components.tolist() == [found.components[key] for key in COUNTERS]
    assert trial.cycles == model.cycles
    assert np.transpose([system.blocks.start, system.blocks.end]).tolist() == model.blocks.spans
    assert trial.dirty_sectors == sum(part.dirty_sectors for part in model.slices)
    for op in range(system.transactions.n_ops):
        one, whole = found.latencies[op], found.instruction_latencies[op]
        assert (trial.latency_sum[op], trial.latency_count[op]) == (sum(one), len(one))
        assert (trial.instruction_latency_sum[op], trial.instruction_latency_count[op]) == (sum(whole), len(whole))
        assert trial.latency_histogram[op].tolist() == np.histogram(one, latency_bin_edges())[0].tolist()
    assert trial.transactions == found.transactions
    channels = system.machine.channels
    logged = channels.commands[: channels.logged[0]]
    for channel in model.channels:
        mine = logged[logged["channel"] == channel.number]
        assert [(c, COMMANDS[n], b, r) for c, n, b, _, r in mine.tolist()] == channel.commands
