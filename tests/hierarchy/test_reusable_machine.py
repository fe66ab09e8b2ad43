"""A machine that is used again: a trial in it is the trial that a new one makes, byte for byte."""

from __future__ import annotations

from dataclasses import replace

import machines
import numpy as np
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st

from memsim.gpu.config import GPU
from memsim.gpu.presets import override
from memsim.hierarchy.machine import ReusableMachine
from memsim.hierarchy.mapping import layout
from memsim.hierarchy.system import System
from memsim.hierarchy.trial import Trial
from memsim.trace.transactions import Transactions


def trial(tx: Transactions, gpu: GPU, number: int, where=None, reusable: ReusableMachine | None = None) -> Trial:
    system = System(tx, gpu, 2, np.random.SeedSequence(number), where, reusable=reusable)
    done = system.run(grouping=np.random.default_rng(number))
    if reusable is not None:
        reusable.put(system.machine, tx, system.where)
    return done


def counted(done: Trial) -> dict[str, bytes]:
    return {name: np.asarray(value).tobytes() for name, value in vars(done).items() if not name.endswith("seconds")}


@drawn(60)
@given(st.data())
def test_trials_in_one_machine_equal_new_machines(data):
    gpu = data.draw(machines.machines())
    tx, reusable = data.draw(machines.traces(gpu)), ReusableMachine()
    where = layout(tx, gpu)
    for number in (1, 2, 1):
        assert counted(trial(tx, gpu, number, where, reusable)) == counted(trial(tx, gpu, number, where))


def test_machine_built_for_another_run_is_not_used():
    gpu, reusable, tx = machines.gpu(), ReusableMachine(), machines.one_warp(machines.instruction([(0, 1)]))
    where = layout(tx, gpu)
    system = System(tx, gpu, 2, np.random.SeedSequence(0), where)
    for other in (
        (replace(tx), gpu, where),
        (tx, override(gpu, {"sm.lookup_cycles": 2}), where),
        (tx, gpu, replace(where)),
    ):
        reusable.put(system.machine, tx, where)
        assert (
            System(*other[:2], 2, np.random.SeedSequence(0), other[2], reusable=reusable).machine is not system.machine
        )
    reusable.put(system.machine, tx, where)
    assert System(tx, gpu, 2, np.random.SeedSequence(0), where, reusable=reusable).machine is system.machine
    assert System(tx, gpu, 2, np.random.SeedSequence(0), where, reusable=reusable).machine is not system.machine
    reusable.put(system.machine, tx, where)
    reusable.drop()
    assert System(tx, gpu, 2, np.random.SeedSequence(0), where, reusable=reusable).machine is not system.machine
