"""The profiler's reports are read as they were written, by a writer of the test's own, and damage is one line."""

from __future__ import annotations

import csv

import ncu_files
import pytest
from budget import drawn
from hypothesis import given
from hypothesis import strategies as st

from memsim.measured import read_report
from memsim.measured.launch import choose, function_name
from memsim.support.errors import InputError

# Kernels of PolyBench/GPU and Rodinia on a Quadro GV100, as published with HyFiSS (MICRO 2024).
PUBLISHED = """kernel,l1_hit_pct,l2_hit_pct,l1_read_requests,l1_read_sectors,dram_bytes_read,cycles
Convolution2D_kernel,75.07,72.26,4716288,21984840,62537728,262915
calculate_temp,0.23,76.22,29240,172448,2097248,16486
"""
NAMES = {
    "l1_hit_pct": "l1tex__t_sector_hit_rate.pct",
    "l2_hit_pct": "lts__t_sector_hit_rate.pct",
    "l1_read_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1_read_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "dram_bytes_read": "dram__bytes_read.sum",
    "cycles": "gpc__cycles_elapsed.max",
}
ROWS = {row.pop("kernel"): row for row in csv.DictReader(PUBLISHED.splitlines())}
EXPECTED = [{NAMES[name]: float(text) for name, text in row.items()} for row in ROWS.values()]


def _as_printed(name, text):
    """As the profiler prints it: units scaled, thousands separated."""
    if name == "dram_bytes_read":
        return "Mbyte", f"{float(text) / 1e6:.6f}"
    return ("%", text) if name.endswith("pct") else ("sector", f"{int(text):,}")


def _launches():
    return [
        (f"void {kernel}(float *, float *)", (128, 512, 1), (32, 8, 1),
         {NAMES[name]: _as_printed(name, text) for name, text in row.items()} | {"device__name": ("", "GV100")})
        for kernel, row in ROWS.items()
    ]  # fmt: skip


@pytest.mark.parametrize("layout", [ncu_files.long_csv, ncu_files.wide_csv])
@pytest.mark.parametrize("before", [(), ("==PROF== Connected", 'result, "quoted": 3')])
def test_both_layouts_of_csv(tmp_path, layout, before):
    (path := tmp_path / "report.csv").write_text(layout(_launches(), before))
    found = read_report(path)
    assert [function_name(launch.kernel) for launch in found] == list(ROWS)
    assert [(launch.grid, launch.block) for launch in found] == [((128, 512, 1), (32, 8, 1))] * 2
    assert [dict(launch.metrics) for launch in found] == [pytest.approx(metrics) for metrics in EXPECTED]


def test_the_page_of_details_has_titles(tmp_path):
    metrics = {"Duration": ("usecond", "12.5"), "L2 Hit Rate": ("%", "87.25"), "Waves Per SM": ("", "3")}
    (path := tmp_path / "r.csv").write_text(ncu_files.long_csv([("k(int)", (1, 1, 1), (32, 1, 1), metrics)]))
    assert read_report(path)[0].metrics == {"gpu__time_duration.sum": 12500.0, "lts__t_sector_hit_rate.pct": 87.25}


def _report():
    first, second = (
        (f"void {kernel}<float>(float *)", (3, 2, 1), (256, 1, 1), metrics | {"device__name": "GV100", "n__int": 2**40})
        for kernel, metrics in zip(ROWS, EXPECTED, strict=True)
    )
    return ncu_files.ncu_rep([first], [second, first])


def test_a_report_of_the_profilers_own_format(tmp_path):
    (path := tmp_path / "r.ncu-rep").write_bytes(_report())
    found = read_report(path)
    assert [function_name(launch.kernel) for launch in found] == [*ROWS, next(iter(ROWS))]
    assert found[1].grid == (3, 2, 1) and found[1].block == (256, 1, 1)
    assert [dict(launch.metrics) for launch in found[:2]] == [metrics | {"n__int": 2**40} for metrics in EXPECTED]


@pytest.mark.parametrize("counted", [{"launch__grid_size": 16}, {"launch__thread_count": 16 * 512}])
@pytest.mark.parametrize("extents", [(1024, 8, 1), (8, 2, 1)], ids=["threads", "blocks"])
def test_grid_in_threads_of_older_reports(tmp_path, extents, counted):
    launch = ("copy(float *)", extents, (128, 4, 1), counted)
    (path := tmp_path / "r.ncu-rep").write_bytes(ncu_files.ncu_rep([launch]))
    assert read_report(path)[0].grid == (8, 2, 1)


@pytest.mark.parametrize("report", [_report(), ncu_files.wide_csv(_launches()).encode()], ids=["ncu-rep", "csv"])
@given(data=st.data())
@drawn(150)
def test_damage_is_one_line_or_another_report(tmp_path_factory, report, data):
    at = data.draw(st.integers(0, len(report) - 1))
    byte = data.draw(st.integers(0, 255))
    damaged = data.draw(st.sampled_from([report[:at], report[:at] + bytes([byte]) + report[at + 1 :]]))
    (path := tmp_path_factory.getbasetemp() / "damaged").write_bytes(damaged)
    try:
        read_report(path)
    except InputError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "header is missing"),
        (b"NVR\0", "is damaged"),
        (b"NVR\0" + b"\xff" * 64, "is damaged"),
        (b"\xff\xfe\x00", "neither"),
        (ncu_files.ncu_rep([]), "holds no launch"),
        (b'"ID","Metric Name"\n', "Kernel Name"),
    ],
)
def test_what_is_no_report(tmp_path, content, says):
    (path := tmp_path / "r").write_bytes(content)
    with pytest.raises(InputError, match=says):
        read_report(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_report(tmp_path / "absent")


def test_payload_with_false_length_costs_no_memory(tmp_path):
    header = ncu_files.integer(2, 2**63) + ncu_files.integer(5, 2**62)
    (path := tmp_path / "r").write_bytes(b"NVR\0" + bytes(4) + len(header).to_bytes(4, "little") + header)
    with pytest.raises(InputError, match="ends behind the file"):
        read_report(path)


def test_a_launch_is_chosen_by_name_and_number(tmp_path):
    (path := tmp_path / "r.ncu-rep").write_bytes(_report())
    launches = read_report(path)
    assert choose(path, launches, "calculate_temp", None, None) is launches[1]
    assert choose(path, launches, "other", "Convolution2D", 1) is launches[2]
    for part, number, says in ((None, None, "one of: Convolution2D_kernel, calculate_temp"), ("temp", 1, "launch 1")):
        with pytest.raises(InputError, match=says):
            choose(path, launches, "other", part, number)
