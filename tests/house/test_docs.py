"""What the pages say works: the README's Python and commands run (on a smaller matrix), links lead somewhere."""

from __future__ import annotations

import re
import shlex
from configparser import ConfigParser
from pathlib import Path

import numpy as np
import pytest
import synthetic
import typer
from compilers import needs_gxx
from places import ROOT
from typer.testing import CliRunner

from memsim import Launch
from memsim.analysis.result import Result
from memsim.cli import app
from memsim.gpu.presets import provenance
from memsim.report.text import counter_rows, ratio_rows
from memsim.sources.describe import Recorder, load_workload

TEXT = (ROOT / "README.md").read_text()
PAGES = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted(ROOT.glob("docs/**/*.md")),
]
MANUAL = sorted(ROOT.glob("docs/**/*.md"))
PAGES += sorted(ROOT.glob("experiments/**/README.md"))


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.slow
def test_the_python_runs(tmp_path, monkeypatch, capsys):
    """The blocks are one session: the kernel of the tutorial is the one that is simulated."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "blur.py"
    file.write_text("\n".join(_blocks("python")))
    exec(compile(file.read_text(), str(file), "exec"), {"__name__": "readme"})
    assert (tmp_path / "blur-result.h5").exists() and "a[i + 1]" in capsys.readouterr().out


def test_the_tutorials_commands_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("blur.py").write_text(_blocks("python")[0])
    for command in re.findall(r"`memsim (trace blur[^`]*|run blur[^`]*)`", TEXT):
        fewer = ["--trials", "2"] if command.startswith("run") else []
        done = CliRunner().invoke(app, [*shlex.split(command), *fewer])
        assert done.exit_code == 0, done.output


COMMANDS = re.findall(r"memsim [^&\n]+", "\n".join(_blocks("sh")))
DESCRIBED, CAPTURED = ["trace", "info", "run", "show", "plot", "gpus"], ["capture", "run"]


def _failures(commands):
    """What each of the commands that end badly printed, by command."""
    fewer = {
        "rows=86016": "rows=2048", "--seed 1 -j 2": "--trials 2", "--gpu tesla-v100": "--trials 2",
        "traces/cuda/spmv.cu -o t.h5": f"{ROOT}/traces/cuda/spmv.cu -o t.h5 -- 2048 16",
    }  # fmt: skip
    failures = {}
    for command in commands:
        for long, short in fewer.items():
            command = command.replace(long, short)
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        if done.exit_code:
            failures[command] = done.output
    return failures


@pytest.mark.slow
def test_the_commands_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert [command.split()[1] for command in COMMANDS] == DESCRIBED + CAPTURED
    assert not _failures(COMMANDS[: len(DESCRIBED)])


@pytest.mark.slow
@needs_gxx
def test_the_capture_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not _failures(COMMANDS[len(DESCRIBED) :])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_are_understood(page):
    """Every command in a block of shell: its name, its options, and the shape of what they are given."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    parts = (part.strip() for line in lines for part in re.split(r"&&|[|>]", line.split(" #")[0]))
    for part in parts:
        if part.startswith("memsim "):
            command, arguments = typer.main.get_command(app), shlex.split(part)[1:]
            while hasattr(command, "commands"):
                _, command, arguments = command.resolve_command(command.context_class(command), arguments)
            assert command.make_context(command.name, arguments).params


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    """To a file, or to a heading of one."""
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if "://" not in target:
            name, _, heading = target.partition("#")
            there = page.parent / name if name else page
            assert there.exists(), target
            assert not heading or heading in _anchors(there), target


