"""``memsim profile``: from the traces of a program's launches to a table, and a file that other commands read."""

from __future__ import annotations

import json
import re
import shutil
from contextlib import contextmanager
from dataclasses import replace
from html import unescape
from types import SimpleNamespace

import pytest
import typer
from compilers import needs_capture
from here import run_here
from typer.testing import CliRunner

import memsim
from memsim import Launch, Thread, workload
from memsim.analysis.program import ProgramResult
from memsim.api.profile import _kernels_to_explain, _top_finding
from memsim.cli import app
from memsim.cli.profile import ProfilesProgram, profile
from memsim.report.output import PrintedTable
from memsim.report.profile import profile_output
from memsim.sources.described_workloads import described_workloads
from memsim.why import find_bottlenecks

GPU, N = "tesla-c2050", 1 << 13


def added(t: Thread, a, b):
    b[t.global_id] = a[t.global_id] + b[t.global_id]


def halved(t: Thread, a, b):
    a[t.global_id] = b[t.global_id] / 2


@workload
def add(order: int = 0) -> Launch:
    """One kind of launch; `order` is its place in the program."""
    return Launch(added, N // 256, 256, arrays(), registers=16)


@workload
def halve(order: int = 0) -> Launch:
    """Another kind."""
    return Launch(halved, N // 256, 256, arrays(), registers=16)


def arrays():
    import numpy as np

    return dict(a=np.zeros(N, np.float32), b=np.zeros(N, np.float32))


def call(*command):
    done = CliRunner().invoke(app, [str(part) for part in command])
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("traces")
    for order in range(6):
        kind = (add, halve)[order % 2]
        memsim.trace(kind, gpu=GPU, blocks="all", out=place / f"{kind.name}-{order}.h5", order=order)
    return place


@pytest.fixture(scope="module")
def file(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("profile") / "p.h5"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memsim.api.profile.MOST", 3)
        done = call("profile", folder, "--gpu", GPU, "--quick", "-o", out)
    assert done.exit_code == 0, done.output
    unit = re.search(r" on tesla-c2050: 6 launches take [\d.]+ ± [\d.]+ (ms|µs)", done.stdout)[1]
    assert re.search(rf"^kernel +launches +{unit} .* best {unit} ", done.stdout, re.MULTILINE)
    rows = re.findall(r"^(\w+) +3 +[\d.]+ +([\d.]+) ", done.stdout, re.MULTILINE)
    assert {name for name, _ in rows} == {"added", "halved"}
    assert sum(float(share) for _, share in rows) == pytest.approx(100, abs=0.2)
    return out


DESCRIPTIONS = """
import numpy as np
import memsim
from memsim import Launch, Thread, workload

def added(t: Thread, a):
    a[t.global_id] = a[t.global_id] + 1

def doubled(t: Thread, a):
    a[t.global_id] = a[t.global_id] * 2

@workload
def add(n: int = 1 << 13) -> Launch:
    return Launch(added, n // 256, 256, dict(a=np.zeros(n, np.float32)))

@memsim.workload
def double(n: int = 1 << 13) -> Launch:
    return Launch(doubled, n // 256, 256, dict(a=np.zeros(n, np.float32)))
"""


def test_descriptions_are_profiled_in_one_command(tmp_path, monkeypatch):
    """Each workload of the file is a launch; the parameters reach all."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels.py").write_text(DESCRIPTIONS)
    done = call("profile", "kernels.py", "n=16384", "--gpu", GPU, "--quick", "--traces", "traces")
    assert done.exit_code == 0, done.output
    assert "2 launches take" in done.stdout and "added" in done.stdout and "doubled" in done.stdout
    traces = [memsim.open_trace(f"traces/{name}.h5") for name in ("add", "double")]
    assert [trace.parameters["n"] for trace in traces] == [16384, 16384]
    expected = memsim.profile_program(traces, GPU, quick=True).time.mean
    assert ProgramResult.load("kernels.profile.h5").time.mean == pytest.approx(expected)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (["m=1"], "m is not a parameter of add"),
        (["many"], "many is not understood"),
        (["n=4096", "--", "many"], "many is not understood"),
        (["--kernel", "add"], "--kernel is for a program"),
        (["--every-launch"], "--every-launch is for a program"),
        (["-D", "N=3"], "-D is for a program"),
    ],
)
def test_wrong_arguments_of_description_are_refused(tmp_path, given, problem):
    (tmp_path / "kernels.py").write_text(DESCRIPTIONS)
    done = call("profile", tmp_path / "kernels.py", *given)
    assert done.exit_code == 2 and problem in done.output


@pytest.mark.parametrize(
    "given", [["--kernel", "x"], ["--blocks", "0:1"], ["--every-launch"], ["--std", "c++20"], ["--traces", "t"]]
)
def test_options_of_programs_are_refused_for_folders(folder, given):
    done = call("profile", folder, *given, "-o", folder / "refused.h5")
    assert done.exit_code == 2 and f"{given[0]} is for a program that memsim runs" in done.output


def test_folder_takes_no_arguments(folder):
    for given in (["other/"], ["--", "5"]):
        done = call("profile", folder, *given)
        assert done.exit_code == 2 and "another argument is for a program" in done.output


PRINTING = r"""
#include <cstdio>
__global__ void k(int *a) { a[threadIdx.x] = 1; }
int main() {
  int *a;
  cudaMalloc(&a, 256);
  k<<<1, 64>>>(a);
  printf("its own line\n");
}
"""


@needs_capture
@pytest.mark.slow
def test_output_of_programs_leaves_json_whole(tmp_path):
    (tmp_path / "app.cu").write_text(PRINTING)
    assert run_here(tmp_path, ["check", "--update", "app.cu"]).returncode == 0
    for command in (["capture", "-o", "t/"], ["profile"]):
        done = run_here(tmp_path, [*command, "--format", "json", "app.cu"])
        assert done.returncode == 0 and "its own line" in done.stderr
        json.loads(done.stdout)
    done = run_here(tmp_path, ["check", "--format", "json"])
    assert done.returncode == 0 and "its own line" in done.stderr
    json.loads(done.stdout)
    assert "its own line" in run_here(tmp_path, ["profile", "app.cu"]).stdout


def test_program_that_imports_memsim_is_no_description(tmp_path):
    (tmp_path / "program.py").write_text("from memsim import workload\nprint(workload)\n")
    (tmp_path / "broken.py").write_text("@workload\ndef (")
    assert described_workloads(tmp_path / "program.py") == described_workloads(tmp_path / "broken.py") == []


def test_show_prints_the_table_and_one_kernel(file):
    assert "6 launches take" in call("show", file).stdout
    assert call("show", file, "--kernel", "halved").stdout.startswith("halved on tesla-c2050: 3 trials")
    document = json.loads(call("show", file, "-k", "add", "--json").stdout)
    assert document["trials"] == 3
    assert {one["kernel"] for one in json.loads(call("show", file, "--json").stdout)["kernels"]} >= {"halved"}
    for wrong in (["--why"], ["--kernel", "neither"]):
        refused = call("show", file, *wrong)
        assert refused.exit_code == 2 and "added" in refused.output and "halved" in refused.output


def test_times_below_the_best_possible_are_noted(file, monkeypatch):
    note = "the traced blocks do not fill the GPU"
    assert note not in call("show", file).stdout
    monkeypatch.setattr("memsim.analysis.program.LaunchGroup.best_possible", 1e9)
    assert f"added, halved: {note}" in call("show", file).stdout.replace("halved, added", "added, halved")


def test_kernel_with_many_grids_has_one_row(file):
    result = ProgramResult.load(file)
    slow, fast = result.groups
    many = ProgramResult([*[slow] * 9, fast], result.about)
    table = next(one for one in profile_output(many).blocks() if isinstance(one, PrintedTable))
    (name, launches, time, *_), (single, *_) = table.rows
    scale = {"ms": 1, "µs": 1000}[table.headers[2]]
    assert (name, single) == (f"{slow.kernel} (9 grids)", fast.kernel)
    assert launches == "27" and float(time) / scale == pytest.approx(9 * slow.time.mean, rel=1e-3)
    chosen = [label for label, _ in _kernels_to_explain(many)]
    assert chosen[0] == many.labels()[0] and set(chosen) <= set(many.labels())


def test_kernels_whose_long_names_agree_stay_apart(file):
    result = ProgramResult.load(file)
    (slow, fast), policy = result.groups, "cub::detail::for_each::policy_hub_t::policy_500_t, long"
    tail = ", thrust::counting_iterator<long, thrust::use_default, thrust::use_default> > >"
    functions = ("fill<int*, int>", "fill<float*, float>", "app::scale<int>", "app::shift<int>")
    kernels = [f"static_kernel<{policy}, op_wrapper_t<long, {one}{tail}" for one in functions]
    alike = [[replace(slow, kernel=kernel)] * number for kernel, number in zip(kernels, (1, 1, 9, 12), strict=True)]
    many = ProgramResult([*alike[0], *alike[1], *alike[2], *alike[3], fast], result.about | {"findings": []})
    table = next(one for one in profile_output(many).blocks() if isinstance(one, PrintedTable))
    names = [row[0] for row in table.rows]
    assert len(names) == len(set(names)) == 5 and all(len(name) <= 40 for name in names)
    for word in ("fill<int*, int>", "fill<float*, float>", "scale<int>", "shift<int>"):
        assert sum(word in name for name in names) == 1


def test_same_advice_is_printed_once(file):
    result = ProgramResult.load(file)
    found = {"cause": "few warps", "location": "", "gain": 0.1, "upper_bound": 0.1, "advice": "launch more threads"}
    both = [found | {"kernel": label} for label in result.labels()]
    *_, advice = profile_output(ProgramResult(result.groups, result.about | {"findings": both})).blocks()
    assert advice == f"{', '.join(result.labels())}: try: launch more threads"


def test_longest_grid_of_many_is_explained(file):
    result = ProgramResult.load(file)
    one = result.groups[0]
    assert _kernels_to_explain(ProgramResult([one] * 40, result.about)) == [
        (ProgramResult([one] * 40, result.about).labels()[0], one)
    ]


def test_finding_that_saves_nothing_is_left_out():
    nothing, something = (
        SimpleNamespace(cause=cause, gain=None, upper_bound=bound, findings=[])
        for cause, bound in (("crowded slices of L2", 0.0), ("bound by latency", 0.4))
    )
    assert _top_finding([nothing]) is None
    assert _top_finding([nothing, something])["cause"] == "bound by latency"


@pytest.fixture(scope="module")
def other(folder, tmp_path_factory):
    """A profile of the same program with a slower clock of DRAM, of which only launches of one kernel are twice."""
    out = tmp_path_factory.mktemp("other") / "q.h5"
    traces = [*sorted(folder.glob("*.h5")), folder / "halve-5.h5"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memsim.api.profile.MOST", 3)
        memsim.profile_program(traces, GPU, quick=True, settings={"dram.clock_mhz": 700}).save(out)
    return out


def test_compare_reads_two_profiles(file, other):
    same = call("compare", file, file)
    assert same.exit_code == 0 and "speed-up of the second 1x" in same.stdout and "no significant" in same.stdout
    found = call("compare", file, other, "--json")
    document = json.loads(found.stdout)["comparisons"][0]
    assert document["cautions"] == ["the programs make 6 and 7 launches"]
    kernels = {one["kernel"]: one for one in document["kernels"]}
    assert kernels["halved"]["second"]["launches"] == 4 and kernels["added"]["speedup"] < 1
    times = [sum(one[which]["time_ms"] for one in kernels.values()) for which in ("first", "second")]
    assert document["speedup"] == pytest.approx(times[0] / times[1], rel=0.01)
    gate = call("compare", file, other, "--fail-if-slower", "1%")
    assert gate.exit_code == 1 and f"slower than {file}" in gate.output


def test_compare_and_plot_refuse_profile_among_other_results(file, folder, tmp_path):
    memsim.simulate(folder / "add-0.h5", GPU, trials=2, out=tmp_path / "one.h5")
    for command in ("compare", "plot"):
        refused = call(command, file, tmp_path / "one.h5")
        assert refused.exit_code == 2 and "is not a program's profile" in refused.output


@pytest.mark.slow
def test_plot_draws_kernels_and_cold_next_to_warm(file, other, tmp_path):
    drawn = call("plot", file, "-o", tmp_path, "--format", "svg")
    assert drawn.exit_code == 0, drawn.output
    assert "halved" in (tmp_path / "kernels.svg").read_text()
    assert "later launches" in (tmp_path / "cold-and-warm.svg").read_text()
    both = call("plot", file, other, "-o", tmp_path / "both", "--format", "svg")
    assert [path.name for path in (tmp_path / "both").iterdir()] == ["kernels.svg"] and both.exit_code == 0


@pytest.mark.slow
def test_report_writes_a_page_of_the_kernels(file, tmp_path):
    page = tmp_path / "page.html"
    written = call("report", file, "-o", page)
    assert written.exit_code == 0, written.output
    text = page.read_text()
    for number, name in enumerate(re.findall(r'<a href="#r\d">(\w+)</a></div>', text)):
        assert name in ("added", "halved") and f'id="r{number}"' in text
    assert "Cold and warm L2" in text and "Kernels by time" in text
    assert "no copies and waits" in text  # of a folder without launches.json


def test_page_and_table_have_one_top_finding(folder, tmp_path):
    found = memsim.profile_program(sorted(folder.glob("*.h5")), GPU)
    found.save(tmp_path / "p.h5")
    (one, *_) = found.about["findings"]
    why = json.loads(call("show", tmp_path / "p.h5", "-k", one["kernel"], "--why", "--json").stdout)
    assert one["cause"] in json.dumps(why)
    page = tmp_path / "page.html"
    assert call("report", tmp_path / "p.h5", "-o", page).exit_code == 0
    headings = re.findall(r"<li>\s*<h3>(.*?) <span", page.read_text())
    assert headings[0] == one["cause"]
    assert f"Try: {one['advice']}." in unescape(page.read_text()) and "prediction interval" in page.read_text()


def test_findings_of_older_files_have_new_keys(folder, tmp_path):
    found = memsim.profile_program(sorted(folder.glob("*.h5")), GPU, quick=True)
    new = {"kernel": "added", "cause": "bound by latency", "gain": None, "advice": ""}
    old = {name: value for name, value in new.items() if name != "advice"}
    found.about["findings"] = [old | {"place": "a.py:3", "bound": 0.5, "repair": ""}]
    found.save(tmp_path / "old.h5")
    (read,) = ProgramResult.load(tmp_path / "old.h5").about["findings"]
    assert read == new | {"location": "a.py:3", "upper_bound": 0.5, "replayed": ""}


def test_findings_describe_the_launch_of_the_table(folder):
    """Those of a launch after others, whose data are in L2; alone, a kernel may be bound by something else."""
    traces = sorted(folder.glob("*.h5"))
    found = memsim.profile_program(traces, GPU)
    for label, group in zip(found.labels(), found.groups, strict=True):
        causes = {one["cause"] for one in found.about["causes"][label]}
        assert causes == {str(one.cause) for one in find_bottlenecks(group.typical)}
        assert ("bound by latency" in causes) == (group.bound_by[0] == "latency")


@pytest.mark.parametrize(("after", "kept"), [(0, 0), (2, 2)])
def test_interrupt_keeps_finished_trials(folder, tmp_path, monkeypatch, after, kept):
    @contextmanager
    def phases(quiet):
        def stop(phase, done, every, note):
            if done == after:
                raise KeyboardInterrupt

        yield stop

    monkeypatch.setattr("memsim.cli.profile._phases", phases)
    out = tmp_path / "p.h5"
    done = call("profile", folder, "--gpu", GPU, "-o", out, "-j", "1")
    assert done.exit_code == 130
    if kept:
        assert f"memsim: interrupted: 2 trials kept in {out}" in done.stderr and "added" in done.stdout
        assert len(ProgramResult.load(out).time.values) == kept
    else:
        assert "memsim: interrupted; nothing was kept" in done.stderr and not out.exists()


def test_interrupted_capture_keeps_finished_traces(folder, tmp_path, monkeypatch):
    def stop(*arguments, out, **options):
        out.mkdir()
        for number in (0, 1):
            shutil.copy(folder / f"{('add', 'halve')[number]}-{number}.h5", out)
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("memsim.api.capture", stop)
    done = call("profile", "app.cu")
    assert done.exit_code == 130 and "kept 2 finished traces; memsim profile app.traces replays them" in done.stderr
    assert sorted(one.name for one in (tmp_path / "app.traces").iterdir()) == ["add-0.h5", "halve-1.h5"]
    again = call("profile", "app.cu")
    assert again.exit_code == 130 and "memsim profile app.traces-2 replays them" in again.stderr
    assert len(list((tmp_path / "app.traces-2").iterdir())) == 2


def test_output_that_exists_is_refused_before_anything_runs(folder, file):
    refused = call("profile", folder, "--gpu", GPU, "-o", file)
    assert refused.exit_code == 2 and "exists; give --force" in refused.output
    assert "replaying" not in refused.output


@pytest.mark.parametrize(
    ("given", "program", "its_own"),
    [
        (["--gpu", "a100", "./app", "-n", "3"], ["--gpu", "a100", "./app"], ["-n", "3"]),
        (["script.py", "--gpu", "4"], ["script.py"], ["--gpu", "4"]),
        (["a.cu", "b.cu", "-D", "N=4", "7", "-q"], ["a.cu", "b.cu", "-D", "N=4"], ["7", "-q"]),
        (["a.cu", "--quick"], ["a.cu", "--quick"], None),
        (["a.cu", "-q", "--", "-q"], ["a.cu", "-q"], ["-q"]),
    ],
)
def test_what_stands_after_the_program_is_its_own(given, program, its_own):
    single = typer.Typer()
    single.command(cls=ProfilesProgram)(profile)
    command = typer.main.get_command(single)
    place = command.find_separator(list(given))
    assert (given if place is None else given[: place.start]) == program
    assert (None if place is None else given[place.stop :]) == its_own


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--gpu", ""], "--gpu is empty; give a preset"),
        (["--gpu", "rtx4091"], "rtx4091: name is not in the library; did you mean"),
        (["--blocks", "-4"], "-4 is not understood; give FIRST:LAST"),
        (["--blocks", "7:3"], "7:3 names no blocks"),
    ],
)
def test_impossible_options_end_before_program_runs(tmp_path, monkeypatch, options, problem):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("memsim.api.capture", lambda *_, **__: pytest.fail("the program ran"))
    refused = call("profile", *options, "app.cu")
    assert refused.exit_code == 2 and problem in refused.stderr and refused.stderr.count("\n") == 1


def test_files_of_memsim_are_no_programs(folder, file):
    for path, reads in ((file, "memsim show"), (next(folder.glob("*.h5")), "memsim run")):
        refused = call("profile", path)
        assert refused.exit_code == 2 and reads in refused.stderr and refused.stderr.count("\n") == 1
