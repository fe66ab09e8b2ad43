"""The time of a launch from a part of it: by hand, and compared with twenty launches that also run whole."""

from __future__ import annotations

import numpy as np
import pytest
import synthetic
from places import ROOT

import memsim
from memsim.analysis.launch_time import deferred_writes
from memsim.analysis.profiler import metrics
from memsim.analysis.result import RunResult
from memsim.analysis.speed_of_light import speed_of_light
from memsim.gpu.presets import load_gpu
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.sources.ptx import DeviceMemory, PtxLaunch, trace_launch

WAVE, CYCLES = 84, 900_000
# A sector takes 2/3 of an SM cycle. The bus idles for 3 cycles before a drain of 20 writes, and for 9 after it.
TIMING = {"burst": 2, "cl": 6, "cwl": 2, "rtw": 9, "wtr": 3}
DRAM = {"timing": TIMING, "channels": 6, "clock_mhz": 575.0, "write_high": 30, "write_low": 10, "entry_sectors": 1}


STORES = """
import numpy as np
from memsim import Launch, workload

def kernel(t, out):
    out[t.global_id * 8] = 1.0

@workload
def stores(blocks: int = 5120) -> Launch:
    return Launch(kernel, grid=blocks, block=128, arguments=dict(out=np.zeros(blocks * 1024, np.float32)))
"""


def _trials(grid, traced, done, full_until=800_000, dirty=0):
    """Three equal trials of a part of a launch that reads nothing from DRAM."""
    trials = synthetic.spmv(3)
    trials.counters[:] = 0
    trials.cycles[:], trials.full_until[:], trials.dirty_sectors[:] = CYCLES, full_until, dirty
    trials.blocks_done[:] = done
    trials.about["trace"] |= {"grid": [grid, 1, 1], "blocks": traced, "wave_blocks": WAVE}
    trials.about["gpu"] |= {"dram": DRAM}
    trials.about["gpu"]["l2"] |= {"size_bytes": 786432, "line_bytes": 128, "ways": 16, "max_dirty_ways": None}
    return trials


def test_later_blocks_take_as_long_as_later_half():
    """168 blocks in the first half of 800,000 cycles and 80 in the later one: 5000 cycles each."""
    done = [0, 42, 84, 126, 168, 188, 208, 228, 248]
    found = RunResult(_trials(3360, 336, done)).launch_time
    assert found.cycles.mean == pytest.approx(CYCLES + (3360 - 336) * 5000)
    half_a_generation = 3024 * 5000 / (2 * 248 / WAVE)
    assert found.interval.low == pytest.approx(found.cycles.mean - half_a_generation)
    assert found.interval.high == pytest.approx(found.cycles.mean + half_a_generation)


def test_rates_that_vary_widen_the_interval():
    steady, varying = (
        RunResult(_trials(3360, 336, np.cumsum([0, *[42] * 4, *later]))).launch_time
        for later in ([20, 20, 20, 20], [10, 30, 10, 30])
    )
    assert steady.cycles.mean == varying.cycles.mean
    assert varying.interval.width > 1.5 * steady.interval.width


def test_differences_average_over_more_blocks():
    """Of four eighths with 20 blocks on average, the mean of m more has the variance of one times 1/4 + 1/m."""
    done = np.cumsum([0, *[42] * 4, 10, 30, 10, 30])
    half_a_generation = 5000 / (2 * 248 / WAVE)
    of_one = 3.182 * 5000 * np.std([10, 30, 10, 30], ddof=1) / 20
    for more in (84, 84 * 100):
        found = RunResult(_trials(336 + more, 336, done)).launch_time
        expected = np.hypot(of_one * np.sqrt(1 / 4 + 20 / more), half_a_generation)
        assert found.interval.high - found.cycles.mean == pytest.approx(more * expected, rel=1e-3)


def test_what_is_left_dirty_will_be_written():
    """Blocks of 10 cycles, each of which leaves 100 sectors dirty: their write-backs take 67 cycles of DRAM a block."""
    trials = _trials(33600, 168, np.arange(9) * 21.0, full_until=1680, dirty=168 * 100)
    trials.about["gpu"]["l2"]["slices"] = 600  # so that L2 is no limit
    trials.counters[:, 0, Level.l2, Event.write_miss, CountUnit.sectors] = 168 * 100
    stays = 786432 // 32  # sectors at the end: all of L2, into which nothing but stores came
    expected = CYCLES + (33600 * 100 - stays) * 2 / 3
    found = RunResult(trials).launch_time
    assert found.cycles.mean == pytest.approx(expected)
    assert found.interval.high > CYCLES + 2 * (33600 * 100 - stays) * 2 / 3  # rows of loads and stores may conflict
    trials.counters[:, 0, Level.l2, Event.write_miss, CountUnit.sectors] = (
        2 * stays
    )  # L2 was turned over: nothing deferred
    assert RunResult(trials).launch_time.cycles.mean == pytest.approx(CYCLES + (33600 - 168) * 10)


