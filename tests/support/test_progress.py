"""What commands show of their progress: lines in a pipe, bars on a terminal, nothing when hidden."""

from __future__ import annotations

import io
import re
import time

import pytest

from memsim.support import progress
from memsim.support.progress import annotate, bar, phase


class Stream(io.StringIO):
    """Standard error, a terminal or not."""

    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


def _stream(monkeypatch, terminal):
    """What the test writes to from here on, with little patience."""
    found = Stream(terminal)
    monkeypatch.setattr("sys.stderr", found)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.05)
    monkeypatch.setattr(progress, "_TICK", 0.02)
    return found


def test_a_line_per_long_phase_in_a_pipe(monkeypatch):
    stream = _stream(monkeypatch, False)
    with bar("trials", name="replaying") as advance:
        advance(0, 8)
        with phase("coalescing", "rows", 1000) as coalesced:
            coalesced(250, 1000)
            time.sleep(0.15)
        with phase("laying out"):
            pass  # short: no line
        advance(2, 8)
        time.sleep(0.25)
    first, second = stream.getvalue().splitlines()
    assert re.fullmatch(r"coalescing: 250 of 1,000 rows after 0 s, about \d+ s left", first)
    assert re.fullmatch(r"replaying: 2 of 8 trials after 0 s, about \d+ s left", second)


def test_a_line_says_what_is_under_way(monkeypatch):
    stream = _stream(monkeypatch, False)
    annotate("nothing is shown")
    with bar("", name="running app.cu"):
        annotate("launch 7: step")
        time.sleep(0.15)
    assert stream.getvalue() == "running app.cu: 0 s so far, launch 7: step\n"


@pytest.mark.parametrize("terminal", [False, True])
def test_short_hidden_or_unwanted_progress_is_not_shown(monkeypatch, terminal):
    stream = _stream(monkeypatch, terminal)
    if not terminal:
        with bar("trials") as advance:
            advance(1, 2)
    with bar("trials", hidden=True), phase("coalescing") as coalesced:
        coalesced(1, 2)
        time.sleep(0.1)
    with phase("coalescing"):  # as in a program that calls memsim
        time.sleep(0.1)
    assert stream.getvalue() == ""


def test_bar_shows_phase_and_counts_while_nothing_finishes(monkeypatch):
    stream = _stream(monkeypatch, True)
    with bar("trials", name="replaying") as advance:
        advance(0, 8)
        with phase("coalescing", "rows", 1000) as coalesced:
            coalesced(250, 1000)
            time.sleep(0.1)
        before = len(stream.getvalue())
        time.sleep(0.1)
        assert len(stream.getvalue()) > before
    shown = stream.getvalue()
    assert "coalescing:  25%" in shown and "250/1000" in shown and "replaying:   0%" in shown and "0/8" in shown


def test_worker_shows_no_phase_of_its_own(monkeypatch):
    """A forked worker has its parent's bar."""
    stream = _stream(monkeypatch, True)
    with bar("trials", name="replaying") as advance:
        advance(0, 8)
        monkeypatch.setattr(progress, "parent_process", lambda: "a parent")
        with phase("coalescing", "rows", 1000) as coalesced:
            coalesced(250, 1000)
            time.sleep(0.1)
    assert "coalescing" not in stream.getvalue()
