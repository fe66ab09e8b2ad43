"""Commands that print tables print them in every format, and the formats agree."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil

import pytest
from typer.testing import CliRunner

from memsim.cli import app
from memsim.report.formats import chosen_format, format_names, rendered
from memsim.report.output import CommandOutput, PrintedTable
from memsim.support.errors import InputError

# They print names of files, what nvcc prints, one verdict per candidate as it is known, or a protocol.
PRINT_NO_TABLE = {"plot", "report", "nvcc", "calibrate", "judge", "mcp"}


def _run(*arguments) -> str:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("formats")
    _run("trace", "saxpy", "-p", "n=512", "-o", folder / "t.h5", "-q")
    _run("run", folder / "t.h5", "--trials", 1, "-j", 1, "-o", folder / "a.h5", "-q")
    _run("run", folder / "t.h5", "--trials", 1, "-j", 1, "--set", "l1.ways=2", "-o", folder / "b.h5", "-q")
    (folder / "traces").mkdir()
    shutil.copy(folder / "t.h5", folder / "traces")
    _run("check", "--update", folder / "traces", "-b", folder / "baseline.toml", "--gpu", "a100", "-j", 1, "-q")
    (folder / "study.toml").write_text(STUDY)
    return folder


STUDY = """
gpus = ["a100"]
trials = 1
[kernels.saxpy]
trace = "t.h5"
[vary]
"sm.count" = [2, 4]
"""


COMMANDS = {
    "gpus": ("gpus",),
    "a GPU": ("gpus", "a100"),
    "workloads": ("workloads",),
    "a workload": ("workloads", "spmv"),
    "cache": ("cache", "list"),
    "trace": ("info", "t.h5"),
    "run": ("run", "t.h5", "--trials", "1", "-j", "1", "--quick"),
    "result": ("show", "a.h5"),
    "findings": ("show", "a.h5", "--why", "--quick"),
    "profiler": ("show", "a.h5", "--ncu"),
    "models": ("estimate", "t.h5"),
    "capacity": ("capacity", "t.h5", "--trials", "0"),
    "comparison": ("compare", "a.h5", "b.h5"),
    "new trace": ("trace", "saxpy", "-p", "n=512", "-o", "new.h5", "--force"),
    "study": ("sweep", "study.toml", "-j", "1"),
    "versions": ("explore", "saxpy", "-p", "n=512", "--vary", "block=128,256", "--keep", "0", "-j", "1"),
    "baseline": ("check", "-b", "baseline.toml", "-j", "1", "--no-github"),
}

LONGEST = ("gpus", "workloads", "models", "run", "study", "versions", "baseline")


def _in(files, case) -> list[object]:
    return [files / one if re.search(r"\.(h5|toml)$", one) else one for one in COMMANDS[case]]


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow if case in LONGEST else ()) for case in COMMANDS]
)
def test_every_format_of_a_command(files, case):
    arguments = _in(files, case)
    text, values, table, markdown = (_run(*arguments, "--format", name) for name in ("text", "json", "csv", "md"))
    assert case in ("run", "cache", "study") or text == _run(*arguments)  # files come and go; seconds
    document = json.loads(values)
    rows = list(csv.DictReader(io.StringIO(table)))
    assert document and (rows or case == "findings")
    if isinstance(document, list):
        assert [set(row) for row in document] == [set(row) for row in rows]
    _check_tables(markdown, text)


def _check_tables(markdown: str, text: str) -> None:
    """As many tables as in the text, every line of one with as many cells as its header."""
    lines, tables = markdown.split("\n"), 0
    for number, line in enumerate(lines):
        if re.fullmatch(r"\|( -+:? \|)+", line):
            tables, at = tables + 1, number - 1
            while at < len(lines) and lines[at].startswith("| "):
                assert len(re.findall(r"(?<!\\)\|", lines[at])) == line.count("|")
                at += 1
    assert tables == len(re.findall(r"^-+(  +-+)*$", text, re.MULTILINE))


@pytest.mark.parametrize("case", ["result", "models", "capacity", "comparison"])
def test_json_is_short_for_its_format(files, case):
    arguments = _in(files, case)
    assert _run(*arguments, "--json") == _run(*arguments, "--format", "json")


@pytest.mark.parametrize("case", ["result", "capacity"])
def test_csv_is_short_for_its_format(files, case):
    assert _run(*_in(files, case), "--csv") == _run(*_in(files, case), "--format", "csv")


def test_csv_keeps_numbers_unrounded(files):
    loads = json.loads(_run("show", files / "a.h5", "--format", "json", "--quick"))["loads"]
    rows = csv.DictReader(io.StringIO(_run("show", files / "a.h5", "--format", "csv")))
    assert [float(row["latency"]) for row in rows] == [load["latency"]["mean"] for load in loads]


def test_quiet_leaves_data(files):
    quiet = ("capacity", files / "t.h5", "--trials", 0, "-q", "--format")
    assert [bool(_run(*quiet, name)) for name in ("text", "md", "csv", "json")] == [False, False, True, True]


@pytest.mark.parametrize(
    ("given", "words"), [(("xml",), "give one of text, csv, json, md"), (("md", True), "exclude each other")]
)
def test_wrong_formats_are_refused(given, words):
    with pytest.raises(InputError, match=words):
        chosen_format(*given)


def test_every_other_command_has_the_option():
    named = {one.callback.__name__: one.callback for one in app.registered_commands if one.callback is not None}
    lacking = {name for name, of in named.items() if "format" not in of.__annotations__}
    assert lacking == PRINT_NO_TABLE - {"plot"}  # plot has its own --format, that of figures


def test_markdown_shows_special_characters():
    table = PrintedTable(["load", "%"], [["a[i] | b_c", "5"]], [False, True], "all *", "x < y")
    output = CommandOutput(lambda: ["a_b\nc", table, "1. x:\n   deeper"], lambda: ())
    assert rendered(output, "md") == (
        "a\\_b  \nc\n\n**all \\***\n\n| load | % |\n| --- | ---: |\n| a\\[i\\] \\| b\\_c | 5 |\n\nx \\< y\n\n"
        "```text\n1. x:\n   deeper\n```"
    )


def test_a_missing_value_is_empty_or_null():
    output = CommandOutput(lambda: [], lambda: [{"a": float("nan"), "b": 1.5}])
    assert rendered(output, "csv") == "a,b\n,1.5" and json.loads(rendered(output, "json")) == [{"a": None, "b": 1.5}]


def test_each_format_is_one_file():
    assert format_names() == ["text", "csv", "json", "md"]