@pytest.mark.parametrize("reads", [40, 2])
def test_bus_turns_for_drains_between_reads(reads):
    """A block leaves 100 sectors dirty, which are written by 20 at a time as long as there is a read in between."""
    trials = _trials(33600, 168, np.arange(9) * 21.0, full_until=1680, dirty=168 * 100)
    trials.about["gpu"]["l2"]["slices"] = 600
    trials.counters[:, 0, Level.dram, Event.read_miss, CountUnit.sectors] = 168 * reads
    trials.counters[:, 0, Level.l2, Event.write_miss, CountUnit.sectors] = 168 * 100
    more, stays = 33600 - 168, 786432 // 32 * 100 / (100 + reads)  # as much of L2 as of what came into it
    written = (33600 * 100 - stays) / more  # per block
    turns = min(written / 20, reads) * 12 / 6 * 2  # a cycle of DRAM is two of an SM
    expected = CYCLES + more * ((reads + written) * 2 / 3 + turns)
    assert RunResult(trials).launch_time.cycles.mean == pytest.approx(expected)


def test_copies_of_other_partition_fill_l2():
    """Two thirds of L2 are read, half of that has copies, so it is full: each dirty sector more writes one back."""
    trials = _trials(1680, 168, np.arange(9) * 21.0, full_until=1680)
    capacity = 786432 // 32
    trials.counters[:, 0, Level.dram, Event.read_miss, CountUnit.sectors] = capacity * 2 / 3
    trials.dirty_sectors[:] = capacity / 4
    for partitions, filled in ((1, 2 / 3), (2, 1.0)):
        trials.about["gpu"]["l2"]["partitions"] = partitions
        stays = capacity / 4 / filled
        assert deferred_writes(trials) == pytest.approx(10 * capacity / 4 - stays)


def test_fully_replayed_launch_equals_its_replay():
    result = RunResult(_trials(336, 336, np.zeros(9), full_until=0))
    assert result.whole and result.launch_time.cycles.mean == CYCLES
    assert result.kernel_time.mean == pytest.approx(CYCLES / 1150 / 1000)


def test_the_launch_itself_is_counted_once():
    trials = _trials(3360, 336, np.arange(9) * 31.0)
    without = RunResult(trials)
    before = without.kernel_time.mean, without.kernel_time_interval
    trials.about["gpu"]["launch"] = {"idle_cycles": 2000, "active_cycles": 1150}
    result = RunResult(trials)
    assert result.kernel_time.mean == pytest.approx(before[0] + 3150 / 1150 / 1000)
    assert result.kernel_time_interval.low == pytest.approx(before[1].low + 3150 / 1150 / 1000)
    assert result.active_time.mean == pytest.approx(before[0] + 1 / 1000)


@pytest.mark.parametrize("traced", [21, 84, 168])
def test_part_that_never_fills_gpu_counts_in_waves(traced):
    result = RunResult(_trials(3360, traced, np.zeros(9), full_until=0))
    assert result.launch_time.cycles.mean == pytest.approx(CYCLES * 3360 / max(traced, WAVE))


def test_launch_lasts_until_l2_has_served_stores():
    """Blocks that take 10 cycles each, but store 600 sectors, of which one slice takes one per cycle."""
    trials = _trials(33600, 168, np.arange(9) * 21.0, full_until=1680)
    trials.counters[:, 0, Level.l2, Event.write_hit, CountUnit.sectors] = 168 * 600
    assert RunResult(trials).launch_time.cycles.mean == pytest.approx(CYCLES + (33600 - 168) * 100)
    short = _trials(33600, 84, np.zeros(9), full_until=0)  # it never fills the GPU
    short.cycles[:] = 500
    short.counters[:, 0, Level.l2, Event.write_hit, CountUnit.sectors] = 84 * 600
    assert RunResult(short).launch_time.cycles.mean == pytest.approx(33600 * 100)


def test_part_of_store_bound_launch_predicts_it(tmp_path):
    """Each lane stores 4 bytes of a sector of its own: L2 is the limit, and its queues are full when a part ends."""
    source = tmp_path / "stores.py"
    source.write_text(STORES)
    full, part = (
        memsim.simulate(memsim.trace(source, gpu="tesla-v100", blocks=blocks), "tesla-v100", trials=1, seed=1)
        for blocks in ("all", "0:640")
    )
    assert part.kernel_time.mean == pytest.approx(full.kernel_time.mean, rel=0.05)


SUMS = (
    """.version 7.0
.target sm_70
.address_size 64
.visible .entry sums(.param .u64 data)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .reg .f32 %f<2>;
    ld.param.u64 %rd1, [data];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    mov.f32 %f1, 0f3F800000;
"""
    + "    fma.rn.f32 %f1, %f1, %f1, %f1;\n" * 2000
    + "    st.global.f32 [%rd1], %f1;\n    ret;\n}\n"
)


