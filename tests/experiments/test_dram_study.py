"""The channel compared with two independent simulators: what the study compares, at one load."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.dram.study import MEMORIES, idle_machine, latency, recorded


@pytest.mark.parametrize("name", ["gddr5", "hbm2", "hbm2-2000", "gddr6-14000", "hbm3-6400"])
def test_reads_wait_as_in_simulator_despite_writes(name):
    memory, published = MEMORIES[name], recorded()
    machine = idle_machine(memory)
    for kind, most in (("stream", 0.05), ("random", 0.05), ("random, a quarter writes", 0.1)):
        assert latency(machine, memory, kind, 0.5) == pytest.approx(published[name, kind, 0.5], rel=most), kind


def test_writes_in_turns_alone_differ_more():
    """What the mechanism is for: nothing else of the memory changes."""
    memory, published = MEMORIES["hbm3-6400"], recorded()["hbm3-6400", "random, a quarter writes", 0.5]
    memory = replace(memory, controller={**memory.controller, "write_turns": "alone"})
    assert latency(idle_machine(memory), memory, "random, a quarter writes", 0.5) > 1.4 * published