def _anchors(page: Path) -> set[str]:
    """The names under which headings can be linked to."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


LONGEST = 150  # characters of a line of prose: it fits a screen


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_of_prose_fit_a_screen(page):
    outside = "".join(page.read_text().split("```")[::2])
    long = [line for line in outside.splitlines() if len(line) > LONGEST and not re.match(r"\s*[|<!]", line)]
    assert not long


def test_deviations_that_are_cited_exist():
    known = set(re.findall(r"^- \*\*(D\d+)\*\*", (ROOT / "ARCHITECTURE.md").read_text(), re.MULTILINE))
    assert len(known) > 8
    for page in PAGES:
        assert set(re.findall(r"\bdeviation (D\d+)\b", page.read_text())) <= known, page


def test_extras_that_are_named_exist():
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    files = [*PAGES, *ROOT.glob("memsim/**/*.py"), *ROOT.glob("tests/**/*.py")]
    texts = [text for file in files for text in re.findall(r"memsim\[([a-z][a-z,-]*)\]", file.read_text())]
    named = {one for text in texts for one in text.split(",")}
    assert {"cuda", "machine-code"} <= named <= set(setup["options.extras_require"])


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", "\n".join(_blocks("sh")), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


@pytest.mark.slow
def test_the_page_of_studies_runs(tmp_path, monkeypatch):
    """Its study, its commands, then its Python, in one folder."""
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "how_to" / "studies.md").read_text()
    [study] = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    Path("study.toml").write_text(study)
    assert _run(page) == ["sweep", "sweep", "sweep", "show", "show", "plot", "sweep"]
    assert Path("figures", "heat-map.png").exists() and Path("again.h5").exists()


@pytest.mark.slow
def test_the_page_of_reports_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commands = _run((ROOT / "docs" / "how_to" / "report.md").read_text())
    assert commands == ["trace", "run", "report", "trace", "run", "report", "plot"]
    assert "Beside scalar" in Path("both.html").read_text() and Path("figures", "loads.pdf").exists()


def _saved(page: str, *names: str) -> None:
    """Save a page's Python blocks as the files that it calls them."""
    for name, text in zip(names, re.findall(r"```python\n(.*?)```", page, re.DOTALL), strict=True):
        Path(name).write_text(text)


@pytest.mark.slow
def test_the_described_kernels_compute_what_they_say(tmp_path, monkeypatch):
    """The page's commands run; attention equals numpy's, and every key stands in the slot that was found for it."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "how_to" / "describe.md").read_text()
    _saved(page, "probe.py", "attention.py")
    for command in "".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL)).splitlines():
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == 0, done.output
    attention = _computed("attention.py", {"n": 128})
    np.testing.assert_allclose(attention.arguments["out"], attention.expected()["out"], rtol=1e-4, atol=1e-5)
    table = _computed("probe.py", {"n": 1024, "load": 0.9})
    slots, found, keys = (table.arguments[name] for name in ("slots", "found", "keys"))
    assert (slots[found] == keys).all() and (slots != -1).sum() == 1024


def _computed(file: str, parameters: dict) -> Launch:
    """A described kernel's launch, with what all its blocks leave in the arrays."""
    workload = load_workload(file)
    launch = workload.build(workload.parameters(parameters))
    Recorder(workload, launch).run(np.arange(launch.shape.n_blocks))
    return launch


def test_the_page_of_python_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    _saved((ROOT / "docs" / "how_to" / "from_python.md").read_text(), "page.py")
    exec(compile(Path("page.py").read_text(), "page.py", "exec"), {"__name__": "page"})
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines[:3:2]] == ["ms", "cycles"]
    assert lines[3] == "axpy on a100: 1 finding of weight, most in excess first"


def test_the_page_of_gpus_runs(tmp_path, monkeypatch):
    """The short file's latency is the one that the page works out."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "how_to" / "your_gpu.md").read_text()
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    Path("mine.toml").write_text(text)
    found = provenance("mine.toml")["l2.hit_latency_cycles"]
    assert (found.value, found.status) == (263, "assumed") and "are 263" in page


def test_every_page_is_in_the_manual():
    """In the index, or in the page of its folder."""
    nav = (ROOT / "mkdocs.yml").read_text()
    for page in MANUAL:
        assert str(page.relative_to(ROOT / "docs")) in nav, page


@pytest.mark.parametrize("page", MANUAL, ids=lambda page: str(page.relative_to(ROOT / "docs")))
def test_a_page_begins_with_a_paragraph_of_what_it_is(page):
    """Before any command or table, so that a reader knows within a few lines whether the page is for them."""
    title, first, *_ = re.split(r"\n\n", page.read_text())
    assert title.startswith("# ") and re.match(r"[A-Za-z`]", first) and not first.startswith("```")
    assert 60 < len(first) < 700


def test_every_column_is_explained(tmp_path):
    """Of the tables and of CSV, as they are printed."""
    page = (ROOT / "docs" / "reference" / "numbers.md").read_text()
    result = Result(synthetic.spmv(4))
    named = {*result.loads.headers, *result.stores.headers, *counter_rows(result)[0], *ratio_rows(result)[0]}
    missing = {name for name in named if name and f"`{name}" not in page}
    columns = result.loads.to_csv().splitlines()[0].split(",")
    missing |= {name for name in columns if f"`{re.sub('_(low|high)$', '', name)}`" not in page}
    assert not missing


def _run(page: str) -> list[str]:
    """Run a page's commands, then its Python, in this folder; the commands' names."""
    commands = "".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL)).splitlines()
    for command in commands:
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == 0, done.output
    [python] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(python, "page.md", "exec"), {"__name__": "page"})
    return [command.split()[1] for command in commands]