def test_full_sms_share_issue_slots(tmp_path):
    """The launch has two waves of eight blocks for each SM, of which one alone keeps the FMA pipes busy."""
    gpu = load_gpu("tesla-v100")
    results = []
    for blocks in ("all", f"0:{gpu.sm.count}"):
        memory = DeviceMemory()
        address = memory.add(np.zeros(256, np.float32), "data")
        launch = PtxLaunch(SUMS, "sums", (16 * gpu.sm.count, 1, 1), (256, 1, 1), [address])
        trace = trace_launch(launch, memory, tmp_path / "t.h5", gpu, blocks=blocks)
        results.append(memsim.simulate(trace, gpu, trials=1, seed=1))
    full, part = results
    assert part.kernel_time.mean == pytest.approx(full.kernel_time.mean, rel=0.05)
    assert part.kernel_time.mean >= speed_of_light(part).milliseconds
    assert 2 * part.cycles.mean < full.cycles.mean / 7  # of two waves that last as long as a block alone


# Blocks after the part hit more often in the first, and wait for write-backs in the second.
@pytest.mark.parametrize(("workload", "blocks"), [("gather_scatter", "0:448"), ("lbm", "0:384")])
def test_the_interval_of_a_sparse_part_holds(workload, blocks):
    full, part = (
        memsim.simulate(memsim.trace(workload, gpu="tesla-v100", blocks=of), "tesla-v100", trials=1, seed=1)
        for of in ("all", blocks)
    )
    assert not part.trials.full_until.any()
    assert part.kernel_time_interval.low <= full.kernel_time.mean <= part.kernel_time_interval.high


# Whole launches that replay in seconds: of many waves, of a few, and of less than two.
LAUNCHES = [
    ("backprop", {}, "rtx3080"),
    ("conv2d", {}, "tesla-c2050"),
    ("fast_walsh", {}, "tesla-v100"),
    ("gather_scatter", {}, "tesla-v100"),
    ("histogram", {}, "tesla-c2050"),
    ("matrix_add", {}, "tesla-c2050"),
    ("matrix_add", {}, "tesla-v100"),
    ("reduction", {}, "tesla-c2050"),
    ("reduction", {}, "tesla-v100"),
    ("saxpy", {"n": 1 << 20}, "rtx3080"),
    ("saxpy", {"n": 1 << 20}, "tesla-c2050"),
    ("saxpy", {"n": 1 << 20}, "tesla-v100"),
    ("saxpy", {"n": 1 << 22}, "a100"),
    ("spmv", {"rows": 86016, "nnz_per_row": 16}, "tesla-c2050"),
    ("srad", {}, "tesla-c2050"),
    ("stencil", {}, "tesla-c2050"),
    ("texture_add", {}, "tesla-v100"),
    ("transpose", {"n": 1024}, "tesla-c2050"),
    ("transpose", {"n": 1024}, "tesla-v100"),
    ("transpose", {"n": 2048, "variant": "naive"}, "a100"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("workload", "parameters", "gpu"), LAUNCHES)
def test_the_interval_holds_the_whole_launch(workload, parameters, gpu):
    whole = memsim.trace(workload, gpu=gpu, blocks="all", **parameters)
    time = memsim.simulate(whole, gpu=gpu, trials=1, seed=1).kernel_time.mean
    parts = {}
    for blocks, off in (("1x", 1.0), ("2x", 0.4), ("4x", 0.2), (None, 0.2)):
        trace = memsim.trace(workload, gpu=gpu, blocks=blocks, **parameters)
        traced = len(trace.block_ids)
        if traced == len(whole.block_ids):
            continue  # itself
        if traced not in parts:
            parts[traced] = memsim.simulate(trace, gpu=gpu, trials=2, seed=1)
        its = parts[traced].kernel_time_interval
        assert its.low <= time <= its.high, (blocks, its, time)
        assert parts[traced].kernel_time.mean == pytest.approx(time, rel=off), blocks
    assert parts


def test_the_documentation_names_this_test():
    assert "tests/analysis/test_launch_time.py" in (ROOT / "docs" / "explanation" / "time.md").read_text()


PASSES = """
import numpy as np
from memsim import Launch, workload

def kernel(t, data, sums):
    i = t.global_id
    {body}

@workload
def passes(blocks: int = 6400) -> Launch:
    data = np.zeros(blocks * 128, np.float32)
    return Launch(kernel, grid=blocks, block=128, arguments=dict(data=data, sums=np.zeros(1 << 14, np.float32)))
"""


def _passes(body, blocks, folder):
    source = folder / "passes.py"
    source.write_text(PASSES.format(body=body))
    return memsim.simulate(memsim.trace(source, gpu="tesla-c2050", blocks=blocks), "tesla-c2050", trials=1, seed=1)


@pytest.mark.parametrize("body", ["data[i] = 1.0", "data[i] = data[i] + 1.0"])
def test_part_predicts_writes_to_memory(body, tmp_path):
    """Of a stream of stores, and of stores to what was loaded, which both fill L2 twice in the part."""
    full, part = (_passes(body, blocks, tmp_path) for blocks in ("all", "0:3200"))
    written, predicted = (metrics(result)["dram__sectors_write.sum"].values.mean for result in (full, part))
    assert predicted == pytest.approx(written, rel=0.01)


def test_words_that_stay_in_l2_are_not_deferred(tmp_path):
    part = _passes("sums[i % len(sums)] = data[i]", "0:3200", tmp_path)
    assert part.trials.dirty_sectors.all() and deferred_writes(part.trials) == 0
