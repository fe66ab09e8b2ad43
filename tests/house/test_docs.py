"""What the pages say works: their commands run, their links lead somewhere, and the manual is complete."""

from __future__ import annotations

import re
import shlex
import shutil
from configparser import ConfigParser
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import doc_runner
import numpy as np
import pytest
import synthetic
import typer
from places import ROOT
from typer.testing import CliRunner

import memsim
from memsim import Launch
from memsim.analysis.result import RunResult
from memsim.cli import app
from memsim.gpu import config
from memsim.gpu.presets import provenance
from memsim.report.text import counter_rows, ratio_rows
from memsim.sources.describe import Recorder, load_workload
from memsim.sources.sass.opcodes import OPCODES

MOST_WORDS = 16_000


def _script(path: str):
    """A script of the repository, as a module."""
    place = spec_from_file_location(Path(path).stem, ROOT / path)
    module = module_from_spec(place)
    place.loader.exec_module(module)
    return module


generate, collect, render = map(_script, ("docs/generate.py", "changelog.d/collect.py", "docs/examples/render.py"))

_TO_BE_MADE = {"traces/scale.py"}  # files that a page asks the reader to make
_FAMILIES = {"import", "export", "gpus", "cache"}  # commands that consist of others

FIRST_PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")]
MANUAL = sorted(ROOT.glob("docs/**/*.md"))
ROOMS = sorted(ROOT.glob("memsim/*/README.md"))
PAGES = [*FIRST_PAGES, *MANUAL, *ROOMS, *sorted(ROOT.glob("experiments/**/README.md"))]
RUN = [ROOT / "README.md", *sorted(ROOT.glob("docs/tutorials/*.md"))]


@cache
def _generated() -> dict[str, str]:
    return generate.pages()


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN, ids=_name)
def test_commands_run_and_print_what_the_page_shows(page, tmp_path, monkeypatch):
    """The README and the tutorials, as a newcomer follows them."""
    monkeypatch.chdir(tmp_path)
    done = doc_runner.run(page.read_text())
    assert len(done.ran) >= 3 and done.shown
    assert not done.missing(), f"python tests/house/doc_runner.py {_name(page)} shows what is printed now"


@pytest.mark.slow
@pytest.mark.parametrize("name", render.ORDER)
def test_examples_print_what_their_pages_show(name):
    if name == "cuda_cpp" and shutil.which("nvcc") is None:
        pytest.skip("nvcc is not on PATH")
    now, shown = render.page(name, render.output(name)), (ROOT / f"docs/examples/{name}.md").read_text()
    assert [doc_runner.masked(line) for line in now.splitlines()] == [
        doc_runner.masked(line) for line in shown.splitlines()
    ], f"python docs/examples/render.py {name}"


def test_readme_is_short():
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 100 and len(text.split()) <= 700
    assert "ERR_NVGPUCTRPERM" in text  # the message that users search for when they may not read counters


def test_version_is_stated_once():
    """CITATION.cff repeats it, and the changelog has its section."""
    assert f"\nversion: {memsim.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {memsim.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_fragments_become_a_section(tmp_path):
    (tmp_path / "b.fixed.md").write_text("One fix.\n")
    (tmp_path / "c.fixed.md").write_text("- Two fixes,\n  of which this is one.\n- The other.\n")
    (tmp_path / "a.added.md").write_text("One thing,\nwith two lines.\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\nText.\n\n## 0.1.0\n\nOld.\n")
    collect.collect("0.2.0", tmp_path / "CHANGELOG.md", tmp_path)
    text = (tmp_path / "CHANGELOG.md").read_text()
    order = [
        "Text.",
        "## 0.2.0",
        "### Added",
        "- One thing,\n  with two lines.",
        "### Fixed",
        "- One fix.\n- Two fixes,\n  of which this is one.\n- The other.\n",
        "## 0.1.0",
        "Old.",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places) and not list(tmp_path.glob("*.fixed.md"))


def test_late_fragments_join_their_version(tmp_path):
    (tmp_path / "c.added.md").write_text("Late.\n")
    (tmp_path / "d.fixed.md").write_text("Late fix.\n")
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## 1.0.0 (today)\n\n### Added\n\n- First.\n\n## 0.1.0\n\nOld.\n"
    )
    collect.collect("1.0.0", tmp_path / "CHANGELOG.md", tmp_path)
    text = (tmp_path / "CHANGELOG.md").read_text()
    places = [text.index(part) for part in ("1.0.0", "Added", "Late.", "First.", "Fixed", "Late fix.", "0.1.0", "Old.")]
    assert places == sorted(places) and text.count("1.0.0") == 1 and not list(tmp_path.glob("*.added.md"))


def test_workflow_runs_what_developers_run():
    workflow = (ROOT / ".github/workflows/check.yml").read_text()
    setup = (ROOT / "setup.cfg").read_text()
    assert "run: .ci/run" in workflow
    for version in re.findall(r"Python :: (3\.\d+)", setup):
        assert f'"{version}"' in workflow


def test_architecture_is_a_map():
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 200


def _words(text: str) -> int:
    prose = re.sub(r"```.*?```|^\|[^\n]*$", "", text, flags=re.DOTALL | re.MULTILINE)
    return sum(re.search("[A-Za-z]", word) is not None for word in prose.split())


