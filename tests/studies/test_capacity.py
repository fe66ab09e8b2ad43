"""Capacity curves of whole kernels: against replays of caches without sets, and working sets known beforehand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from budget import seeds
from typer.testing import CliRunner

import memsim
from memsim import Launch, Thread, workload
from memsim.cli import app
from memsim.gpu.presets import load_gpu, names, override
from memsim.profile.curve import held_bytes
from memsim.studies.capacity import FACTORS, sized

# One set each, so that the replay is a cache without sets.
NO_SETS = {
    "sm.count": 1, "l1.size_bytes": 4096, "l1.ways": 32, "l1.set_hash": "modulo", "l2.size_bytes": 65536,
    "l2.ways": 2048, "l2.slices": 1, "l2.line_bytes": 32, "l2.set_hash": "modulo", "l2.inclusion": "non_inclusive",
    "stochastic.start_alignment": False,
}  # fmt: skip


def _laps(t: Thread, a, out, laps, lines):
    total = 0.0
    for _lap in t.range(laps):
        for line in t.range(lines):
            total = total + a[t.lane_id + 32 * line]
    out[t.lane_id] = total


@workload
def laps(lines: int = 64, laps: int = 3) -> Launch:
    a = np.ones(32 * lines, np.float32)
    arguments = dict(a=a, out=np.zeros(32, np.float32), laps=laps, lines=lines)
    return Launch(_laps, grid=1, block=32, arguments=arguments)


def _scattered(t: Thread, a, where, out, n):
    total = 0.0
    for k in t.range(n):
        total = total + a[where[k * 32 + t.lane_id]]
    out[t.lane_id] = total


@workload
def scattered(n: int = 120, seed: int = 0) -> Launch:
    where = np.random.default_rng(seed).zipf(1.3, 32 * n) % 8192
    arguments = dict(a=np.ones(8192, np.float32), where=where.astype(np.int32), out=np.zeros(32, np.float32), n=n)
    return Launch(_scattered, grid=1, block=32, arguments=arguments)


def test_laps_over_an_array_need_its_bytes():
    trace = memsim.trace(laps, lines=64, laps=3)
    found = memsim.capacity(trace, "tesla-v100", trials=0)
    l1 = found.caches["l1"]
    assert l1.needed(0.5) == l1.needed(0.9) == 64 * 128
    assert l1.curve.max_hit_ratio == pytest.approx(2 / 3) and l1.hit_ratio(63 * 128) == 0
    behind = memsim.capacity(trace, "tesla-v100", trials=0, settings={"l1.size_bytes": 63 * 128, "l1.ways": 63,
                             "l1.carve_outs": [], "l1.reserved_bytes": 0}).caches["l2"]  # fmt: skip
    assert behind.needed(0.9) == 64 * behind.curve.line_bytes * (128 // behind.curve.line_bytes)
    assert behind.curve.max_hit_ratio == pytest.approx(2 / 3)
    assert not found.caches["l2"].curve.max_hit_ratio  # all that is reused stays in L1


@pytest.mark.parametrize("seed", seeds(4))
def test_curve_is_replay_of_cache_without_sets(seed):
    """One warp, from its start, has one order; apart are only ways that wait for data while others are used."""
    gpu = override(load_gpu("tesla-c2050"), NO_SETS)
    found = memsim.capacity(memsim.trace(scattered, seed=seed), gpu, trials=1)
    differences = [abs(one.hit.mean - one.curve) for cache in found.caches.values() for one in cache.replayed]
    assert len(differences) == 6 and max(differences) < 0.005 and min(differences) == 0
    assert len({round(one.curve, 4) for cache in found.caches.values() for one in cache.replayed}) > 4


def test_every_preset_has_caches_of_other_sizes():
    for name in names():
        gpu = override(load_gpu(name), {"l1.carve_outs": []})
        for cache in ("l1", "l2"):
            if held_bytes(gpu, cache):
                sizes = [held_bytes(one, cache) / held_bytes(gpu, cache) for one in sized(gpu, cache)]
                assert sizes == pytest.approx(FACTORS, rel=0.01), (name, cache)


def _call(*arguments):
    return CliRunner().invoke(app, ["capacity", *map(str, arguments)])


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("capacity") / "t.h5"
    memsim.trace("spmv", rows=2048, nnz_per_row=8, out=file)
    return file


@pytest.mark.slow
def test_the_command_prints_tables_json_csv_and_draws(path, tmp_path):
    done = _call(path, "--trials", 1, "-o", tmp_path / "c.png")
    assert done.exit_code == 0 and "L1 of an SM" in done.stdout and "difference" in done.stdout
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    document = json.loads(_call(path, "--trials", 1, "--json").stdout)
    l2 = document["caches"]["l2"]
    assert [one["bytes"] for one in l2["replayed"]] == [l2["bytes"] // 2, l2["bytes"], 2 * l2["bytes"]]
    ratios = [one["hit_ratio"] for one in l2["curve"]]
    assert ratios == sorted(ratios) and ratios[-1] == pytest.approx(l2["best"])
    rows = _call(path, "--trials", 0, "--csv").stdout.splitlines()
    assert rows[0] == "cache,bytes,hit_ratio"
    assert len(rows) == 1 + sum(len(cache["curve"]) for cache in document["caches"].values())


def test_impossible_requests_are_refused_in_line(path, tmp_path):
    for bad, words in (
        ([path, "--gpu", "geforce-gtx280"], "no cache"),
        ([path, "--json", "--csv"], "exclude each other"),
        ([path, "-o", path], "overwritten"),
        ([tmp_path / "none.h5"], "none.h5"),
    ):
        done = _call(*bad)
        assert done.exit_code == 2 and words in done.stderr and len(done.stderr.splitlines()) == 1
