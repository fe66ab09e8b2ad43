"""Fields of parameters that loops are compiled for."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config, njit

from memsim.gpu.presets import load_gpu, names, override
from memsim.hierarchy.dram.parameters import dram_parameters
from memsim.hierarchy.l2.parameters import l2_parameters
from memsim.jit.compile_entry import entry
from memsim.jit.compiled import compiled
from memsim.jit.specialization import fixed, is_fixed


def _both(p):
    return p[0].policy, p[0].ways


def shape(policy: int, ways: int) -> np.ndarray:
    return np.array([(policy, ways)], [("policy", "<i8"), ("ways", "<i8")])


@pytest.mark.skipif(config.DISABLE_JIT, reason="plain Python reads all from memory")
def test_loop_ignores_fields_it_was_specialized_for():
    loop, general = compiled()(_both), shape(3, 4)
    of_policy = fixed(general, ["policy"])
    read, read_all = entry(loop, of_policy), entry(loop, general)
    general["policy"], general["ways"] = 5, 8
    assert np.shares_memory(general, of_policy)
    assert read(of_policy) == (3, 8)
    assert read_all(general) == (5, 8)


@pytest.mark.skipif(config.DISABLE_JIT, reason="plain Python reads all from memory")
def test_title_that_user_gave_field_is_no_value():
    fixed(shape(3, 4), ["policy"])
    for title in ("my title", "ways=9"):
        own = np.array([(5, 4)], [((title, "policy"), "<i8"), ("ways", "<i8")])
        assert njit(_both)(own) == (5, 4)


def test_every_gpu_with_l2_shares_its_loops():
    kinds = {}
    for name in names():
        gpu = load_gpu(name)
        if gpu.l2.instances:
            continue  # for the reference model alone
        p = l2_parameters(gpu, True, 100)
        assert is_fixed(p) == gpu.l2.enabled, name
        kinds.setdefault(p.dtype, []).append(name)
    assert all(len(boards) > 1 for boards in kinds.values()) and len(kinds) == 3


def test_the_channels_of_all_boards_share_one_loop():
    assert len({dram_parameters(load_gpu(name)).dtype for name in names()}) == 1
    assert is_fixed(dram_parameters(load_gpu("h100")))
    assert not is_fixed(dram_parameters(override(load_gpu("h100"), {"dram.policy": "fcfs"})))
