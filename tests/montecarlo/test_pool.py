"""Worker processes answer once an item, say why they failed, and can be ended in the middle of an answer."""

import os
import signal
import tempfile
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

import memsim
from memsim.montecarlo.pool import in_processes
from memsim.support.errors import InputError


def square(number):
    return number * number


def large(number):
    return bytes(8 << 20)  # far more than a pipe holds


def killed(number):
    os.kill(os.getpid(), signal.SIGKILL)


def temporary(number):
    return tempfile.mkdtemp()


def traced(lanes):
    return memsim.trace("saxpy", n=lanes).path


def inverse(number):
    return 1 / number


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("items", [0, 1, 3, 20])
def test_every_item_is_answered_once(items, workers):
    found = list(in_processes(square, range(items), workers))
    assert sorted(found) == [(number, number * number) for number in range(items)]


def test_workers_end_in_the_middle_of_an_answer():
    for taken in range(4):
        with closing(in_processes(large, count(), 2)) as results:
            for _ in range(taken):
                assert len(next(results)[1]) == 8 << 20


def test_a_killed_worker_is_named():
    with pytest.raises(InputError, match="a worker was killed"):
        list(in_processes(killed, range(9), 2))


def test_an_error_comes_with_its_traceback():
    with pytest.raises(ZeroDivisionError) as raised:
        list(in_processes(inverse, [2, 1, 0], 2))
    assert "in inverse" in raised.value.__notes__[0]


@pytest.mark.slow
def test_traces_without_a_name_are_each_their_own():
    mine = memsim.trace("saxpy", n=32).path  # workers are forked from a process that has such traces
    paths = []
    with closing(in_processes(traced, [32] * 20, 2)) as results:
        for _, path in results:
            assert memsim.open_trace(path).launch.grid == (1, 1, 1)
            paths.append(path)
    assert len({mine, *paths}) == 21


def test_temporary_files_go_with_their_worker():
    paths = [Path(path) for _, path in in_processes(temporary, range(4), 2)]
    assert not any(path.exists() for path in paths)
