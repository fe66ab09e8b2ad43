"""The slow version of a pair has the finding that its paper names, and the fast one has it no more."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
import synthetic
from here import run_here
from places import ROOT

import memsim
from experiments.cudamicrobench2021.inside import PAIRS
from memsim import Launch, Thread, workload
from memsim.analysis.result import RunResult
from memsim.analysis.time_breakdown import time_breakdown
from memsim.analysis.utilization import LOAD_STORE, bandwidth_used, utilization
from memsim.gpu.presets import load_gpu, override
from memsim.models.mwp_cwp import LimitingCase
from memsim.report.result_json import document
from memsim.report.why import why_text
from memsim.sources.describe import Constant
from memsim.support.errors import InputError
from memsim.why import Cause, explain, find_bottlenecks, regime
from memsim.why.bottlenecks import gpu_of
from memsim.why.lanes import find_bank_conflicts
from memsim.why.limiter import find_limiting_component
from memsim.why.regime import find_too_few_warps
from memsim.why.reuse import median_lines
from memsim.why.source_access import kernel_location, source_accesses
from memsim.why.trees import find_sums_of_few_elements
from memsim.why.work import ResultWork

# CUDAMicroBench's pair -> what the paper says is wrong with the slow version, a GPU, and a size that fills it.
EXPECTED = {
    "WarpDivRedux": (Cause.divergence, "tesla-v100", 1_024_000),
    "CoMem": (Cause.scattered, "tesla-v100", 1_024_000),
    "MemAlign": (Cause.misaligned, "tesla-v100", 1 << 18),
    "BankRedux": (Cause.conflicts, "tesla-v100", 102_400),
    "Shmem": (Cause.reuse, "tesla-v100", 192),
    "Shuffle": (Cause.exchange, "tesla-v100", 1 << 19),
    "GSOverlap": (Cause.copies, "rtx3080", 1 << 19),
    "ReadOnlyMem": (Cause.scattered, "tesla-k80", 512),
}
# The slow version does rows / 2 times the accesses of the fast one, by uniform lanes: no access is at fault, their
# number is. What its authors name, scattered lanes, is in both versions.
NOT_OF_MEMORY = {"CoMem_SpMM"}
# The fast version reads through textures and stores as before; a tree's last five steps are for a part of one warp.
STAYS = {"ReadOnlyMem": {Cause.scattered}, "BankRedux": {Cause.divergence}}
# What says that the GPU is not full, or what it is full of, and names no access that is wrong.
OF_NO_ACCESS = {
    Cause.few_warps, Cause.latency, Cause.shared_bound, Cause.issue_bound, Cause.dram_bound, Cause.l2_bound,
}  # fmt: skip
# Ruetsch and Micikevicius 2009: slow version, cause, fast version, GPU.
TRANSPOSES = [
    pytest.param("naive", Cause.scattered, "padded", "tesla-v100", marks=pytest.mark.slow),
    ("tiled", Cause.conflicts, "padded", "tesla-v100"),
    pytest.param("padded", Cause.channels, "diagonal", "tesla-c1060", marks=pytest.mark.slow),
]


def one_more(t: Thread, a):
    a[t.global_id] = a[t.global_id] + 1


@workload
def limited(threads: int = 32, registers: int = 16, shared: int = 0, n_blocks: int = 80 * 64) -> Launch:
    """Many blocks, of whose threads, registers or shared memory an SM holds so many."""
    arguments = dict(a=np.zeros(n_blocks * threads, np.float32))
    return Launch(one_more, n_blocks, threads, arguments, registers=registers, shared_bytes=shared)


def _result(name, gpu="tesla-v100", **parameters):
    trace = memsim.trace(name, gpu=gpu, blocks="all", **parameters)
    return memsim.simulate(trace, gpu=gpu, trials=1, seed=1)


def _causes(result):
    """Of accesses that are wrong, most in excess first."""
    return [one.cause for one in find_bottlenecks(result) if one.cause not in OF_NO_ACCESS]


def _of(result, cause):
    (found,) = (one for one in find_bottlenecks(result) if one.cause is cause)
    return found


def test_every_pair_says_what_is_to_be_found():
    assert PAIRS.keys() <= EXPECTED.keys() | NOT_OF_MEMORY


@pytest.mark.slow
@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair not in NOT_OF_MEMORY])
def test_inefficiency_is_named_and_gone_in_fast_version(pair):
    (cause, gpu, n), (name, common, slow, fast) = EXPECTED[pair], PAIRS[pair]
    result = _result(name, gpu, n=n, **common, **slow)
    assert _causes(result)[0] is cause
    first = _of(result, cause).findings[0]
    assert (
        first.location.startswith(f"{name}.py:")
        and first.array
        and 0 < first.bounded_share <= first.attributable_share <= 1
    )
    assert set(_causes(_result(name, gpu, n=n, **common, **fast))) == STAYS.get(pair, set())


@pytest.mark.parametrize(("slow", "cause", "fast", "gpu"), TRANSPOSES)
def test_each_step_of_transpose_puts_its_finding_right(slow, cause, fast, gpu):
    assert _causes(_result("transpose", gpu, n=1024, variant=slow))[0] is cause
    assert _causes(_result("transpose", gpu, n=1024, variant=fast)) == []


def test_storing_by_columns_crowds_channel_as_in_cumapz():
    def of(stored):
        trace = memsim.trace(
            "neighbours", gpu="tesla-c1060", blocks="1x", n=16384, fetched="0", layout="rows", stored=stored
        )
        return memsim.simulate(trace, gpu="tesla-c1060", trials=1, seed=1)

    by_columns = of("columns")
    (crowded,) = _of(by_columns, Cause.channels).findings
    assert _causes(by_columns)[:2] == [Cause.scattered, Cause.channels] and crowded.array == "out"
    assert "100 % go to one of 8 memory channels: 8.0 times its share" in crowded.evidence
    assert not {Cause.scattered, Cause.channels, Cause.evicted_l2} & set(_causes(of("rows")))


def test_reuse_beyond_cache_is_reported_with_its_distance():
    result = _result("spmv", "tesla-c2050", rows=1 << 13, nnz_per_row=32)
    (of_val,) = (one for one in _of(result, Cause.evicted_l1).findings if one.array == "val")
    assert "99 % of reuses have a stack distance above the 16 KB of L1" in of_val.evidence
    profile = next(op["profile"] for op in result.trials.ops if op["text"] == "val[j]")
    assert 0.98 * sum(profile["l1_distances"]) < profile["l1_far"] < profile["l1_uses"]
    assert median_lines(profile["l1_distances"]) * 128 >= 16 << 10


def same_flag(t: Thread, flags, stored):
    if stored:
        flags[t.global_id * 0] = 1
    else:
        flags[t.global_id * 0]


@pytest.mark.parametrize("stored", [True, False])
def test_repeated_stores_are_advised_to_be_one(stored):
    """Of all warps to one flag: nothing is read again that shared memory could keep."""

    @workload
    def flag() -> Launch:
        return Launch(same_flag, 2048, 256, dict(flags=np.zeros(1, np.uint8), stored=stored), registers=16)

    (finding,) = _of(_result(flag, "quadro-gv100"), Cause.reuse).findings
    assert ("one thread per block store it" in finding.advice) == stored
    assert ("shared memory" in finding.advice) != stored


def test_model_reports_launch_of_few_warps():
    result = _result("saxpy", n=4096)
    (only,) = _of(result, Cause.few_warps).findings
    assert only.text == "grid 16x1x1, block 256x1x1"
    assert only.evidence.startswith(
        "16 blocks for 80 SMs: 80 % of the SMs are idle; an SM holds 8 of 64 warps, limited by "
    )
    assert only.advice.startswith("launch more threads")
    assert only.bounded_share <= 1 - max(8 / 64, bandwidth_used(result))


def test_sms_without_block_are_reported_with_fitting_blocks():
    result = _result(limited, threads=1024, n_blocks=3)
    (only,) = _of(result, Cause.few_warps).findings
    assert only.evidence.startswith("3 blocks for 80 SMs: 96 % of the SMs are idle")
    assert only.attributable_share == pytest.approx(min(77 / 80, 1 - max(part.busy for part in utilization(result))))


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "limiter", "advice"),
    [
        (32, 16, 0, "blocks", "use larger blocks"),
        (256, 250, 0, "registers", "use fewer registers"),
        (256, 16, 48 << 10, "shared memory", "use less shared memory"),
        pytest.param(768, 16, 0, "warps", "choose a block size", marks=pytest.mark.slow),
    ],
)
def test_the_hint_follows_what_limits_the_warps(threads, registers, shared, limiter, advice):
    trace = memsim.trace(limited, gpu="tesla-v100", threads=threads, registers=registers, shared=shared)
    result = memsim.simulate(trace, gpu="tesla-v100", trials=1, seed=1)
    of = regime(result, gpu_of(result))
    (only,) = find_too_few_warps(
        replace(of, prediction=replace(of.prediction, case=LimitingCase.few_warps)), result, 0.0
    )
    assert f"limited by {limiter};" in only.evidence and only.advice.startswith(advice)


def test_warps_that_slow_model_are_not_advised(monkeypatch):
    monkeypatch.setattr(sys.modules[find_too_few_warps.__module__], "_gain_of_full_sms", lambda of: -0.11)
    result = memsim.simulate(memsim.trace(limited, gpu="tesla-v100", registers=250), gpu="tesla-v100", trials=1, seed=1)
    of = regime(result, gpu_of(result))
    (only,) = find_too_few_warps(
        replace(of, prediction=replace(of.prediction, case=LimitingCase.few_warps)), result, 0.0
    )
    assert only.evidence.endswith("predicts no less time with full SMs") and only.attributable_share == 0


@pytest.mark.parametrize(
    ("pipes", "cause", "advice"),
    [
        ("tensor", Cause.tensor_bound, "the tensor cores are the limit"),
        ("fp64", Cause.issue_bound, "compute in single precision"),
        ("alu", Cause.issue_bound, "compute indices outside of loops"),
    ],
)
def test_busy_pipes_are_reported_with_advice(pipes, cause, advice):
    result = _result("saxpy", n=4096)
    result.trials.about["executed"]["pipe_cycles"] = {pipes: 0.9 * 80 * result.cycles.mean}
    (only,) = find_limiting_component(result, [])
    assert only.cause is cause and "busy for 90 % of the time" in only.evidence and only.advice.startswith(advice)


def twice(t: Thread, a, b, half):
    i = t.global_id
    b[i] = a[i] + a[(i + half) % (2 * half)]


@workload
def passes(n: int = 1 << 21) -> Launch:
    """Every element is read twice, far apart."""
    arrays = {"a": np.zeros(n, np.float64), "b": np.zeros(n, np.float32), "half": n // 2}
    return Launch(twice, n // 256, 256, arrays)


def test_evicted_traffic_is_bound_by_dram():
    result = _result(passes, n=1 << 21)
    found = _of(result, Cause.dram_bound)
    one = found.findings[0]
    read = result.counters["dram"]["sectors"]["reads"] * 32
    assert read > 1.8 * 8 * (1 << 21) and "repeated traffic" in one.evidence  # twice the array
    assert one.advice.startswith("let blocks that share data") and one.array == "a"
    assert 0.3 < found.attributable_share <= found.upper_bound + 0.01
    assert found.upper_bound < 1 - time_breakdown(result).of_best + 0.01


@pytest.mark.slow
def test_regime_is_that_of_estimate_from_trace():
    for name, parameters in (("matmul", dict(n=64, variant="tiled")), ("transpose", dict(n=128, variant="naive"))):
        trace, gpu = memsim.trace(name, blocks="all", **parameters), memsim.load_gpu("geforce-gtx280")
        expected = memsim.estimate(trace, gpu)
        of = regime(result := memsim.simulate(trace, gpu, trials=1), gpu_of(result))
        assert (of.kernel, of.machine, of.prediction) == (expected.kernel, expected.machine, expected.prediction)


def test_text_and_json_say_the_same(tmp_path):
    result = _result("transpose", n=512, variant="tiled")
    one, *others = find_bottlenecks(result)
    (only,) = one.findings
    assert only.evidence == "32.0 passes per warp instruction; 1.0 would suffice"
    text = why_text(result)
    assert f"through_tile on tesla-v100: {1 + len(others)} finding" in text and "\n1. bank conflicts: " in text
    assert only.evidence in text and only.advice in " ".join(text.split())
    expected = document(result)["findings"][0]
    assert (
        expected.items()
        >= {"cause": one.cause, "place": only.location, "evidence": only.evidence, "gain": None}.items()
    )
    result.save(tmp_path / "r.h5")
    assert run_here(tmp_path, ["show", "r.h5", "--why", "--quick"]).stdout == text + "\n"


@pytest.fixture(scope="module")
def faultless(tmp_path_factory):
    """The result of a kernel of which nothing is found; its trace is gone."""
    trace = memsim.trace("saxpy", n=1 << 20, blocks="all", out=tmp_path_factory.mktemp("why") / "t.h5")
    result = memsim.simulate(trace, gpu="tesla-v100", trials=1, seed=1)
    trace.path.unlink()
    return result


def test_insignificance_is_stated_in_words(faultless):
    text = why_text(faultless)
    assert text.startswith("axpy on tesla-v100: no findings\nbound by DRAM")
    assert " ".join(text.split()).endswith("no access has an attributable share of 3 % of the memory time")


def by_lane(t: Thread, table, out):
    out[t.global_id] = table[t.lane_id]


@workload
def looked_up(n: int = 1 << 14) -> Launch:
    """A table in constant memory, read by each lane at its own place."""
    arguments = dict(table=Constant(np.zeros(32, np.float32)), out=np.zeros(n, np.float32))
    return Launch(by_lane, n // 256, 256, arguments, registers=16)


def test_constant_addresses_cost_time_of_own_unit():
    trace = memsim.trace(looked_up, gpu="tesla-v100", blocks="all")
    result = memsim.simulate(trace, gpu="tesla-v100", trials=2)
    gpu = load_gpu("tesla-v100")
    first = explain(result, trace).bottlenecks[0]
    warps = (1 << 14) // 32
    assert first.cause is Cause.conflicts and "32.0 distinct constant addresses" in first.findings[0].evidence
    lost = 31 * warps * gpu.sm.constant_cycles / (result.cycles.mean * gpu.sm.count)
    assert first.attributable_share == pytest.approx(min(1, lost))
    assert 0 < first.gain.share.mean <= first.upper_bound
    (access,) = (one for one in source_accesses(result, gpu) if one.own_unit)
    with pytest.raises(AssertionError):  # without such a unit there is no cost of its own, rather than none
        list(find_bank_conflicts(access, result, override(gpu, {"sm.constant_cycles": None})))


@pytest.mark.parametrize("gpu, own_unit", [("tesla-v100", True), ("tesla-c2050", False)])
def test_constants_use_load_store_unit_without_own_unit(gpu, own_unit):
    result = _result("svm", gpu, n=256, features=32, variant="constant")
    constants = [op["space"] == "constant" for op in result.trials.ops]
    cycles = ResultWork.of(result).cycles
    assert any(constants) and (cycles[constants] == 0).all() == own_unit
    units = result.cycles.mean * load_gpu(gpu).sm.count
    (busy,) = (part.busy for part in utilization(result) if part.name == LOAD_STORE)
    assert busy == pytest.approx(cycles.sum() / units)


def test_files_without_profiles_are_refused():
    with pytest.raises(InputError, match=r"ops\.profile is missing; run the trace again"):
        find_bottlenecks(RunResult(synthetic.spmv(2)))
    assert document(RunResult(synthetic.spmv(2)))["findings"] is None


@pytest.mark.parametrize(("file", "expected"), [("library/kernels.cuh", "kernels.cuh"), ("", "saxpy.py")])
def test_findings_without_access_are_in_kernels_file(faultless, file, expected):
    trials = replace(faultless.trials, ops=[op | {"file": file} for op in faultless.trials.ops])
    assert kernel_location(RunResult(trials)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "// axpy(\nvoid host() { axpy(1); }\ntemplate <class T>\n__global__ __launch_bounds__(256)\nvoid axpy(T *a) {}",
        "import triton\naxpy = None\n\n@jit\ndef axpy(a):\n    pass",
    ],
)
def test_kernels_location_is_its_definition(faultless, text):
    trials = replace(faultless.trials, ops=[op | {"file": "in/k.cu"} for op in faultless.trials.ops])
    trials.sources = {"in/k.cu": tuple(text.splitlines())}
    assert kernel_location(RunResult(trials)) == "k.cu:5"


def test_another_trace_is_refused_without_findings_too(faultless):
    other = memsim.trace("saxpy", n=1024, blocks="all")
    assert find_bottlenecks(faultless) == []
    with pytest.raises(InputError, match="digest is .*give the trace that was run"):
        explain(faultless, other)


def test_findings_that_need_trace_are_reported_as_omitted(faultless):
    quick, gone = explain(faultless, quick=True), explain(faultless)
    assert quick.bottlenecks == gone.bottlenecks == []
    unseen = "skipped: barriers of one warp, sums of few elements"
    assert quick.note == f"{unseen} (--quick does not read the trace)"
    assert gone.note.startswith("no speed-ups were estimated: the trace is no longer at ")
    assert gone.note.endswith(f"; give it with --trace; {unseen}")


def adds_up(t: Thread, x, sums, each, barriers, stored, step):
    """A block's tree in shared memory: of `each` loads per thread, stored by so many threads, `step` words apart."""
    part, mine = t.shared(128 * step, np.float32), t.var(0.0)
    for value in [x[t.global_id + k * len(sums) * 128] for k in range(each)]:
        mine += value
    part[t.thread_idx.x * step] = mine
    for number in range(barriers):
        t.sync()
        part[t.thread_idx.x * step] = part[t.thread_idx.x * step] + number
    with t.where(t.thread_idx.x < stored):
        sums[t.block_idx.x] = part[t.thread_idx.x * step]


