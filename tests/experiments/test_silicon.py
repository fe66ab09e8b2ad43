"""What experiments/silicon does where there is no GPU: its programs check themselves, its files are read."""

from __future__ import annotations

import csv
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from compilers import needs_gxx

import memsim
from experiments.silicon import __main__ as silicon
from experiments.silicon import compare, measure, ncu, public_comparison, public_programs
from experiments.silicon.programs import CHANNELS, CHASE, HERE, PROGRAMS
from memsim.capture.build import Sources, build
from memsim.gpu.presets import load_gpu
from memsim.support.errors import InputError

SCRIPTS = Path(public_programs.__file__).parent
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
        ("PASSED\n", 'CSV has no header with "ID"'),
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


def test_profile_with_any_metrics_is_read():
    text = ncu_output([*VALUES, "1,234.5", "n/a"], [*ncu.METRICS.values(), "sm__icc_requests.sum", "idc__requests.sum"])
    text = text.replace('"ID"', 'a line that the program did not end "ID"') + "==WARNING== behind the table\n"
    (launch,) = ncu.launches(text, "saxpy.txt")
    assert launch.values["sm__icc_requests.sum"] == 1234.5 and "idc__requests.sum" not in launch.values
    assert len(launch.values) == len(ncu.METRICS) + 1 and launch.grid == "(16, 1, 1)"


def test_list_of_public_programs_follows_its_rule():
    programs = public_programs.public_programs()
    assert programs == list(public_programs.chosen())
    assert len({one.name for one in programs}) == len(programs) == public_programs.COUNT


FAKE_NCU = """#!/bin/bash
case "$*" in
  *--query-metrics*) printf '%s  Counter\\n' a__known a__broken b__second; exit ;;
esac
while [ $# -gt 0 ]; do
  case $1 in --metrics) names=$2 ;; --log-file) log=$2 ;; esac
  shift
done
case $names in
  *broken*) echo '==ERROR== no' >"$log" ;;
  *) printf '"ID","Kernel Name"\\n"","x"\\n"0","k"\\n' >"$log" ;;
esac
"""


@pytest.fixture
def with_ncu(tmp_path):
    """The environment with a profiler on PATH that knows three metrics, of which it cannot collect one."""
    tool = tmp_path / "bin" / "ncu"
    tool.parent.mkdir()
    tool.write_text(FAKE_NCU)
    tool.chmod(0o755)
    return os.environ | {"PATH": f"{tool.parent}:{os.environ['PATH']}"}


def test_metrics_that_ncu_lacks_are_dropped(tmp_path, with_ncu):
    names = tmp_path / "metrics.txt"
    names.write_text("# times\na__known.sum\na__broken.sum\nc__none.avg\nd__first.sum | b__second.sum\nlaunch__regs\n")
    line = [str(SCRIPTS / "filter_metrics.sh"), str(names), "/bin/true"]
    done = subprocess.run(line, env=with_ncu, capture_output=True, text=True, check=True)
    assert done.stdout == "a__known.sum,b__second.sum,launch__regs\n"
    assert "no metric: c__none.avg" in done.stderr and "not collected: a__broken.sum" in done.stderr


@pytest.mark.slow  # packs, unpacks and runs
def test_packed_programs_are_run_and_profiled(tmp_path, with_ncu):
    built, target = tmp_path / "built", tmp_path / "there" / "programs"
    for folder in (built, target):
        folder.mkdir(parents=True)
    for name, status in (("000_good", 0), ("001_bad", 3), ("002_killed", 139)):
        (built / name).write_text(f"#!/bin/sh\necho $*\nexit {status}\n")
        (built / name).chmod(0o755)
    (built / "commands.txt").write_text("000_good 1 -x\n001_bad\n002_killed\n")
    (built / "libcudart.so.13").write_text("")
    subprocess.run(["bash", SCRIPTS / "pack_programs.sh", built, built / "libcudart.so.13", target], check=True)
    environment = with_ncu | {"METRICS": "a__known.sum", "BUDGET": "60"}
    subprocess.run(["bash", target / "run_programs.sh", tmp_path / "out"], env=environment, check=True)
    subprocess.run(["tar", "-xJf", tmp_path / "out" / "programs.tar.xz", "-C", tmp_path], check=True)
    with (tmp_path / "plain.csv").open(newline="") as file:
        assert {row["name"]: row["status"] for row in csv.DictReader(file)} == {
            "000_good": "0", "001_bad": "3", "002_killed": "139"
        }  # fmt: skip
    assert (tmp_path / "profiled.csv").read_text() == "name,status,launches\n000_good,0,1\n001_bad,0,1\n"
    assert (tmp_path / "plain" / "000_good.txt").read_text() == "1 -x\n"


@pytest.mark.slow
@needs_gxx
def test_profiles_of_executables_are_compared(tmp_path, monkeypatch):
    """4096 elements of saxpy: 1024 sectors read, 512 written; a kernel of another name is not launched."""
    program = PROGRAMS[0]
    executable = build(Sources((program.file,)), load_gpu("h100"))
    listed = public_programs.Public(executable.name, "none", "", "", "", "", " ".join(program.small))
    monkeypatch.setattr(public_comparison, "public_programs", lambda: [listed])
    text = ncu_output().replace("saxpy(float, const float *, float *, int)", "_Z5saxpyfPKfPfi")
    other = text.splitlines()[-1].replace("saxpy", "other")
    (tmp_path / f"{executable.name}.csv").write_text(f"{text}{other}\n")
    out = tmp_path / "compared.csv"
    for _ in range(2):  # the second time from the table
        table = public_comparison.compare_public(tmp_path, executable.parent, out, "h100", limit=600)
        assert "1 launches: " in table
    with out.open(newline="") as file:
        first, second = csv.DictReader(file)
    assert float(first["memsim l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]) == 1024
    assert float(first["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]) == 1024
    assert float(first["memsim l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"]) == 0
    assert float(first["memsim l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"]) == 512
    assert "other" in second["message"] and not second["memsim gpu__time_duration.sum"]
