"""What docs/models says works: its commands run, its Python gives what is printed, its links lead somewhere."""

from __future__ import annotations

import doctest
import re
import shlex

import pytest
from places import ROOT
from typer.testing import CliRunner

from memsim.cli import app

FOLDER = ROOT / "docs" / "explanation" / "models"
PAGES = sorted(page.name for page in FOLDER.glob("*.md"))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_does_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (FOLDER / page).read_text()
    for command in re.findall(r"^memsim .*", "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)), re.MULTILINE):
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == 0, done.output
    assert doctest.testfile(str(FOLDER / page), module_relative=False).failed == 0
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (FOLDER / target).exists(), target


def test_every_page_has_an_example():
    assert PAGES == ["README.md", "cumapz.md", "mwp_cwp.md", "occupancy.md"]
    for page in PAGES[1:]:
        text = (FOLDER / page).read_text()
        assert ">>> " in text and "## Example" in text