def test_hand_written_pages_are_few_words():
    """Words of prose: outside code and tables, without rendered examples and the log of measurements."""
    pages = [page for page in MANUAL if not {"internals", "examples"} & set(page.parts)]
    words = {_name(page): _words(page.read_text()) for page in pages}
    assert sum(words.values()) < MOST_WORDS, words


@pytest.mark.parametrize("page", PAGES, ids=_name)
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


@pytest.mark.parametrize("page", PAGES, ids=_name)
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


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_lines_of_prose_fit_a_screen(page):
    outside = "".join(page.read_text().split("```")[::2])
    long = [line for line in outside.splitlines() if len(line) > LONGEST and not re.match(r"\s*[|<!]", line)]
    assert not long


def test_deviations_that_are_cited_exist():
    known = set(re.findall(r"^- \*\*(D\d+)\*\*", (ROOT / "docs/explanation/limits.md").read_text(), re.MULTILINE))
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


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_make_targets_exist(page):
    makefile = (ROOT / "Makefile").read_text()
    shell = "\n".join(re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL))
    targets = re.findall(r"`make ([a-z]+)`", page.read_text()) + re.findall(r"^make ([a-z]+)", shell, re.MULTILINE)
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets), targets


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
    assert "Compared with scalar" in Path("both.html").read_text() and Path("figures", "loads.pdf").exists()


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
    assert lines[3] == "axpy on a100: 1 finding, largest attributable share first"


def test_the_page_of_gpus_runs(tmp_path, monkeypatch):
    """The short file's latency is the one that the page works out."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "how_to" / "your_gpu.md").read_text()
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    Path("mine.toml").write_text(text)
    found = provenance("mine.toml")["l2.hit_latency_cycles"]
    assert (found.value, found.status) == (263, "assumed") and "are 263" in page


def test_the_site_has_every_page():
    """Hand-written and generated, and no other."""
    there = {str(page.relative_to(ROOT / "docs")) for page in MANUAL} | set(_generated())
    nav = (ROOT / "mkdocs.yml").read_text().split("\nnav:\n")[1]
    assert set(re.findall(r"[\w/]+\.md", nav)) == there


def test_the_reference_has_every_field_and_command():
    """With a unit where its name has one, and a meaning."""
    pages = _generated()
    rows = [line.split(" | ") for line in pages["reference/gpu_fields.md"].splitlines() if line.startswith("| `")]
    rows = {row[0].strip("| `"): row[1:] for row in rows}
    assert set(config.fields()) <= set(rows)
    for field in config.fields():
        unit, _, _, meaning = rows[field]
        assert len(meaning.split()) > 1, field
        assert unit.strip() or not re.search(r"_(bytes|cycles|mhz|us|ns|gb_per_s)$", field), field
    commands = typer.main.get_command(app).commands
    for name in {"run", "show", "capture"} | set(commands) - _FAMILIES:
        assert f"\n## memsim {name}\n" in pages["reference/commands.md"], name
        for option in (one for one in commands[name].params if one.opts[0].startswith("--") and not one.hidden):
            assert option.opts[0] in pages["reference/commands.md"], option.opts
    assert "::: memsim.api.replay.simulate\n" in pages["reference/python.md"]
    rows = [line.split(" | ") for line in pages["reference/machine_code.md"].splitlines() if line.startswith("| `")]
    assert {row[0].strip("| `") for row in rows} == set(OPCODES) and all(row[3].strip(" |") for row in rows)


@pytest.mark.parametrize("page", [*FIRST_PAGES[:3], *MANUAL], ids=_name)
def test_files_of_the_checkout_that_are_named_exist(page):
    """Paths from the top of the checkout; NAME stands for what the reader adds."""
    named = re.findall(
        r"`((?:memsim|tests|experiments|docs|configs|traces|changelog\.d)/[\w/.]+\.\w+)", page.read_text()
    )
    missing = [name for name in named if "NAME" not in name and "VERSION" not in name and not (ROOT / name).exists()]
    assert set(missing) <= _TO_BE_MADE


@pytest.mark.parametrize("readme", ROOMS, ids=_name)
def test_files_that_a_room_names_exist(readme):
    named = re.findall(r"(?<![\w/])([\w/]+\.py)\b", readme.read_text())
    assert named and all((readme.parent / name).exists() for name in named)


def test_every_room_has_a_readme():
    rooms = {path.parent.name for path in ROOT.glob("memsim/*/*.py")}
    assert {page.parent.name for page in ROOMS} == rooms


@pytest.mark.parametrize("page", MANUAL, ids=_name)
def test_page_begins_with_paragraph_of_what_it_is(page):
    """Before any command or table, so that a reader knows within a few lines whether the page is for them."""
    title, first, *_ = re.split(r"\n\n", page.read_text())
    assert title.startswith("# ") and re.match(r"[A-Za-z`]", first) and not first.startswith("```")
    assert 60 < len(first) < 700


def test_every_column_is_explained(tmp_path):
    """Of the tables and of CSV, as they are printed."""
    page = (ROOT / "docs" / "reference" / "numbers.md").read_text()
    result = RunResult(synthetic.spmv(4))
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
