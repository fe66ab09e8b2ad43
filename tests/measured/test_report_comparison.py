"""A result compared with what the profiler counted: the figures by name, and the differences by hand."""

from __future__ import annotations

import json
import re
from functools import reduce
from itertools import cycle, product

import ncu_files
import numpy as np
import pytest
import synthetic
from places import ROOT
from typer.testing import CliRunner

import memsim
from memsim.analysis.profiler import metrics
from memsim.analysis.result import RunResult
from memsim.cli import app
from memsim.hierarchy.counters import CountUnit, Event, Level
from memsim.montecarlo import store

LOADS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"


def _result(grid=336):
    """Loads of 100 sectors: 50 hits, 10 merges, 4 sector misses; stores of 40, 30 of them to a line that is there."""
    trials = synthetic.spmv(2)
    trials.counters[:] = 0
    load, store_ = trials.counters[:, 0], trials.counters[:, 5]
    for event, sectors in (("read_hit", 50), ("read_merge", 10), ("read_sector_miss", 4), ("read_miss", 36)):
        load[:, Level.l1, Event[event], CountUnit.sectors] = sectors
    for event, sectors in (("write_hit", 20), ("write_sector_miss", 10), ("write_miss", 10)):
        store_[:, Level.l1, Event[event], CountUnit.sectors] = sectors
    load[:, Level.l2, [Event.read_hit, Event.read_miss], CountUnit.sectors] = 30, 10
    store_[:, Level.l2, Event.write_miss, CountUnit.sectors] = 40
    load[:, Level.dram, [Event.read_hit, Event.read_miss], CountUnit.sectors] = 6, 4
    trials.about["trace"] |= {"grid": [grid, 1, 1], "blocks": 336}
    return RunResult(trials)


def test_the_figures_by_hand():
    found = {name: metric.values.mean for name, metric in metrics(_result()).items()}
    assert found["l1tex__t_sector_hit_rate.pct"] == pytest.approx(100 * (60 + 30) / 140)
    assert found[LOADS] == 100 and found[LOADS.replace(".sum", "_lookup_hit.sum")] == 60
    assert found["l1tex__t_sectors_pipe_lsu_mem_global_op_st_lookup_miss.sum"] == 10
    assert found["lts__t_sector_hit_rate.pct"] == pytest.approx(100 * (30 + 40) / 80)
    assert found["lts__t_sector_op_write_hit_rate.pct"] == 100
    assert (found["dram__sectors_read.sum"], found["dram__bytes_read.sum"]) == (10, 320)
    assert "smsp__inst_executed.sum" not in found  # this file does not show


def test_counts_are_of_the_whole_launch():
    part, full = metrics(_result(3360)), metrics(_result())
    assert part[LOADS].values.mean == 10 * full[LOADS].values.mean
    rate = "l1tex__t_sector_hit_rate.pct"
    assert np.array_equal(part[rate].values.values, full[rate].values.values)


def test_a_simulated_kernel_counts_what_its_source_says():
    """Of matrices of 256 x 256 floats: every warp instruction a request, 4 sectors of a row, 32 of a column."""
    trace = memsim.trace("transpose", n=256, variant="naive", blocks="all")
    found = metrics(memsim.simulate(trace, "tesla-v100", trials=1))
    warps = 256 * 256 / 32
    for name, count in (("ld", (1, 4)), ("st", (1, 32))):
        of = f"pipe_lsu_mem_global_op_{name}.sum"
        counted = [found[f"l1tex__t_{unit}_{of}"].values.mean / warps for unit in ("requests", "sectors")]
        assert counted == list(count)


def _saved(tmp_path, result):
    store.save(path := tmp_path / "r.h5", result.trials)
    return str(path)


def _run(*arguments):
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def result_file(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "broken_law", lambda *_: None)  # counters made by hand leave some levels out
    return _saved(tmp_path, _result())


def _launch(grid=(336, 1, 1)):
    measured = {LOADS: ("sector", "80"), "l1tex__t_sector_hit_rate.pct": ("%", "60")}
    return "void spmv<float>(float *)", grid, (256, 1, 1), measured | {"gpu__time_duration.sum": ("usecond", "500")}