@workload
def added_up(n_blocks: int = 300, each: int = 1, barriers: int = 3, stored: int = 1, step: int = 1) -> Launch:
    """On 8 SMs 128 blocks are a wave, of which there are to be two."""
    x, numbers = (
        np.zeros(n_blocks * 128 * each, np.float32),
        dict(each=each, barriers=barriers, stored=stored, step=step),
    )
    return Launch(adds_up, n_blocks, 128, dict(x=x, sums=np.zeros(n_blocks, np.float32), **numbers), registers=16)


def _added_up(**parameters):
    """The result of a kernel, and its trace."""
    gpu = override(load_gpu("tesla-v100"), {"sm.count": 8})
    trace = memsim.trace(added_up, gpu=gpu, blocks="all", **parameters)
    return memsim.simulate(trace, gpu=gpu, trials=1, seed=1), trace


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        (dict(), True),
        (dict(n_blocks=255), False),  # half as many would leave SMs idle
        (dict(stored=12), True),
        (dict(stored=13), False),  # more than a tenth of what is read
        (dict(barriers=1), False),  # no tree
        (dict(barriers=6, step=4), False),  # the load-store units have no room for what half the tree would win
    ],
)
def test_trees_of_few_elements_need_half_the_blocks(parameters, expected):
    found = find_sums_of_few_elements(*_added_up(**parameters))
    assert (found is not None) == expected
    assert found is None or 0 < found.attributable_share <= found.upper_bound


