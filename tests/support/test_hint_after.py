"""A hint comes when something takes long, and only then."""

from __future__ import annotations

from threading import Event

from memsim.support.progress import hint_after


def test_a_hint_comes_while_the_block_still_runs():
    shown = Event()
    with hint_after(0.01, shown.set):
        assert shown.wait(10)


def test_no_hint_comes_after_a_short_block():
    shown = Event()
    with hint_after(0.2, shown.set):
        pass
    assert not shown.wait(0.5)
