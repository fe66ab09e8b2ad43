"""What the studies' pages say works: their commands run, one after the other in one folder."""

from __future__ import annotations

import re
import shlex

import pytest
from places import ROOT
from typer.testing import CliRunner

from memsim.cli import app

PAGES = ("capacity.md", "compare.md", "sensitivity.md")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_pages_commands_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "how_to" / page).read_text()
    (tmp_path / "study.toml").write_text("\n".join(re.findall(r"```toml\n(.*?)```", text, re.DOTALL)))
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    commands = re.findall(r"^memsim .*", "\n".join(blocks).replace("\\\n", " "), re.MULTILINE)
    assert commands
    for command in commands:
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == 0, (command, done.output, done.exception)
