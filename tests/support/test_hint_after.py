"""A hint comes when something takes long, and only then."""

from __future__ import annotations

from threading import Event

from memsim.support.progress import hint_after


def test_a_hint_comes_while_the_block_still_runs():
    told = Event()
    with hint_after(0.01, told.set):
        assert told.wait(10)


def test_no_hint_comes_after_a_short_block():
    told = Event()
    with hint_after(0.2, told.set):
        pass
    assert not told.wait(0.5)
