"""What experiments/silicon does where there is no GPU: its programs check themselves, its files are read."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest
from compilers import needs_gxx

import memsim
from experiments.silicon import __main__ as silicon
from experiments.silicon import compare, measure, ncu
from experiments.silicon.programs import CHANNELS, CHASE, HERE, PROGRAMS
from memsim.support.errors import InputError

VALUES = ["1,024", "0", "512", "1,024", "0", "512", "1,024", "500", "4,321.5", "3,130"]


def ncu_output(values: list[str] = VALUES, metrics: list[str] | None = None) -> str:
    """As ncu prints it: what it and the program say, header, units, a kernel."""
    metrics = list(ncu.METRICS.values()) if metrics is None else metrics
    header = ["ID", "Process ID", "Kernel Name", "Block Size", "Grid Size", "Device", "CC", *metrics]
    units = ["", "", "", "", "", "", "", *["sector"] * (len(metrics) - 2), "cycle", "ns"]
    row = ["0", "4711", "saxpy(float, const float *, float *, int)", "(256, 1, 1)", "(16, 1, 1)", "0", "8.0", *values]
    said = ["==PROF== Connected to process 4711 (/tmp/saxpy)", "PASSED: 4096 elements", "==PROF== Disconnected"]
    return "\n".join([*said, *(",".join(f'"{cell}"' for cell in line) for line in (header, units, row))]) + "\n"


def test_ncu_s_csv_is_read():
    (row,) = ncu.read(ncu_output(), "saxpy.txt")
    assert (row["kernel"], row["block"], row["grid"]) == (
        "saxpy(float, const float *, float *, int)", "(256, 1, 1)", "(16, 1, 1)"
    )  # fmt: skip
    assert [row[name] for name in ncu.METRICS] == [1024, 0, 512, 1024, 0, 512, 1024, 500, 4321.5, 3130]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("PASSED\n", 'CSV has no line that begins with "ID"'),
        (ncu_output(metrics=list(ncu.METRICS.values())[1:], values=VALUES[1:]), "is no column"),
        (ncu_output([*VALUES[:-1], "n/a"]), r"gpu__time_duration.sum is 'n/a' in row 1; give a number"),
    ],
)
def test_what_is_no_output_of_ncu_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        ncu.read(text, "log.txt")


def test_every_program_has_unique_name_and_its_kernel():
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS) >= 12
    for program in PROGRAMS:
        assert f" {program.kernel}(" in program.file.read_text()
        assert program.arguments and program.small


@pytest.mark.slow
@needs_gxx
@pytest.mark.parametrize(
    "program",
    [  # those of traces/cuda are tested in test_capture_described.py
        pytest.param(one, id=one.name, marks=[] if one.kernel == "conv" else pytest.mark.slow)
        for one in PROGRAMS
        if one.file.parent == HERE
    ],
)
def test_program_passes_its_own_check_on_cpu(program):
    captured = memsim.capture(program.file, arguments=program.small, kernel=program.kernel, blocks="all")
    assert captured.trace.kernel == program.kernel


@needs_gxx
@pytest.mark.slow
@pytest.mark.parametrize(("file", "arguments"), [(CHASE, ["2", "3", "500"]), (CHANNELS, ["2"])])
def test_microbenchmark_passes_its_own_check_on_cpu(file, arguments):
    assert memsim.capture(file, arguments=arguments, blocks="all").trace.n_blocks in (1, 2)


@pytest.mark.slow
@needs_gxx
def test_predictions_stand_beside_the_counters(tmp_path, monkeypatch, capsys):
    """4096 elements of saxpy: x and y are 1024 sectors read, 512 written, all of them from memory."""
    program = replace(PROGRAMS[0], arguments=PROGRAMS[0].small)
    monkeypatch.setattr(compare, "PROGRAMS", [program])
    (counted,) = ncu.read(ncu_output(), "saxpy.txt")
    measure.write(tmp_path / "counters.csv", [{"program": program.name, "device": "none", **counted}])
    assert silicon.main(["compare", str(tmp_path / "counters.csv"), "--gpu", "a100", "--trials", "1"]) == 0
    table = capsys.readouterr().out
    for quantity in ("l1 read sectors", "l1 write sectors", "l2 read sectors", "dram read sectors"):
        (line,) = (line for line in table.splitlines() if quantity in line)
        assert "+0.0 %" in line
    assert table.count("+0.0 pp") == 2  # no hits in either cache


def test_missing_counters_or_gpu_give_one_line(tmp_path, monkeypatch, capsys):
    file = tmp_path / "counters.csv"
    with file.open("w", newline="") as opened:
        csv.writer(opened).writerows([["program", "cycles"], ["saxpy.saxpy", "1"]])
    assert silicon.main(["compare", str(file), "--gpu", "a100"]) == 2
    monkeypatch.setattr(measure.shutil, "which", lambda tool: None)
    assert silicon.main(["measure", "-o", str(tmp_path / "out")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 and "l1_read_sectors is no column" in lines[0] and "nvcc is not on the PATH" in lines[1]
    assert not (tmp_path / "out").exists()