@pytest.mark.slow
def test_conflicts_of_tree_come_before_its_few_elements():
    result, trace = _added_up(step=2)
    assert find_sums_of_few_elements(result, trace) is not None
    causes = [one.cause for one in explain(result, trace).bottlenecks]
    assert Cause.conflicts in causes and Cause.trees not in causes
    assert Cause.trees in [one.cause for one in explain(*_added_up()).bottlenecks]


def counts_in_shared(t: Thread, data, out, bins, step):
    """Each lane adds to the bin of its datum, `step` words from the next one."""
    mine = t.shared(bins * step, np.int32)
    for k in range(8):
        mine.atomic_add(data[t.global_id + k * len(out)] * step, 1)
    t.sync()
    out[t.global_id] = mine[(t.thread_idx.x % bins) * step]


@workload
def counted_in_shared(bins: int = 32, step: int = 1, n_blocks: int = 160) -> Launch:
    """Atomics in shared memory: in one bin all lanes meet; bins 32 words apart lie in one bank."""
    data = np.arange(n_blocks * 256 * 8) % bins
    arguments = dict(data=data.astype(np.int32), out=np.zeros(n_blocks * 256, np.int32), bins=bins, step=step)
    return Launch(counts_in_shared, n_blocks, 256, arguments, registers=16)


