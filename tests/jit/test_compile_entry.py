"""What Numba's types of a machine's arrays are, found without working out each anew."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from memsim.gpu.presets import load_gpu
from memsim.hierarchy.system import System
from memsim.jit import compile_entry as entry
from memsim.montecarlo.load_loops import one_load


def _levels(gpu):
    machine = System(one_load(), load_gpu(gpu), 1, np.random.SeedSequence(0)).machine
    return machine.sms, machine.slices, machine.channels


@pytest.mark.parametrize("gpu", ["tesla-c2050", "tesla-v100", "h100"])
def test_types_are_those_of_numba(gpu):
    levels = _levels(gpu)
    assert entry._types((*levels, 3, 2.5, np.zeros((2, 2), np.float32).T, ())) == tuple(
        numba.typeof(one) for one in (*levels, 3, 2.5, np.zeros((2, 2), np.float32).T, ())
    )


def test_a_second_machine_s_types_are_known(monkeypatch):
    """A sweep makes a machine per point: typing its arrays anew took longer than a small replay."""
    entry._types(_levels("tesla-v100"))
    asked = []
    monkeypatch.setattr(numba, "typeof", lambda value: asked.append(type(value)))
    entry._types(_levels("tesla-v100"))
    assert np.ndarray not in asked


def test_machines_whose_fixed_values_differ_have_other_types():
    """Titles of a record's fields carry values, which are compiled into the loops."""
    first, second = (np.zeros(1, np.dtype([((f"ways={ways}", "ways"), "<i8")])) for ways in (4, 8))
    assert entry._types((first,)) != entry._types((second,))
