"""What docs/how_to/import.md says works: its session of commands and its Python run."""

import re
import shlex

import pytest
from places import ROOT
from typer.testing import CliRunner

from memsim.cli import app
from memsim.trace.reader import Trace

TEXT = (ROOT / "docs" / "how_to" / "import.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.slow
def test_the_session_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (commands,) = blocks("sh")
    assert commands.count("memsim ") == 5
    for command in commands.splitlines():
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == 0, done.output
    trace = Trace.open("imported/kernel-1.h5")
    assert "0x0120 LDG.E" in {op.text for op in trace.ops} and trace.arrays[0].name == "copy1"
    for python in blocks("python"):
        exec(compile(python, "import.md", "exec"), {})
    assert f"csr {trace.n_blocks} ['0x0100 LDG.E'" in capsys.readouterr().out


def test_every_command_of_the_table_exists():
    for command in re.findall(r"`memsim (import \w+|export \w+)", TEXT):
        assert CliRunner().invoke(app, [*command.split(), "--help"]).exit_code == 0
