"""A thread that works ahead of this one, or behind it."""

from __future__ import annotations

import threading

import pytest

from memsim.support.one_behind import OneBehind, read_ahead


def test_items_come_from_another_thread():
    threads = list(read_ahead((threading.current_thread() for _ in range(3)), "reader"))
    assert len(threads) == 3 and threading.main_thread() not in threads
    assert not threads[0].is_alive()


def test_error_is_raised_in_its_turn():
    def items():
        yield 1
        raise ValueError("second")

    ahead = read_ahead(items(), "reader")
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="second"):
        next(ahead)


def test_caller_that_stops_ends_the_thread():
    ahead = read_ahead(iter(range(9)), "memsim-test-reader")
    assert next(ahead) == 0
    ahead.close()
    assert "memsim-test-reader" not in " ".join(one.name for one in threading.enumerate())


def test_call_begins_after_the_one_before():
    done = []
    with OneBehind("worker") as thread:
        assert thread.wait() is None
        for number in range(5):
            thread.start(done.append, number)
            thread.wait()
            assert done[-1] == number
