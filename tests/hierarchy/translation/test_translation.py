"""Address translation: times that can be worked out by hand, and laws of what is counted."""

from __future__ import annotations

import machines
import numpy as np
import pytest
from budget import drawn
from hypothesis import assume, given
from hypothesis import strategies as st
from machines import instruction

from memsim.gpu.components import counts_of
from memsim.gpu.presets import override
from memsim.gpu.translation import TRANSLATION
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.hierarchy.mapping import layout
from memsim.hierarchy.system import System, Trial
from memsim.support.errors import InputError
from memsim.trace.transactions import Transactions

LINES = 4096 // 128  # of a page


def translated(**changes):
    """The machine of tests/support/machines.py with TLBs of two pages of 4 KB, and a shared one of four."""
    own = dict(enabled=True, page_bytes=4096, sm_entries=2, sm_ways=2, sm_misses=2, shared_entries=4, shared_ways=4,
               shared_page_bytes=4096, shared_latency_cycles=9, starts_warm=True, walkers=1, walk_levels=3)  # fmt: skip
    gpu = machines.gpu(l2__size_bytes=65536, l2__ways=16)
    return override(gpu, {f"translation.{name}": value for name, value in (own | changes).items()})


def replayed(tx: Transactions, gpu, warm: bool = False) -> Trial:
    return System(tx, gpu, 1, np.random.SeedSequence(0)).run(warm)


def cycles_of_pages(gpu, *pages: int) -> list[int]:
    """Latency of loads of the first line of each page, one after the other, where L2 holds all lines already."""
    flow = [instruction([(page * LINES, 1)], op=0, bypass=True) for page in pages]
    once = [instruction([(page * LINES, 1)], op=1, bypass=True) for page in sorted(set(pages))]
    plain = override(gpu, {"translation.enabled": False})
    found = []
    for k in range(1, len(flow) + 1):
        tx = machines.one_warp(*once, *flow[:k], addresses=range(3 * LINES))
        found.append([int(replayed(tx, one).latency_sum[0]) for one in (gpu, plain)])
    sums = np.array(found)
    return np.diff(sums[:, 0] - sums[:, 1], prepend=0).tolist()


def test_hit_in_shared_tlb_costs_only_its_latency():
    gpu = translated()
    assert cycles_of_pages(gpu, 0, 1, 1, 0) == [0, 0, 0, 0]  # two pages, looked up before, fit
    assert cycles_of_pages(gpu, 0, 1, 2, 2, 0) == [9, 9, 9, 0, 9]  # the oldest of three has gone


def test_walk_loads_each_level_from_l2_in_turn():
    """Neighbouring pages' entries lie in one sector of each table, which L2 holds after the first walk."""
    gpu = translated(shared_entries=1, shared_ways=1, starts_warm=False)
    load = gpu.l2.hit_latency_cycles - 1  # from L2 to the walker there is no link of the SM's
    assert cycles_of_pages(gpu, 0, 1, 2) == [9 + 3 * load] * 3
    one_load = [instruction([(page * LINES, 1)], sequence=False, bypass=True) for page in (0, 1)]
    tx = machines.one_warp(*one_load, addresses=range(3 * LINES))
    alone, both = (replayed(tx, override(gpu, {"translation.walkers": n})).cycles for n in (2, 1))
    assert both - alone > load


def test_pages_of_one_shared_entry_share_walk():
    gpu = translated(shared_page_bytes=16384, starts_warm=False)
    flow = [instruction([(page * LINES, 1)], sequence=False, bypass=True) for page in (0, 0, 1)]
    trial = replayed(machines.one_warp(*flow, addresses=range(3 * LINES)), gpu)
    assert counts_of(TRANSLATION, trial.components) == dict(
        sm_hit=0, sm_miss=2, sm_merge=1, shared_hit=0, shared_miss=1, shared_merge=1
    )


@drawn(40)
@given(st.data())
def test_l2_gets_only_translated_requests_and_walk_loads(data):
    gpu = data.draw(machines.machines())
    assume(gpu.translation.enabled)
    tx = data.draw(machines.traces(gpu))
    trial = replayed(tx, gpu)
    found = counts_of(TRANSLATION, trial.components)
    sent = trial.counters[: tx.n_ops, Level.l2, :, CountUnit.transactions].sum()
    assert found["sm_hit"] + found["sm_miss"] + found["sm_merge"] == sent
    assert found["shared_hit"] + found["shared_miss"] + found["shared_merge"] == found["sm_miss"]
    loads = trial.counters[tx.n_ops, Level.l2, :, CountUnit.transactions]
    assert loads[: Event.write_hit].sum() == found["shared_miss"] * gpu.translation.walk_levels
    assert loads[Event.write_hit :].sum() == 0


def test_tables_follow_trace_and_far_pages_share_root():
    gpu = translated(walk_levels=2)
    tx = machines.one_warp(instruction([(0, 1)]), instruction([(1, 1)]), addresses=[0, 600 * LINES])
    where = layout(tx, gpu)
    assert where.page_of.tolist() == [0, 1] and where.pages.tolist() == [0, 600]
    assert len(where.mapping) == 2 + 3  # a line of the root's, two of the tables below
    assert len(layout(tx, override(gpu, {"translation.enabled": False})).mapping) == 2


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("page_bytes", 5000),
        ("shared_page_bytes", 5000),
        ("shared_page_bytes", 4096),
        ("sm_ways", 5),
        ("shared_ways", 3),
    ],
)
def test_tlbs_that_cannot_be_are_named(field, value):
    with pytest.raises(InputError, match=f"translation.{field.split('_')[0]}"):
        override(translated(page_bytes=8192, shared_page_bytes=8192), {f"translation.{field}": value})
