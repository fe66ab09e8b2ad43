"""What experiments/silicon does where there is no GPU: programs check themselves, tables are read and compared."""

from __future__ import annotations

import csv
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from compilers import needs_gxx

import memsim
from experiments.capture.programs import PublicProgram
from experiments.silicon import __main__ as silicon
from experiments.silicon import comparison, measure, measured, ncu, public_programs
from experiments.silicon.columns import COLUMNS, read_table, write_table
from experiments.silicon.programs import CHANNELS, CHASE, GROUPS, HERE, MECHANISMS, PROGRAMS
from memsim.capture.build import Sources, build
from memsim.gpu.presets import load_gpu
from memsim.support.errors import InputError

SCRIPTS = Path(public_programs.__file__).parent
MEASURED = SCRIPTS / "h100"
METRICS = (
    "global_load_sectors", "global_load_hits", "global_store_sectors", "l2_read_sectors", "l2_read_hits",
    "l2_write_sectors", "dram_read_sectors", "dram_write_sectors", "sm_cycles", "nanoseconds",
)  # fmt: skip
METRIC_NAMES = [COLUMNS[name] for name in METRICS]
VALUES = ["1,024", "0", "512", "1,024", "0", "512", "1,024", "500", "4,321.5", "3,130"]


def ncu_output(values: list[str] = VALUES, metrics: list[str] | None = None) -> str:
    """As ncu prints it: what it and the program say, header, units, a kernel."""
    metrics = METRIC_NAMES if metrics is None else metrics
    header = ["ID", "Process ID", "Kernel Name", "Block Size", "Grid Size", "Device", "CC", *metrics]
    units = ["", "", "", "", "", "", "", *["sector"] * (len(metrics) - 2), "cycle", "ns"]
    row = ["0", "4711", "saxpy(float, const float *, float *, int)", "(256, 1, 1)", "(16, 1, 1)", "0", "8.0", *values]
    said = ["==PROF== Connected to process 4711 (/tmp/saxpy)", "PASSED: 4096 elements", "==PROF== Disconnected"]
    return "\n".join([*said, *(",".join(f'"{cell}"' for cell in line) for line in (header, units, row))]) + "\n"


def test_ncu_s_csv_is_read():
    (launch,) = ncu.launches(ncu_output(), "saxpy.txt")
    row = launch.row()
    assert (row["kernel"], row["block"], row["grid"]) == (
        "saxpy(float, const float *, float *, int)", "256x1x1", "16x1x1"
    )  # fmt: skip
    assert [row[name] for name in METRICS] == ["1024", "0", "512", "1024", "0", "512", "1024", "500", "4321.5", "3130"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("PASSED\n", 'CSV has no header with "ID"'),
        (ncu_output().replace("Grid Size", "Grid"), "Grid Size is no column"),
    ],
)
def test_what_is_no_output_of_ncu_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        ncu.launches(text, "log.txt")


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


def test_plan_names_the_launches_of_a_group():
    (launch,) = ncu.launches(ncu_output(), "l2.txt")
    printed = "==PROF== Connected\ngroup,kernel,a,b,c\nl2,read_again,2,6,0\nl2,read_again,8,6,0\n"
    first, second = measure.planned(printed, [launch.row(), launch.row()])
    assert (first["group"], first["row"], first["name"], first["a"]) == ("l2", "0", "read_again", "2")
    assert (second["row"], second["a"], second["global_load_sectors"]) == ("1", "8", "1024")


def test_measured_launches_are_known():
    """Every row has a program, and the counters that all comparisons need."""
    found = list(measured.rows(MEASURED, Path("nowhere")))
    assert {one.about["table"] for one in found} == {"own", "mechanisms", "programs"}
    assert len({comparison._key(one.about) for one in found}) == len(found)
    assert {one.about["program"] for one in found if one.about["table"] == "mechanisms"} <= set(GROUPS)
    assert all(float(one.cells["sm_cycles"]) > 0 for one in found if one.about["table"] != "programs")