def test_the_commands(tmp_path, result_file):
    (report := tmp_path / "ncu.csv").write_text(ncu_files.long_csv([_launch((7, 1, 1)), _launch()]))
    shown = _run("show", result_file, "--ncu")
    assert shown.exit_code == 0 and "l1tex__t_sector_hit_rate.pct" in shown.output and "64.29" in shown.output
    text = _run("compare", result_file, "--ncu", str(report)).output
    assert "+4.29 points" in text and "+25.0 %" in text
    assert "the profiled launch has a grid of 7x1x1, the simulated one of 336x1x1" in text
    done = _run("compare", result_file, "--ncu", str(report), "--launch", "1", "--json")
    found = json.loads(done.output)
    assert found["metrics"][LOADS]["difference"] == pytest.approx(0.25) and found["cautions"] == []
    assert found["metrics"]["gpu__time_duration.sum"]["measured"] == 500_000


def test_the_convention_shows_the_profilers_figures(result_file):
    text = _run("show", result_file, "--convention", "profiler").output
    assert "as the profiler counts it" in text and "64.29" in text and "87.50" in text
    found = json.loads(_run("show", result_file, "--convention", "profiler", "--json").output)
    assert found["profiler"]["lts__t_sector_hit_rate.pct"]["mean"] == 87.5
    assert json.loads(_run("show", result_file, "--json").output)["profiler"] is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--launch", "1"], "give the report with --ncu"),
        (["--ncu", "absent.csv"], "cannot be read"),
        (["--ncu", "REPORT", "--kernel", "nothing"], "one of: spmv"),
        (["--ncu", "REPORT", "--fail-if-slower", "5%"], "--fail-if-slower"),
        (["--ncu", "OTHER"], "include none that memsim predicts"),
    ],
)
def test_bad_input_is_one_line(tmp_path, result_file, arguments, says):
    (report := tmp_path / "ncu.csv").write_text(ncu_files.wide_csv([_launch()]))
    other = _launch()[:3] + ({"sm__pipe_fma_cycles_active.sum": ("cycle", "3")},)
    (unknown := tmp_path / "other.csv").write_text(ncu_files.wide_csv([other]))
    paths = {"REPORT": str(report), "OTHER": str(unknown)}
    done = _run("compare", result_file, *(paths.get(one, one) for one in arguments))
    assert done.exit_code == 2 and says in done.output and done.output.count("\n") == 1


PLACEHOLDERS = {
    "SPACE": ("global", "local"),
    "OP": ("ld", "st", "atom", "red"),
    "SRC_": ("", "srcunit_tex_"),
    "ACCESS": ("read", "write"),
    "LOOKUP": ("hit", "miss"),
}


def _documented():
    """Every name of the manual's table, its placeholders filled in, with its unit."""
    table = (ROOT / "docs" / "how_to" / "profiler.md").read_text().split("## Metrics")[1]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("| `")]
    for names, units, *_ in rows:
        patterns = re.findall(r"`([^`]+)`", names)
        for pattern, unit in zip(patterns, cycle(units.split(", "))):  # a unit for all, or one per name
            words = [word for word in PLACEHOLDERS if word in pattern]
            for chosen in product(*(PLACEHOLDERS[word] for word in words)):
                yield reduce(lambda name, of: name.replace(*of), zip(words, chosen, strict=True), pattern), unit


def _with_everything():
    """A result of a kernel that accesses every space in every way, and whose trace tells its instructions."""
    trials = synthetic.spmv(2)
    kinds = [(space, kind) for space in ("global", "local") for kind in ("load", "store", "atomic", "reduction")]
    kinds += [("shared", "load"), ("shared", "store")]
    profile = {"instructions": 10, "sectors": 40, "passes": 20, "least_passes": 10}
    shapes = {"counters": len(kinds) + 1, "latency_histogram": len(kinds)}
    for name, rows in shapes.items():
        values = getattr(trials, name)
        setattr(trials, name, np.zeros((values.shape[0], rows, *values.shape[2:]), values.dtype))
    trials.ops = [trials.ops[0] | {"space": space, "kind": kind, "profile": profile} for space, kind in kinds]
    trials.about["executed"] = {"compute_instructions": 100, "barriers": 0, "masked": 0}
    return RunResult(trials)


def test_the_manual_has_every_metric_with_its_unit():
    documented = list(_documented())
    assert len(documented) == len(set(documented)) > 70
    assert dict(documented) == {name: metric.unit for name, metric in metrics(_with_everything()).items()}
