"""mbarriers of a block: warps that wait for what other warps' copies bring, and copies that wait for room."""

import machines
import numpy as np
import pytest
from machines import instruction
from trace_programs import chunk, shape

import memsim
from memsim.hierarchy.system import System
from memsim.support.errors import InputError
from memsim.trace.schema import NO_OP, NO_WAIT, Flag, Issue, KnownWaits
from memsim.trace.writer import TraceWriter

NONE = NO_WAIT, NO_WAIT, NO_WAIT
OWN = NO_WAIT, NO_WAIT, 0  # of its own copies


def cycles(*warps, **changes):
    """Of one block of warps."""
    gpu = machines.gpu(**{"sm__dependence": "scoreboard", **changes})
    return int(System(machines.trace([warps]), gpu, 1, np.random.SeedSequence(0)).run().cycles)


def copy(line, **more):
    return instruction([(line, 15)], sequence=False, waits=NONE, copy=True, bypass=True, **more)


def work(count, waits=NONE, **more):
    return instruction(compute_run=count, off_path=count, sequence=False, waits=waits, **more)


def awaits(phase):
    return instruction(sequence=False, waits=NONE, awaits=phase)


def arrives(phase):
    return instruction(sequence=False, waits=NONE, arrives=phase)


def test_warp_waits_for_another_warps_copy():
    own = cycles([copy(0), work(100, OWN)])
    assert own == cycles([copy(0)]) + 100
    assert cycles([copy(0, arrives=1)], [awaits(1), work(100)]) == own
    assert cycles([copy(0)], [work(100)]) < own - 50  # nothing said, nothing waited for


@pytest.mark.parametrize("later", [1, 17, 200])
def test_what_copy_takes_longer_block_takes_longer(later):
    """By the latency of DRAM, exactly: no part of the consumer's work lies before its data are there."""
    warps = [copy(0, arrives=1)], [awaits(1), work(100)]
    before = cycles(*warps, dram__latency_cycles=30)
    assert cycles(*warps, dram__latency_cycles=30 + later) == before + later


def test_the_last_one_that_arrives_counts():
    late = [work(5000), arrives(1)]
    alone = cycles([copy(0, arrives=1)], [awaits(1), work(100)])
    assert cycles([copy(0, arrives=1)], [awaits(1), work(100)], late) == 5000 + 100
    assert cycles([copy(0, arrives=1), copy(9, arrives=1)], [awaits(1), work(100)]) > alone


def test_what_is_over_is_not_waited_for():
    assert cycles([copy(0, arrives=1)], [work(5000), awaits(1), work(100)]) == 5100


def test_a_producer_waits_until_its_buffer_is_free():
    """With one buffer copies and work take turns; with two, the second copy arrives during the first one's work."""

    def pipeline(stages):
        n = 4  # phases 1 to n: full; n + 1 to 2 n: empty
        producer = []
        for k in range(n):
            producer += [awaits(n + 1 + k - stages)] if k >= stages else []
            producer.append(copy(8 * k, arrives=1 + k))
        consumer = [row for k in range(n) for row in (awaits(1 + k), work(300), arrives(n + 1 + k))]
        return cycles(producer, consumer)

    one = cycles([copy(0, arrives=1)], [awaits(1), work(300)])
    assert 4 * one - 60 <= pipeline(1) <= 4 * one + 60  # rows of DRAM that are open or closed
    assert pipeline(2) == pipeline(4) == one + 3 * 300


def test_of_two_copies_that_arrive_slower_one_counts():
    """Line 1 is in L2 when the copies are sent, line 900 is not: the newer copy answers first."""
    before = [copy(1), work(1, OWN), copy(900, arrives=1)]
    own = cycles([*before, copy(1, arrives=1), work(100, OWN)])
    assert cycles([*before, copy(1, arrives=1)], [awaits(1), work(100)]) == own
    newest_alone = [copy(1), work(1, OWN), copy(900), copy(1, arrives=1)]
    assert cycles(newest_alone, [awaits(1), work(100)]) < own


def test_machine_that_waits_by_sequence_knows_no_mbarriers():
    warps = [copy(0, arrives=1)], [awaits(1), work(100)]
    assert cycles(*warps, sm__dependence="sequence") < cycles(*warps)


def test_blocks_begin_at_their_beginning():
    """A block that began at a random phase would wait for copies of the part that comes last."""
    warps = [copy(0, arrives=1), copy(9)], [awaits(1), work(100)]
    assert cycles(*warps, stochastic__start_alignment=True) == cycles(*warps)


def test_warps_that_wait_for_ever_are_one_line():
    with pytest.raises(InputError, match="instructions/phase leaves warps waiting for mbarriers forever"):
        cycles([awaits(2), arrives(1)], [awaits(1), arrives(2)])


def test_the_line_names_the_traces_file(tmp_path):
    def row(flag, phase):
        return NO_OP, int(flag), 0, 1, 0, 0, 0, [], *NONE, 0, phase

    programs = [[row(Flag.awaits, 3 - own), row(Flag.arrives, own)] for own in (1, 2)]
    with TraceWriter(tmp_path / "stuck.h5", kernel="k", source="kernel.py", parameters={}) as writer:
        writer.append(np.arange(1), chunk(programs))
        writer.finish(shape(programs), [], [], Issue(KnownWaits.scoreboard))
    with pytest.raises(InputError, match=r"stuck\.h5: instructions/phase leaves warps waiting"):
        memsim.simulate(tmp_path / "stuck.h5", gpu=machines.gpu(sm__dependence="scoreboard"), trials=1)


def test_a_warm_replay_counts_arrivals_anew():
    gpu = machines.gpu(sm__dependence="scoreboard")
    tx = machines.trace([[[copy(0, arrives=1)], [awaits(1), work(100)]]])
    trial = System(tx, gpu, 1, np.random.SeedSequence(0)).run(warm=True)
    assert trial.cycles < cycles([copy(0, arrives=1)], [awaits(1), work(100)])  # L2 has the line
    assert trial.cycles > 100 + gpu.l2.hit_latency_cycles