def test_missing_tools_or_tables_give_one_line(tmp_path, monkeypatch, capsys):
    write_table(tmp_path / "own_programs.csv", [{"program": "saxpy.saxpy", "cycles": "1"}])
    given = [str(tmp_path), str(tmp_path), "-o", str(tmp_path / "out.csv"), "--gpu", "h100"]
    assert silicon.main(["compare", *given]) == 2
    monkeypatch.setattr(measure.shutil, "which", lambda tool: None)
    assert silicon.main(["measure", "-o", str(tmp_path / "out")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 and "kernel is no column" in lines[0] and "nvcc is not on the PATH" in lines[1]
    assert not (tmp_path / "out").exists()


def test_profile_with_any_metrics_is_read():
    text = ncu_output([*VALUES, "1,234.5", "n/a"], [*METRIC_NAMES, "sm__icc_requests.sum", "idc__requests.sum"])
    text = text.replace('"ID"', 'a line that the program did not end "ID"') + "==WARNING== behind the table\n"
    (launch,) = ncu.launches(text, "saxpy.txt")
    assert launch.values["sm__icc_requests.sum"] == 1234.5 and "idc__requests.sum" not in launch.values
    assert len(launch.values) == len(METRICS) + 1 and launch.grid == "(16, 1, 1)"


def test_list_of_public_programs_follows_its_rule():
    programs = public_programs.public_programs()
    assert len({one.name for one in programs}) == len(programs) == public_programs.COUNT
    assert [int(one.name[:3]) for one in programs] == list(range(len(programs)))
    of_repositories = Counter(one.program.repository for one in programs)
    assert max(of_repositories.values()) <= public_programs.EACH and "siboehm/SGEMM_CUDA" not in of_repositories
    assert not any(one.program.needs or "hello" in one.program.main.lower() for one in programs)
    # One of each repository, then a second of each, and so on.
    repositories = [one.program.repository for one in programs]
    turns = [repositories[:at].count(repository) for at, repository in enumerate(repositories)]
    assert turns == sorted(turns)


def test_rule_takes_captured_programs_of_results():
    captured = [one.program for one in public_programs.chosen()]
    assert len(captured) == public_programs.COUNT and len(set(captured)) == len(captured)
    listed_before = {one.program for one in public_programs.public_programs()}
    assert len(listed_before & set(captured)) > public_programs.COUNT / 2


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
def test_launches_are_compared(tmp_path, monkeypatch):
    """4096 elements of saxpy: 1024 sectors read, 512 written; a kernel of another name is not launched."""
    program = PROGRAMS[0]
    executable = build(Sources((program.file,)), load_gpu("h100"))
    listed = public_programs.NumberedProgram(
        executable.name, PublicProgram("none", "", "", "", "", " ".join(program.small), "")
    )
    monkeypatch.setattr(measured, "public_programs", lambda: [listed])
    text = ncu_output().replace("saxpy(float, const float *, float *, int)", "_Z5saxpyfPKfPfi")
    other = text.splitlines()[-1].replace("saxpy", "other")
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / f"{executable.name}.csv").write_text(f"{text}{other}\n")
    write_table(tmp_path / "programs.csv", measure.profiles(tmp_path / "profiles"))
    out = tmp_path / "compared.csv"
    for _ in range(2):  # the second time from the table
        table = comparison.compare(tmp_path, executable.parent, out, "h100", limit=600)
        assert "1 launches: " in table
    first, second = read_table(out)
    assert first["memsim_global_load_sectors"] == first["global_load_sectors"] == "1024"
    assert first["memsim_local_load_sectors"] == "0" and first["memsim_global_store_sectors"] == "512"
    assert "other" in second["message"] and not second["memsim_nanoseconds"]


@pytest.mark.slow  # compiles
@needs_gxx
def test_one_launch_of_a_group_runs_alone(tmp_path):
    """The third launch of the group of launches: 1056 empty blocks."""
    captured = memsim.capture(MECHANISMS, arguments=["launches", "2"], gpu="h100", blocks="all", out=tmp_path / "t.h5")
    assert (captured.trace.kernel, captured.trace.n_blocks) == ("empty", 1056)
