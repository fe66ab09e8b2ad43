"""Runs the commands of a page as a reader would, and compares the output that the page shows with the real one.

``python tests/house/doc_runner.py PAGE...`` runs pages and writes new numbers into the lines of output that they show.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from typer.testing import CliRunner

from memsim.cli import app

_BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
_NAMED = re.compile(r"Save this as\s+`([\w.]+)`[^`]*\Z")
_NOT_RUN = ("pip ", "make ", "git ", "cd ", "ncu ")  # what installs, or needs a GPU


@dataclass
class Page:
    """A page's commands with their output, in order, and the lines of output that the page shows."""

    ran: list[str] = field(default_factory=list)
    shown: list[tuple[str, str]] = field(default_factory=list)  # a block of output, what was printed

    def missing(self) -> list[str]:
        """Lines that a page shows and no command printed, whatever their numbers."""
        return [line for block, printed in self.shown for line in _differing(block, printed)]


def run(text: str) -> Page:
    """Run a page's `sh` blocks in the current folder, and save the files that it asks to save.

    Raises:
        AssertionError: a command failed, or is none that can be run here.
    """
    page, printed, end = Page(), "", 0
    for block in _BLOCK.finditer(text):
        language, content = block[1], block[2]
        if name := _NAMED.search(text[end : block.start()]):
            Path(name[1]).write_text(content)
        elif language == "sh":
            printed = "".join(_output(page, line) for line in content.replace("\\\n", " ").splitlines())
        elif language == "text" and page.ran:
            page.shown.append((content, printed))
        end = block.end()
    return page


def _output(page: Page, line: str) -> str:
    printed = ""
    for command in re.split(r"&&", line.split(" #")[0]):
        if not command.strip() or command.strip().startswith(_NOT_RUN):
            continue
        words = shlex.split(command)
        assert words[0] == "memsim", f"{command}: this test runs memsim's commands only"
        done = CliRunner().invoke(app, words[1:], env={"COLUMNS": "120"})
        assert done.exit_code == 0, f"{command}: {done.output} {done.exception or ''}"
        page.ran.append(words[1])
        printed += done.output
    return printed


def masked(line: str) -> str:
    """A line without what may change from version to version: digits, and the width of columns."""
    return re.sub(r"\s+", " ", re.sub(r"[\d,.]*\d", "#", line)).strip()


def _differing(block: str, printed: str) -> list[str]:
    there = {masked(line) for line in printed.splitlines()}
    return [line for line in block.splitlines() if line.strip() not in ("", "...") and masked(line) not in there]


def updated(text: str, page: Page) -> str:
    """The page with the numbers of this run: each line of output is replaced by the one that has the same words."""
    for block, printed in page.shown:
        real = printed.splitlines()
        lines = []
        for line in block.splitlines():
            at = next((k for k, other in enumerate(real) if line.strip() and masked(other) == masked(line)), None)
            lines.append(line if at is None else real.pop(at))
        text = text.replace(block, "\n".join(lines) + "\n")
    return text


if __name__ == "__main__":
    for path in [Path(name).resolve() for name in sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            page = run(path.read_text())
            path.write_text(updated(path.read_text(), page))
            print(path, page.ran, *page.missing(), sep="\n  ")
