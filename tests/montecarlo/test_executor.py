"""Worker processes as an Executor: a killed one takes only its own items with it."""

import os
import signal
import threading
import time
from concurrent.futures import wait

import pytest

from memsim.montecarlo.executor import Processes, WorkerKilled


def slow_square(number):
    time.sleep(0.01)
    return number * number


def killed():
    os.kill(os.getpid(), signal.SIGKILL)


def inverse(number):
    return 1 / number


@pytest.mark.parametrize("workers", [1, 3])
def test_every_item_is_answered(workers):
    with Processes(workers) as team:
        futures = [team.submit(slow_square, number) for number in range(20)]
        assert [future.result() for future in futures] == [number * number for number in range(20)]


def test_leaving_waits_for_what_was_given():
    with Processes(2) as team:
        futures = [team.submit(slow_square, number) for number in range(9)]
    assert all(future.done() and not future.cancelled() for future in futures)


def test_killed_worker_is_replaced_and_its_items_fail():
    with Processes(2) as team:
        futures = [team.submit(slow_square, number) for number in range(4)]
        wait(futures)
        bad = team.submit(killed)
        assert isinstance(bad.exception(timeout=60), WorkerKilled)
        futures = [team.submit(slow_square, number) for number in range(10)]
        assert [future.result(timeout=60) for future in futures] == [number * number for number in range(10)]


def test_an_error_is_the_futures():
    with Processes(1) as team:
        assert isinstance(team.submit(inverse, 0).exception(), ZeroDivisionError)
        assert team.submit(inverse, 4).result() == 0.25
        assert team.submit(threading.Lock().acquire).exception() is not None  # cannot be sent


def test_ending_at_once_ends_in_the_middle():
    team = Processes(2)
    futures = [team.submit(time.sleep, 60) for _ in range(6)]
    time.sleep(0.3)
    begin = time.monotonic()
    team.shutdown(cancel_futures=True)
    assert time.monotonic() - begin < 5
    assert all(future.cancelled() or not future.done() for future in futures)
