"""A sample of a program's launches: alike ones form groups, and the sampled time is that of all launches."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

import memsim
from memsim.analysis.program import ProgramResult, is_program
from memsim.gpu.presets import load_gpu
from memsim.montecarlo.launch_sequence import LaunchSequence, LaunchSequences
from memsim.montecarlo.sampled_launches import groups_of, replay_order
from memsim.montecarlo.trials import arrays_of
from memsim.support.errors import InputError
from memsim.trace.equal_content import content_keys

GPU = "tesla-v100"
ROUNDS = 8


@pytest.fixture(scope="module", autouse=True)
def few_trials():
    """Three trials, however much they differ: these launches are short."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memsim.api.profile.MOST", 3)
        yield


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """Two kernels by turns: one streams, one gathers; and a last launch of another size."""
    folder = tmp_path_factory.mktemp("traces")
    stream = memsim.trace("saxpy", n=1 << 13, gpu=GPU, blocks="all", out=folder / "stream.h5")
    sparse = memsim.trace("spmv", rows=1024, nnz_per_row=6, gpu=GPU, blocks="all", out=folder / "sparse.h5")
    last = memsim.trace("saxpy", n=1 << 14, gpu=GPU, blocks="all", out=folder / "last.h5")
    return [*([stream, sparse] * ROUNDS), last]


@pytest.fixture(scope="module")
def profiled(traces):
    return memsim.profile_program(traces, GPU, quick=True, jobs=1, program="both")


def test_alike_launches_form_a_group(traces):
    positions = [group.positions for group in groups_of(traces)]
    assert positions == [list(range(0, 2 * ROUNDS, 2)), list(range(1, 2 * ROUNDS, 2)), [2 * ROUNDS]]


@pytest.mark.slow
def test_the_sampled_time_is_that_of_all_launches(traces, profiled):
    every = memsim.simulate_program(traces, GPU, trials=3, jobs=1)
    total = np.sum([one.kernel_time.values for one in every], axis=0).mean()
    assert profiled.time.mean == pytest.approx(total, rel=0.02)
    assert sum(group.launches for group in profiled.groups) == len(traces)
    assert all(group.best_possible < group.time.mean for group in profiled.groups)


@pytest.mark.slow
def test_repeated_launches_take_what_all_take(traces):
    rows = [traces[0]] * ROUNDS + [traces[1]] * ROUNDS + [traces[0]] * ROUNDS
    found = memsim.profile_program(rows, GPU, quick=True, jobs=1)
    every = memsim.simulate_program(rows, GPU, trials=3, jobs=1)
    assert found.time.mean == pytest.approx(sum(one.kernel_time.mean for one in every), rel=0.01)


def test_all_of_few_launches_are_replayed(traces):
    found = memsim.profile_program(traces[:4], GPU, quick=True, jobs=1)
    every = memsim.simulate_program(traces[:4], GPU, trials=3, jobs=1)
    each = np.sum([one.kernel_time.values for one in every], axis=0)
    assert found.time.values[:3] == pytest.approx(each, rel=1e-12)
    assert all(group.rest is not None and group.launches == 2 for group in found.groups)


def test_fewer_launches_are_replayed(traces, profiled):
    """Each trial has the first and one other launch of two groups, the last one, and what stands right before."""
    assert len(profiled.groups[0].first.trials.trial) == len(profiled.time.values) >= 3
    assert {group.launches for group in profiled.groups} == {ROUNDS, 1}


@pytest.mark.slow
def test_workers_do_not_change_the_sample(traces, profiled):
    again = memsim.profile_program(traces, GPU, quick=True, jobs=2)
    assert np.array_equal(again.time.values, profiled.time.values)


def test_a_file_gives_back_what_was_saved(tmp_path, profiled):
    path = tmp_path / "p.h5"
    profiled.save(path)
    loaded = ProgramResult.load(path)
    assert is_program(path) and not is_program(tmp_path / "none.h5")
    assert loaded.labels() == profiled.labels() and loaded.about == profiled.about
    assert np.array_equal(loaded.time.values, profiled.time.values)
    assert [one.best_possible for one in loaded.groups] == [one.best_possible for one in profiled.groups]


@pytest.mark.slow
def test_the_same_profile_again_replays_nothing(traces, profiled, tmp_path, monkeypatch):
    from memsim.montecarlo import launch_sequence
    from memsim.support import result_cache

    monkeypatch.setattr(result_cache, "cache_folder", lambda kind: tmp_path)
    monkeypatch.setenv(result_cache.VARIABLE, "10")
    memsim.profile_program(traces, GPU, quick=True, jobs=1)
    monkeypatch.setattr(launch_sequence, "in_processes", None)
    again = memsim.profile_program(traces, GPU, quick=True, jobs=1)
    assert np.array_equal(again.time.values, profiled.time.values)


