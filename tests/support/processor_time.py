"""Measures each test's processor time, and fails `make test` if a test that is not marked slow takes over two seconds.

The limit holds for the quick budget of random cases. With a larger one (`make check`) times are only reported.
Processor time counts the test and the processes that it starts, but neither its fixtures, nor time spent waiting, nor
the compilation of loops, which falls on whichever test needs them first. Processes that a test starts compile loops
too, and a machine may be slow. So the limit is multiplied by how slow a reference computation is at the end of the run,
and a test over it is measured again, alone, with all loops on disk. It fails if it exceeds the limit every time.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import pytest
from budget import BUDGET
from numba.core import event

LIMIT = 2.0  # seconds of processor time on the reference machine
REFERENCE_SECONDS = 0.2  # what `_reference` takes there (an AMD EPYC at 2.6 GHz that does nothing else)
MOST_REPEATED = 40  # tests that are measured again; more than that: something else is wrong
REPEATS = 3  # a busy machine prolongs some measurements by a third, but rarely all of them
ENOUGH = 200  # tests whose times are worth a table
NAME = "processor_seconds"
ALONE = "MEMSIM_MEASURE_ALONE"  # set: print each test's time, judge none


@dataclass
class Spent:
    """Processor seconds of a test: its own, those of its fixtures, and those of compiling loops in either."""

    call: float = 0.0
    fixtures: float = 0.0
    compilation: float = 0.0

    @property
    def all(self) -> float:
        return self.call + self.fixtures + self.compilation

    def __add__(self, other: Spent) -> Spent:
        sums = (self.call + other.call, self.fixtures + other.fixtures, self.compilation + other.compilation)
        return Spent(*sums)


class _Compilation(event.Listener):
    """Seconds of Numba's compilations in this process; one within another counts once."""

    def __init__(self) -> None:
        self.seconds, self._began, self._depth = 0.0, 0.0, 0

    def on_start(self, event: Any) -> None:
        if not self._depth:
            self._began = time.process_time()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if not self._depth:
            self.seconds += time.process_time() - self._began


_spent: dict[str, Spent] = {}
_slow: set[str] = set()
_over: list[str] = []
_compilation = _Compilation()
event.register("numba:compile", _compilation)


def _used() -> float:
    """Processor seconds of this process and of its children that have ended."""
    both = (resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def _measure(item: pytest.Item, phase: str) -> Iterator[None]:
    """Add what a phase of a test takes to the properties that its reports carry."""
    used, compiled = _used(), _compilation.seconds
    yield
    compilation = _compilation.seconds - compiled
    item.user_properties += [(phase, _used() - used - compilation), ("compilation", compilation)]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    yield from _measure(item, "fixtures")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    yield from _measure(item, "call")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    yield from _measure(item, "fixtures")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when != "teardown":
        return
    spent = _spent[report.nodeid] = Spent()
    for name, seconds in report.user_properties:
        if name in ("call", "fixtures", "compilation"):
            setattr(spent, name, getattr(spent, name) + seconds)
    if "slow" in report.keywords:
        _slow.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    alone = ALONE in os.environ or hasattr(session.config, "workerinput")
    if alone or BUDGET != "quick" or exitstatus not in (0, 1):
        return
    most = LIMIT * _slowness()
    suspects = [test for test, spent in _spent.items() if spent.call > most and test not in _slow]
    if len(_spent) == len(suspects):
        return  # tests that somebody picked are not judged
    _over[:] = _still_over(suspects[:MOST_REPEATED])
    if _over:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _still_over(tests: list[str]) -> list[str]:
    """Of tests, one line for each that exceeds the limit whenever it runs alone."""
    least: dict[str, float] = {}
    for _ in range(REPEATS):
        if not tests:
            break
        for test, seconds in _measured_alone(tests).items():
            least[test] = min(seconds, least.get(test, seconds))
        tests = [test for test in tests if least.get(test, 0.0) > LIMIT]
    return [f"{test}: {least[test]:.1f} s" for test in tests]


def _measured_alone(tests: list[str]) -> dict[str, float]:
    """Processor seconds of tests, one after the other in a new process, as on the reference machine."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", *tests]
    before = _slowness()
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {ALONE: "1"})
    factor = max(before, _slowness())
    rows = [line.split(None, 2) for line in done.stdout.splitlines() if line.startswith(NAME)]
    return {test: float(seconds) / factor for _, seconds, test in rows}


def _slowness() -> float:
    """How many times as long as the reference machine this one takes now; at least 1."""
    return max(1.0, _reference() / REFERENCE_SECONDS)


def _reference() -> float:
    """Processor seconds of a fixed computation."""
    before = _used()
    total = 0
    for number in range(3_000_000):
        total += number & 7
    assert total == 10_500_000
    return _used() - before


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if ALONE in os.environ:
        for test, spent in _spent.items():
            terminalreporter.write_line(f"{NAME} {spent.call:.3f} {test}")
        return
    if len(_spent) > ENOUGH:
        terminalreporter.section("processor seconds")
        for line in _table():
            terminalreporter.write_line(line)
    for line in _over:
        terminalreporter.write_line(f"FAILED (over {LIMIT:g} s of processor time, not marked slow) {line}")


def _table() -> Iterator[str]:
    """Lines of a table: per folder, largest first, then slow tests and others, then the longest tests."""
    folders: dict[str, Spent] = defaultdict(Spent)
    for test, spent in _spent.items():
        folders["/".join(PurePath(test.partition("::")[0]).parts[:2])] += spent
    yield f"{'tests':>8}{'fixtures':>10}{'compiling':>11}"
    for folder, spent in _largest(folders.items(), 20):
        yield _row(spent, folder)
    slow = sum((spent for test, spent in _spent.items() if test in _slow), Spent())
    others = sum((spent for test, spent in _spent.items() if test not in _slow), Spent())
    yield _row(slow, "tests marked slow")
    yield _row(others, "others")
    yield _row(slow + others, "in all; start-up and collection are not counted")
    for test, spent in _largest(_spent.items(), 10):
        yield _row(spent, test)


def _largest(rows: Iterable[tuple[str, Spent]], count: int) -> list[tuple[str, Spent]]:
    return sorted(rows, key=lambda row: -row[1].all)[:count]


def _row(spent: Spent, what: str) -> str:
    return f"{spent.call:8.1f}{spent.fixtures:10.1f}{spent.compilation:11.1f}  {what}"
