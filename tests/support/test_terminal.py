"""On a terminal tables fit it and a little is in colour; a pipe gets all, plain."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

from memsim.analysis.table import aligned
from memsim.cli.colour import painted
from memsim.support import terminal

ESCAPE = re.compile(r"\x1b\[\d*m")
TEXT = "indices[row_ptr[row] + lane]"


class _Terminal:
    @staticmethod
    def isatty() -> bool:
        return True


@pytest.fixture
def on_terminal(monkeypatch):
    """Standard output as a terminal of as many columns as are asked for."""

    def wide(columns: int) -> None:
        monkeypatch.setattr(terminal.sys, "stdout", _Terminal)
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.delenv("NO_COLOR", raising=False)

    return wide


def _shown(*arguments: str, **environment: str) -> str:
    """What a command prints on a real terminal."""
    screen, end = pty.openpty()
    known = {**os.environ, "TERM": "xterm", **environment}
    with os.fdopen(screen, "rb") as out:
        running = subprocess.Popen([sys.executable, "-m", "memsim", *arguments], stdout=end, env=known)
        os.close(end)
        pieces = []
        try:
            while piece := os.read(out.fileno(), 1 << 16):
                pieces.append(piece)
        except OSError:  # Linux tells the end of a terminal so
            pass
        assert running.wait() == 0
    return b"".join(pieces).decode().replace("\r\n", "\n")


@pytest.mark.slow
def test_command_fits_its_terminal_and_pipe_gets_all():
    piped = subprocess.run(
        [sys.executable, "-m", "memsim", "workloads"], capture_output=True, text=True, check=True,
        env={**os.environ, "COLUMNS": "60"},
    ).stdout  # fmt: skip
    coloured, plain = _shown("workloads", COLUMNS="60", NO_COLOR=""), _shown("workloads", COLUMNS="60", NO_COLOR="1")
    assert ESCAPE.search(coloured) and not ESCAPE.search(plain) and ESCAPE.sub("", coloured) == plain
    assert max(map(len, plain.splitlines())) <= 60 < max(map(len, piped.splitlines()))
    assert "…" in plain and "…" not in piped and not ESCAPE.search(piped)
    assert len(plain.splitlines()) == len(piped.splitlines())


def test_texts_are_shortened_longest_first_numbers_never(on_terminal):
    headers, line, right = ["line", "load", "L1 %"], ["spmv.py:17", TEXT, "87.5±0.1"], [False, False, True]
    on_terminal(50)
    assert aligned(headers, [line], right).splitlines()[-1] == f"spmv.py:17  {TEXT}  87.5±0.1"
    on_terminal(44)
    shown = aligned(headers, [line], right).splitlines()
    assert shown[-1] == "spmv.py:17  indices[row…w] + lane]  87.5±0.1" and {len(each) for each in shown} == {44}


def test_lines_are_cut_where_numbers_are_too_wide(on_terminal):
    on_terminal(40)
    shown = aligned(["load", *"abcdef"], [[TEXT, *["1,234,567"] * 6]], [False, *[True] * 6]).splitlines()
    assert {len(line) for line in shown} == {40} and all(line.endswith("…") for line in shown)


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colour_is_refused(on_terminal, monkeypatch, name, value):
    on_terminal(80)
    text = f"predicted kernel time 1 ms\n\n{aligned(['a'], [['b']], [False])}\nnote: few"
    shown = painted(text)
    assert len(ESCAPE.findall(shown)) == 8 and ESCAPE.sub("", shown) == text  # a start and an end of four lines
    monkeypatch.setenv(name, value)
    assert painted(text) == text