@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_counts_launches_of_all_workers(traces, tmp_path, monkeypatch, jobs):
    shown = []

    @contextmanager
    def phase(name, unit, total):
        yield lambda done, every: shown.append((unit, done, every))

    monkeypatch.setattr("memsim.montecarlo.launch_sequence.phase", phase)
    sequences = [LaunchSequence(number, (0, 1, 2)) for number in (70, 71)]
    launches = LaunchSequences(traces[:3], load_gpu(GPU), range(3), 9, tmp_path, content_keys(traces[:3]))
    launches.replay(sequences, jobs)
    assert shown[-1] == ("launches", 6, 6)


def test_an_interrupt_keeps_the_finished_trials(traces):
    def stop(phase, done, every, note):
        if done == 2:
            raise KeyboardInterrupt

    found = memsim.profile_program(traces, GPU, quick=True, jobs=1, progress=stop)
    assert found.about["interrupted"] and len(found.time.values) == 2


def test_no_launches_are_refused():
    with pytest.raises(InputError, match="profile: traces are missing; give those of a program's launches"):
        memsim.profile_program([], GPU)


REPEATS = list("ab" + 5 * "a" + 5 * "b" + "ac")


@pytest.mark.parametrize(
    ("pairs", "order"),
    [
        ([(0, 5)], [0, 5]),  # a repeat of the first one
        ([(0, 5), (1, 9)], [0, 5, 1, 9]),
        ([(0, 6), (1, 7)], [0, 1, 5, 6, 7]),  # 7 is no repeat, and needs 6 right before it
        ([(0, 2), (1, 9)], [0, 1, 9, 2]),  # 2 comes after any launch of b
        ([(0, 12)], [0, 11, 12]),  # no launch of b is replayed anyway
        ([(13, 13)], [12, 13]),
    ],
)
def test_replayed_launches_follow_one_like_their_predecessor(pairs, order):
    assert replay_order(pairs, REPEATS) == order
    before = dict(zip(order[1:], order, strict=False))
    drawn = {position for pair in pairs for position in pair} - {0}
    assert all(REPEATS[before[position]] == REPEATS[position - 1] for position in drawn)


def test_equal_launches_share_one_execution(traces, tmp_path):
    contents = content_keys(traces)
    executions = LaunchSequences(traces, load_gpu(GPU), [0, 1, 2, 4], 0, tmp_path, contents)._executions
    assert executions[0] is executions[2] is executions[4] is not executions[1]


def twice(t: memsim.Thread, a, shift):
    a[(t.global_id + shift) % len(a)] *= 2


@memsim.workload
def at_place(order: int = 0, shift: int = 0, n: int = 1 << 10) -> memsim.Launch:
    """A launch that knows its place in the program."""
    return memsim.Launch(twice, n // 256, 256, {"a": np.zeros(n, np.float32), "shift": shift})


@pytest.fixture(scope="module")
def repeated(tmp_path_factory):
    """A launch, another one with other addresses, and the first again."""
    folder = tmp_path_factory.mktemp("repeated")
    return [
        memsim.trace(at_place, order=order, shift=shift, gpu=GPU, blocks="all", out=folder / f"{order}.h5")
        for order, shift in enumerate([0, 64, 0])
    ]


def test_content_is_equal_where_only_the_place_differs(repeated):
    first, other, again = repeated
    assert first.digest != again.digest and first.n_instructions == other.n_instructions
    keys = content_keys([*repeated, first])
    assert keys[0] == keys[2] == keys[3] != keys[1]


def test_demand_is_found_next_to_replays(repeated, monkeypatch):
    def found(jobs):
        return [one.trials for one in memsim.simulate_program(repeated, GPU, trials=2, jobs=jobs)]

    plain = found(1)
    monkeypatch.setattr(LaunchSequences, "_find_demand", None)  # what follows the replays
    for one, other in zip(plain, found(2), strict=True):
        assert one.ops == other.ops and all("profile" in op for op in one.ops)
        assert one.about["executed"] == other.about["executed"]
        assert np.array_equal(one.cycles, other.cycles)


def test_equal_launches_take_the_same_as_separate_ones(repeated, tmp_path):
    found = []
    for different, contents in ((2, content_keys(repeated)), (3, ["a", "b", "c"])):
        folder = tmp_path / str(different)
        folder.mkdir()
        sequences = LaunchSequences(repeated, load_gpu(GPU), range(3), 0, folder, contents)
        sequences.replay([LaunchSequence(0, (0, 1, 2))], 1)
        assert len({id(one) for one in sequences._executions.values()}) == different
        found.append([arrays_of(sequences.trials[0, position]) for position in range(3)])
    for shared, separate in zip(*found, strict=True):
        for name in set(shared) - {"wall_seconds", "compiled_seconds"}:
            assert np.array_equal(shared[name], separate[name]), name
