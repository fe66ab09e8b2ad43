"""Tables, JSON and figures of a result made by hand."""

from __future__ import annotations

import io
import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
import synthetic
from places import ROOT

from memsim.analysis.result import RunResult
from memsim.montecarlo import store
from memsim.report import comparison_figures
from memsim.report.figure_options import FigureOptions, Format, Size
from memsim.report.figures import convergence, loads, plot
from memsim.report.figures.common import source_of
from memsim.report.formats import format_names, rendered
from memsim.report.result_json import document
from memsim.report.text import output, tables

CONTRACT = ROOT / "docs" / "reference" / "json.md"
NUMBER = (int, float)


@pytest.fixture(scope="module")
def result():
    return RunResult(synthetic.spmv(24))


def _without_reads():
    trials = synthetic.spmv(3)
    trials.counters[:] = 0
    trials.memory_sum[:] = trials.memory_count[:] = trials.memory_histogram[:] = 0
    trials.latency_sum[:] = trials.latency_count[:] = trials.latency_histogram[:] = 0
    return RunResult(trials)


def _shape(value):
    """The type of a JSON value, deep; a list is the shape of its first element."""
    if isinstance(value, dict):
        return {name: _shape(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_shape(value[0])] if value else []
    return "number" if isinstance(value, NUMBER) else type(value).__name__


def test_the_json_contract(result):
    interval = ["number"]
    sample = {"mean": "number", "interval": interval}
    counts = dict.fromkeys(("reads", "writes", "atomics", "hits", "misses", "merges"), "number")
    dram = dict.fromkeys(("reads", "writes"), "number")
    found = _shape(json.loads(rendered(output(result), "json")))
    expected = {
        "gpu": "str",
        "trials": "number",
        "seed": "number",
        "convention": "str",
        "waves": "number",
        "whole": "number",
        "whole_kernel": "number",
        "launch_cycles": "number",
        "kernel_time_ms": sample,
        "kernel_time_interval_ms": interval,
        "prediction_interval_ms": interval,
        "kernel_time_is_least": "number",
        **dict.fromkeys(("best_possible_ms", "limit", "time_parts"), "NoneType"),  # of a result without profiles
        "ratios": dict.fromkeys(("l1_read", "l2_read", "l2_write"), sample | {"sd": "number"}),
        "counters": {
            "l1": {"transactions": counts, "sectors": counts},
            "l2": {"transactions": counts, "sectors": counts},
            "dram": {"transactions": dram, "sectors": dram},
        },
        "cycles": "number",
        "cycles_interval": interval,
        "clock_mhz": "number",
        "memory_latency": sample,
        "loads": [
            {"file": "str", "line": "number", "column": "number", "text": "str", "array": "str"}
            | {"l1_hit": "number", "l2_hit": "number", "share": "number"}
            | {"latency": sample, "instruction_latency": sample, "x": sample}
        ],
        "stores": [
            dict.fromkeys(("kind", "file", "text", "array"), "str")
            | dict.fromkeys(("line", "column", "l2_hit", "dram_sectors"), "number")
            | dict.fromkeys(("instructions", "sectors", "partial"), "NoneType")  # of a result without profiles
        ],
        "performance": dict.fromkeys(("transactions_per_trial", "transactions_per_second", "simpy_share"), "number"),
        "created": "str",
        "interrupted": "number",
    }
    assert {name: found[name] for name in expected} == expected
    assert set(found) - set(expected) == {
        "trace",
        "versions",
        "findings",
        "until",
        "translation",
        "components",
        "profiler",
        "sampling",
    }
    assert {"digest", "kernel", "source", "parameters", "grid", "block"} <= set(found["trace"])


def test_the_contract_is_documented(result):
    text = CONTRACT.read_text()

    def names(value):
        if isinstance(value, dict):
            for name, part in value.items():
                yield name
                yield from names(part)

    described = document(result)
    of_load = described["loads"][0]
    del described["versions"], described["trace"]
    for name in {*names(described), *names(of_load), "trace", "versions"}:
        assert f"`{name}`" in text, name


def test_what_does_not_exist_is_null():
    one, empty = document(RunResult(synthetic.spmv(1))), document(_without_reads())
    assert one["ratios"]["l1_read"]["interval"] is None and one["ratios"]["l1_read"]["sd"] is None
    assert empty["ratios"]["l2_write"] == {"mean": None, "sd": None, "interval": None}
    assert empty["loads"][0]["x"] == {"mean": None, "interval": None}
    json.dumps([one, empty], allow_nan=False)


def test_numbers_agree_with_the_result(result):
    found = document(result)
    assert found["ratios"]["l2_read"]["mean"] == result.l2_read.mean
    assert found["loads"][4]["x"]["mean"] == result.loads[4].x.mean
    assert found["performance"]["simpy_share"] == pytest.approx(0.1)


@pytest.mark.parametrize("by", ["load", "array", "line"])
def test_tables_fit_and_show_everything(result, by):
    text = tables(result, by=by)
    assert max(map(len, text.splitlines())) <= 100
    assert f"{result.l2_read.mean * 100:.2f}" in text
    for words in ("spmv on tesla-c2050: 24 trials, seed 7", "95 % interval of the mean (t)", "mean ± 2 sd", "row_ptr"):
        assert words in text
    if by == "load":
        row = next(line for line in text.splitlines() if "y[ind]" in line)
        assert row.startswith("spmv.py:44") and f"{result.loads[4].share.mean * 100:.1f}" in row


def test_ratios_are_printed_as_numpy_finds_them(result):
    """In percent: the mean with two decimals, the standard deviation of a trial with three, and twice that around."""
    row = next(line for line in tables(result).splitlines() if line.startswith("L2 read "))
    values = 100 * result.l2_read.values
    mean, sd = np.mean(values), np.std(values, ddof=1)
    assert row.split()[2:4] == [f"{mean:.2f}", f"{sd:.3f}"]
    low, high = re.findall(r"[\d.]+", row)[-2:]
    assert (float(low), float(high)) == pytest.approx((mean - 2 * sd, mean + 2 * sd), abs=0.01)


def test_tables_print_dash_for_what_does_not_exist():
    text = tables(_without_reads())
    assert "nan" not in text and "–" in text
    assert "nan" not in tables(RunResult(synthetic.spmv(1)))


@pytest.mark.parametrize(("traced", "launched", "wave", "noted"), [
    (28, 336, 320, True), (320, 336, 320, False), (28, 28, 320, False), (28, 336, 14, False), (28, 336, 0, False),
])  # fmt: skip
def test_tables_say_when_trace_does_not_fill_gpu(traced, launched, wave, noted):
    trials = synthetic.spmv(2)
    trials.about["trace"] |= {"blocks": traced, "grid": [launched // 2, 2, 1], "wave_blocks": wave}
    text = tables(RunResult(trials))
    assert ("note: the trace has 28 of 336 blocks, where tesla-c2050 holds 320 at a time" in text) is noted
    assert max(map(len, text.splitlines())) <= 100


def test_tables_and_json_come_from_the_file_alone(result, tmp_path):
    store.save(tmp_path / "result.h5", result.trials)
    again = RunResult.load(tmp_path / "result.h5")
    for format in format_names():
        assert rendered(output(again), format) == rendered(output(result), format)


@pytest.mark.slow
@pytest.mark.parametrize("trials", [24, 1, None])
def test_figures_are_images_also_of_degenerate_results(tmp_path, trials):
    from matplotlib.image import imread

    written = plot(_without_reads() if trials is None else RunResult(synthetic.spmv(trials)), tmp_path / "figs")
    assert [path.name for path in written] == ["ratios.png", "convergence.png", "loads.png", "latency.png"]
    for path in written:
        image = imread(path)
        assert image.shape[1] > 600 and np.ptp(image[..., :3]) > 0.5
    assert len(list((tmp_path / "figs").iterdir())) == 4


@pytest.fixture(scope="module")
def alone(result, tmp_path_factory):
    """The figures of one result next to none."""
    return comparison_figures.plot({"many": result}, tmp_path_factory.mktemp("alone"))


@pytest.mark.slow
@pytest.mark.parametrize("others", [{"few": RunResult(synthetic.spmv(2))}, {"none": _without_reads()}, {}])
def test_several_results_are_drawn_side_by_side(others, result, alone, tmp_path):
    from matplotlib.image import imread

    written = comparison_figures.plot({**others, "many": result}, tmp_path)
    assert [path.name for path in written] == ["side_by_side.png", "convergence.png", "loads.png"]
    assert (imread(written[0]).shape[0] > imread(alone[0]).shape[0]) == bool(others)


def test_several_results_share_one_axis_time_first(result):
    figure = comparison_figures.side_by_side({"few": RunResult(synthetic.spmv(2)), "many": result})
    time, *ratios = figure.axes
    assert time.get_title() == "Kernel time, ms" and len(ratios) == 3
    drawn = [line.get_xdata()[0] for line in time.get_lines() if len(line.get_xdata()) == 1]
    assert drawn[1] == pytest.approx(result.kernel_time.mean)
    assert [text.get_text() for text in time.get_yticklabels()] == [
        "few\nspmv on tesla-c2050",
        "many\nspmv on tesla-c2050",
    ]


def test_labels_show_the_source_line_without_its_comment(result):
    load = replace(result.loads[0], text="LDG.E", file="k.cu", line=1)
    trials = replace(result.trials, sources={"k.cu": ["    sum += a[i]; // of a row"]})
    assert source_of(RunResult(trials), load) == "sum += a[i];"


def test_the_aimed_width_is_within_the_axis(result):
    until = {"until": {"width": 0.5, "reached": True}}  # 50 points, where trials differ by one
    about = replace(result.trials, about=result.trials.about | until)
    figure = convergence(RunResult(about))
    with warnings.catch_warnings(action="error"):  # matplotlib's, that axes have no room
        figure.savefig(io.BytesIO(), format="svg")
    assert figure.axes[1].get_ylim()[1] > 25


@pytest.mark.slow
@pytest.mark.parametrize("format", Format)
def test_figures_are_written_identically_in_every_format(result, tmp_path, format):
    """And matplotlib's settings stay as they were."""
    import matplotlib

    before = dict(matplotlib.rcParams)
    first, second = (plot(result, tmp_path / name, FigureOptions(format=format)) for name in ("one", "two"))
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert all(path.read_bytes().startswith(starts[format]) and path.suffix == f".{format}" for path in first)
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert dict(matplotlib.rcParams) == before


@pytest.mark.slow
@pytest.mark.parametrize(("size", "inches"), [(Size.column, 3.4), (Size.page, 7.1)])
def test_figures_are_as_wide_as_column_or_page(result, tmp_path, size, inches):
    from matplotlib.image import imread

    for path in plot(result, tmp_path, FigureOptions(dpi=100, size=size)):
        assert imread(path).shape[1] == round(100 * inches)


def test_the_shares_drawn_are_those_of_the_latency(result):
    shares = loads(result).axes[0]
    heights = {round(bar.get_height(), 9) for bar in shares.patches}
    assert {round(load.share.mean, 9) for load in result.loads if load.share.mean > 0} == heights
    assert sum(bar.get_height() for bar in shares.patches) == pytest.approx(1)


def test_half_the_interval_drawn_is_the_interval(result):
    lines = convergence(result).axes[1].get_lines()
    assert lines[1].get_ydata()[-1] == pytest.approx(100 * result.l2_read.interval().width / 2)


def test_stack_is_as_high_as_its_arrays_latencies(result):
    figure = comparison_figures.loads({"one": result, "two": result})
    (axis,) = figure.axes
    x = comparison_figures.array_latencies(result)
    bars = [[bar for bar in axis.patches if round(bar.get_center()[0]) == at] for at in (0, 1)]
    tops = [max(bar.get_y() + bar.get_height() for bar in stack) for stack in bars]
    assert tops == pytest.approx([sum(x.values()) / max(x.values())] * 2)
    assert {text.get_text() for text in axis.get_legend().get_texts()} == set(x)
