"""What is uncertain in a preset: which numbers vary and how far, and effects that are known beforehand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import memsim
from memsim.cli import app
from memsim.gpu.fields_read import recording_reads
from memsim.gpu.presets import load_gpu, names, override, provenance
from memsim.gpu.uncertain_fields import factors
from memsim.studies.uncertain import sample, uncertain
from memsim.support.errors import InputError

FIXED = """
inherit = "tesla-c2050"
[dram]
latency_cycles = {{ value = 363, status = "fitted", source = "a test", uncertainty = {share} }}
"""


@pytest.mark.parametrize("name", names())
def test_uncertain_numbers_vary_to_gpus_that_can_be(name):
    gpu, known = load_gpu(name), provenance(name)
    found, left = factors(gpu, known, 0.2)
    assert found and not {factor.name for factor in found} & set(left)
    for factor in found:
        assert known[factor.name].status in ("fitted", "assumed")
        assert factor.low <= factor.value <= factor.high and factor.low < factor.high
        for end in (factor.low, factor.high):
            override(gpu, factor.settings(end))
            assert factor.steps or abs(end / factor.value - 1) <= 0.2 + 0.5 / factor.value
    together = list(sample(gpu, found, 16, seed=1))
    assert len({one.model_dump_json() for one in together}) == 16


def test_thresholds_move_with_their_queue_and_rest_stays():
    gpu = load_gpu("h100")
    found, left = factors(gpu, provenance("h100"), 0.2)
    queue = next(factor for factor in found if factor.name == "dram.write_queue")
    assert queue.settings(queue.high) == {"dram.write_queue": 115, "dram.write_high": 105, "dram.write_low": 29}
    names = {factor.name for factor in found}
    assert not names & {"dram.write_high", "dram.write_low", "l1.hit_latency_cycles", "sm.count"}
    assert "sm.lookup_cycles" in left  # 1 cycle: a fifth more is none


def test_stated_uncertainty_is_taken_and_bad_one_refused(tmp_path):
    path = tmp_path / "gpu.toml"
    path.write_text(FIXED.format(share=0.05))
    found, _ = factors(load_gpu(path), provenance(path), 0.2)
    latency = next(factor for factor in found if factor.name == "dram.latency_cycles")
    assert (latency.low, latency.high) == (345, 381)
    for bad in ("2", '"much"', "1.5", "-0.1"):
        path.write_text(FIXED.format(share=bad))
        with pytest.raises(InputError, match="dram.latency_cycles.uncertainty"):
            load_gpu(path)


@pytest.fixture(scope="module")
def chase(tmp_path_factory):
    """One load at a time, and nothing in the caches: the time is that of main memory."""
    file = tmp_path_factory.mktemp("uncertain") / "t.h5"
    memsim.trace("pointer_chase", out=file, bytes=1 << 17, laps=1)
    return file


@pytest.mark.slow
def test_a_walk_through_memory_is_main_memorys_latency(chase):
    """The time of dependent misses moves by the share of the latency that the uncertain part is of a miss."""
    settings = {"stochastic.start_alignment": False}  # one walk from its start, not two halves side by side
    found = memsim.uncertainty(chase, "tesla-v100", points=12, trials=1, settings=settings)
    gpu = load_gpu("tesla-v100")
    first = found.effects[0]
    assert first.factor.name == "dram.latency_cycles" and first.share > 0.9
    hops = memsim.simulate(chase, "tesla-v100", trials=1, settings=settings)
    misses = hops.counters["dram"]["transactions"]["reads"]
    expected = misses * (first.factor.high - gpu.dram.latency_cycles)
    assert first.high["cycles"] - found.base["cycles"].mean == pytest.approx(expected, rel=0.02)
    its = found.interval("cycles")
    assert its.low < found.base["cycles"].mean < its.high
    uniform = (first.high["cycles"] - first.low["cycles"]) / np.sqrt(12)
    assert found.points["cycles"].std(ddof=1) == pytest.approx(uniform, rel=0.3)


def test_what_is_given_is_not_varied(chase):
    settings = {"dram.latency_cycles": 161}
    found = memsim.uncertainty(chase, "tesla-v100", points=2, trials=1, effects=False, settings=settings)
    assert "dram.latency_cycles" not in {factor.name for factor in found.factors} and not found.effects


def _call(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.mark.slow
def test_the_commands_print_both_error_bars(chase, tmp_path):
    done = _call("sensitivity", chase, "--gpu", "tesla-v100", "--uncertain", "--points", 2, "--trials", 1,
                 "-o", tmp_path / "u.png")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "Measuring dram.latency_cycles would help most" in " ".join(done.stdout.split())
    assert (tmp_path / "u.png").read_bytes().startswith(b"\x89PNG")
    done = _call("run", chase, "--gpu", "tesla-v100", "--trials", 2, "--uncertain")
    assert done.exit_code == 0 and "error bars" in done.stdout and "static loads" in done.stdout
    document = json.loads(_call("run", chase, "--gpu", "tesla-v100", "--trials", 2, "--uncertain", "--json").stdout)
    assert document["uncertain"]["points"] == 24 and document["trials"] == 2
    low, high = document["uncertain"]["outputs"]["cycles"]["model_interval"]
    assert low < document["cycles"] < high


@pytest.mark.slow
def test_sources_are_printed_as_tables_and_json(tmp_path):
    trace = tmp_path / "t.h5"
    memsim.trace("spmv", rows=1024, nnz_per_row=8, gpu="tesla-c2050", out=trace)
    done = _call("sensitivity", trace, "--points", 4, "-o", tmp_path / "s.png")
    assert done.exit_code == 0 and "start_alignment" in done.stdout and "24 replays" in done.stdout
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")
    document = json.loads(_call("sensitivity", trace, "--points", 4, "--json").stdout)
    assert {one["name"] for one in document["outputs"]["cycles"]["inputs"]} == set(document["sources"])


def test_what_cannot_be_varied_is_refused_in_line(chase, tmp_path):
    (tmp_path / "no.h5").write_text("no")
    for bad, words in (
        ([chase, "--points", 12], "power of two"),
        ([tmp_path / "no.h5"], "no.h5"),
        ([tmp_path / "none.h5"], "none.h5"),
        ([chase, "-o", chase], "overwritten"),
        ([chase, "--gpu", "h10"], "h10"),
    ):
        done = _call("sensitivity", *bad)
        assert done.exit_code == 2 and words in done.stderr and len(done.stderr.splitlines()) == 1
    with pytest.raises(InputError, match="nothing to vary"):
        uncertain(memsim.open_trace(chase), load_gpu("h100"), {})


@pytest.mark.slow
def test_gpus_that_coalesce_alike_share_the_transactions(chase, monkeypatch):
    from memsim.montecarlo import shared_stages

    counted = []
    original = shared_stages.coalesce
    monkeypatch.setattr(shared_stages, "coalesce", lambda *args: counted.append(args) or original(*args))
    found = memsim.uncertainty(chase, "tesla-v100", points=4, trials=1)
    read = {}
    original(memsim.open_trace(chase), recording_reads(load_gpu("tesla-v100"), read))
    varied = [one for one in found.factors if set(one.fields) & read.keys()]
    others = {(one.name, end) for one in varied for end in (one.low, one.high) if end not in one.fields.values()}
    assert len(found.effects) > 5 and len(counted) == 1 + len(others)