@pytest.mark.parametrize(
    ("parameters", "cause"),
    [
        (dict(bins=1), Cause.contended),
        (dict(bins=1, step=33), Cause.contended),  # padded: the lanes still meet
        (dict(bins=32, step=32), Cause.conflicts),
        (dict(bins=32), None),
    ],
)
def test_shared_atomics_on_one_address_are_contention(parameters, cause):
    trace = memsim.trace(counted_in_shared, gpu="tesla-v100", blocks="all", **parameters)
    found = explain(memsim.simulate(trace, gpu="tesla-v100", trials=2, seed=1), trace).bottlenecks
    of_shared = [one for one in found if one.cause in (Cause.contended, Cause.conflicts)]
    assert [one.cause for one in of_shared] == ([cause] if cause else [])
    for one in of_shared:
        assert one.gain is not None and 0.1 < one.gain.share.mean <= one.upper_bound
        assert ("pad rows" in one.findings[0].advice) == (cause is Cause.conflicts)
        assert ("per warp" in one.findings[0].advice) == (cause is Cause.contended)


def test_every_cause_has_its_section():
    page = (ROOT / "docs" / "reference" / "findings.md").read_text()
    titles = {
        line.removeprefix("### ").lower().replace(" ", "-") for line in page.splitlines() if line.startswith("###")
    }
    assert {cause.section.split("#")[1] for cause in Cause} == titles
