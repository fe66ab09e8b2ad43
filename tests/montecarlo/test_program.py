"""Launches one after the other: what one leaves in L2 the next one finds, and nothing else."""

from __future__ import annotations

import re

import numpy as np
import pytest
from here import run_here
from scipy import stats

import memsim
from memsim import Launch, Thread, workload
from memsim.gpu.presets import load_gpu, override
from memsim.hierarchy.counters import CountUnit, Level
from memsim.hierarchy.execution import Execution
from memsim.montecarlo import shared_stages
from memsim.report.page.result import command
from memsim.support.errors import InputError
from memsim.why.gains import with_gains

GPU, BLOCK = "tesla-v100", 256
FITS = 1 << 14  # numbers of four bytes: of V100's 6 MB of L2
PAGES = 2000
N_CHUNKS = 48


def copied(t: Thread, a, b):
    b[t.global_id] = a[t.global_id]


@workload
def copy(n: int = FITS, back: bool = False, order: int = 0) -> Launch:
    """A copy of n numbers, or back from where that wrote; `order` is its place in the program."""
    arrays = dict(a=np.zeros(n, np.float32), b=np.zeros(n, np.float32))
    return Launch(back_again if back else copied, n // BLOCK, BLOCK, arrays, registers=16)


def back_again(t: Thread, a, b):
    a[t.global_id] = b[t.global_id]


def traced(tmp_path, name, **parameters):
    return memsim.trace(copy, gpu=GPU, blocks="all", out=tmp_path / f"{name}.h5", **parameters)


def moved(result, what, level="dram"):
    return result.counters[level]["sectors"][what]


def test_launch_finds_earlier_launchs_data_in_l2(tmp_path):
    trace = traced(tmp_path, "there")
    cold, warm = memsim.simulate_program([trace, trace], GPU, trials=2)
    separate = memsim.simulate(trace, GPU, trials=2)
    assert moved(cold, "reads") == moved(separate, "reads") > 0 == moved(warm, "reads")
    for what in ("reads", "writes"):  # L1s begin empty each time
        assert moved(warm, what, "l2") == moved(cold, what, "l2") == moved(separate, what, "l2")
    assert warm.kernel_time.mean < cold.kernel_time.mean


@pytest.mark.slow
def test_written_data_is_read_and_written_back_later(tmp_path):
    """What fits stays dirty in L2; a launch that needs all of L2 for itself has it written back."""
    there, back = traced(tmp_path, "there"), traced(tmp_path, "back", back=True)
    large = memsim.trace("saxpy", gpu=GPU, blocks="all", n=1 << 20, data_seed=2, out=tmp_path / "large.h5")
    of_there, of_back, of_large = memsim.simulate_program([there, back, large], GPU, trials=1)
    assert moved(of_there, "writes") == moved(of_back, "writes") == moved(of_back, "reads") == 0
    separate = memsim.simulate(large, GPU, trials=1)
    written = 2 * FITS * 4 // 32
    left = separate.trials.dirty_sectors.sum()
    assert moved(of_large, "writes") + of_large.trials.dirty_sectors.sum() == moved(separate, "writes") + left + written


@pytest.mark.slow
def test_trials_are_same_in_any_number_of_processes(tmp_path):
    traces = [traced(tmp_path, "there"), traced(tmp_path, "back", back=True)]
    one, two = (memsim.simulate_program(traces, "tesla-c2050", trials=3, jobs=jobs, seed=5) for jobs in (1, 2))
    for first, second in zip(one, two, strict=True):
        assert np.array_equal(first.trials.counters, second.trials.counters)
        assert np.array_equal(first.trials.cycles, second.trials.cycles)


@pytest.mark.slow
def test_a_folder_is_run_so_by_the_command(tmp_path):
    folder = tmp_path / "traces"
    folder.mkdir()
    traced(folder, "1", order=0)
    traced(folder, "0", back=True, order=1)
    run = ["run", str(folder), "--gpu", GPU, "--trials", "2"]
    cold, warm = (run_here(tmp_path, [*run, *more]) for more in ([], ["--warm"]))
    times = [float(re.search(r"launches take ([\d.]+)", one.stdout)[1]) for one in (cold, warm)]
    assert "back_again" in warm.stdout and times[1] < times[0]


def test_program_ends_when_its_total_time_is_known(tmp_path):
    traces = [traced(tmp_path, "there"), traced(tmp_path, "back", back=True)]
    every = memsim.simulate_program(traces, "tesla-c2050", trials=8, jobs=1)
    total = sum(one.kernel_time.values for one in every)

    def known(count):
        low, high = stats.t.interval(0.95, count - 1, total[:count].mean(), stats.sem(total[:count]))
        return high - low < 0.02 * total[:count].mean()

    expected = next((count for count in (3, 6) if known(count)), 8)
    found = memsim.simulate_program(traces, "tesla-c2050", jobs=1)
    for one, other in zip(found, every, strict=True):
        assert one.trials.cycles.tolist() == other.trials.cycles[:expected].tolist()


def test_lines_are_laid_out_once_for_all_launches(tmp_path, monkeypatch):
    trace, laid_out, before = traced(tmp_path, "there"), [], shared_stages.layout
    monkeypatch.setattr(shared_stages, "layout", lambda *given: laid_out.append(given) or before(*given))
    memsim.simulate_program([trace, trace, trace], GPU, trials=1)
    assert len(laid_out) == 1


def test_launch_result_names_earlier_launches_and_repeats_rest(tmp_path):
    traces = [traced(tmp_path, "there"), traced(tmp_path, "back", back=True)]
    results, separate = memsim.simulate_program(traces, GPU, trials=2), memsim.simulate(traces[1], GPU, trials=2)
    for number, result in enumerate(results):
        about = result.trials.about
        assert about["launches_before"] == [one.digest for one in traces[:number]] and not about["warm"]
        assert "memsim run" not in command(result) and f")[{number}]" in command(result)
    last = results[1].trials
    assert separate.trials.about.keys() - last.about.keys() == {"interrupted", "until"}
    for name in ("executed", "gpu_provenance"):
        assert last.about[name] == separate.trials.about[name]
    assert last.ops == separate.trials.ops and last.sources == separate.trials.sources
    with pytest.raises(InputError, match="launches before are part of this result"):
        with_gains(results[1], traces[1], [])


def test_trials_of_later_launch_are_not_continued(tmp_path):
    trace, path = traced(tmp_path, "there"), tmp_path / "r.h5"
    memsim.simulate_program([trace, trace], GPU, trials=2)[1].save(path)
    assert memsim.Result.load(path).trials.about["launches_before"] == [trace.digest]
    for warm in (False, True):
        with pytest.raises(InputError, match=r"(launches_before|warm) is .* there"):
            memsim.simulate(trace, GPU, trials=3, warm=warm, out=path, resume=True)


@pytest.mark.parametrize("name, value", [("trials", 0), ("trials", -1), ("seed", -1), ("jobs", 0)])
def test_numbers_out_of_range_are_refused(tmp_path, name, value):
    with pytest.raises(InputError, match=f"{name} is {value}; give"):
        memsim.simulate_program([traced(tmp_path, "there")], GPU, **{"trials": 1, name: value})


def test_traces_made_for_several_gpus_need_one_named(tmp_path):
    one = traced(tmp_path, "one")
    other = memsim.trace(copy, gpu="tesla-c2050", blocks="all", out=tmp_path / "other.h5")
    with pytest.raises(InputError, match=r"other.h5: gpu is tesla-c2050, but that of one.h5 is tesla-v100; name one"):
        memsim.simulate_program([one, other], trials=1)


def read_in_order(t: Thread, a):
    for k in range(PAGES):
        a[k * 1024 + t.global_id]


@workload
def a_line_a_page() -> Launch:
    """One warp that reads a line of each page of 4 KiB, one after the other."""
    return Launch(read_in_order, 1, 32, dict(a=np.zeros(PAGES * 1024, np.float32)), registers=16)


def test_pages_lie_where_the_first_launch_found_them(tmp_path):
    """In sets of one way the lines that share theirs push each other out, in each launch the same ones."""
    trace = memsim.trace(a_line_a_page, gpu=GPU, blocks="all", out=tmp_path / "t.h5")
    settings = {"l2.ways": 1, "stochastic.page_placement": True, "stochastic.page_bytes": 4096, "l1.enabled": False}
    first, *others = memsim.simulate_program([trace] * 4, GPU, trials=3, settings=settings)
    missed = [
        result.trials.counters[..., Level.dram, :, CountUnit.sectors].sum(axis=(1, 2)).tolist() for result in others
    ]
    assert missed[0] == missed[1] == missed[2] and min(missed[0]) > 0
    assert max(missed[0]) < moved(first, "reads") / 3


def twice(t: Thread, a, b):
    for _ in range(2):
        for k in range(N_CHUNKS):
            b[t.global_id] = a[k * BLOCK + t.global_id]


@workload
def reread(kilobytes: int = 0, order: int = 0) -> Launch:
    """One block loads 48 KB twice; its shared memory takes its kilobytes of L1."""
    arrays = dict(a=np.zeros(N_CHUNKS * BLOCK, np.float32), b=np.zeros(BLOCK, np.float32))
    return Launch(twice, 1, BLOCK, arrays, registers=16, shared_bytes=kilobytes << 10)


@pytest.mark.parametrize("placed", [False, True])
def test_each_launch_has_its_own_l1_sets(placed, tmp_path):
    """The sets of lines in a launch's L1 are its own, not those of the launch before it."""
    settings = {"l1.reserved_from": "sets", "stochastic.page_placement": placed}
    gpu = override(load_gpu("a100"), settings)
    traces = [
        memsim.trace(reread, gpu="a100", blocks="all", out=tmp_path / f"{k}.h5", kilobytes=k, order=k) for k in (0, 160)
    ]
    sets = [Execution.of(trace, gpu, tmp_path).gpu.l1.sets for trace in traces]
    assert sets[1] < sets[0]
    chained = memsim.simulate_program(traces, "a100", trials=1, settings=settings)
    for trace, result in zip(traces, chained, strict=True):
        separate = memsim.simulate(trace, "a100", trials=1, settings=settings)
        assert result.counters["l1"]["sectors"] == separate.counters["l1"]["sectors"]
