"""Worker processes answer once an item, say why they failed, and can be ended in the middle of an answer.

One that is killed takes only its own items with it.
"""

import os
import signal
import tempfile
import threading
import time
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

import memsim
from memsim.montecarlo.pool import AHEAD, Processes, WorkerKilled, in_processes
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


def answered(team, keys):
    """What is found of every key, or raised."""
    found = {}
    while found.keys() < keys:
        found |= {key: error if error is not None else one for key, one, error in team.answers()}
    return found


def test_there_is_room_for_some_items_a_worker():
    with closing(Processes(square, 2)) as team:
        assert team.room() == 2 * AHEAD
        for number in range(2 * AHEAD):
            team.begin(number, number)
        assert team.room() == 0
        assert answered(team, set(range(2 * AHEAD))) == {number: number * number for number in range(2 * AHEAD)}
        assert team.room() == 2 * AHEAD


def square_or_die(number):
    return killed(number) if number < 0 else square(number)


def test_killed_worker_is_replaced_and_its_items_fail():
    with closing(Processes(square_or_die, 2)) as team:
        for number in (-1, 3):
            team.begin(number, number)
        found = answered(team, {-1, 3})
        assert isinstance(found[-1], WorkerKilled) and found[3] == 9
        for number in range(4):
            team.begin(number, number)
        assert answered(team, set(range(4))) == {number: number * number for number in range(4)}


def test_item_for_a_dead_worker_fails():
    with closing(Processes(square, 1)) as team:
        team.begin(0, 0)
        assert answered(team, {0}) == {0: 0}
        pid = team._team[0]._process.pid
        os.kill(pid, signal.SIGKILL)
        team._team[0]._process.join()
        team.begin(1, 1)
        assert isinstance(answered(team, {1})[1], WorkerKilled)
        team.begin(2, 2)
        assert answered(team, {2}) == {2: 4}


def test_unsendable_item_is_an_error():
    with closing(Processes(square, 1)) as team, pytest.raises(TypeError, match="pickle"):
        team.begin(0, threading.Lock())


def test_closing_ends_in_the_middle():
    team = Processes(time.sleep, 2)
    for number in range(4):
        team.begin(number, 60)
    time.sleep(0.3)
    begin = time.monotonic()
    team.close()
    assert time.monotonic() - begin < 5
