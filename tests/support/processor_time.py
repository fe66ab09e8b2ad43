"""Measures each test's processor time, and fails `make test` if a test that is not marked slow takes over two seconds.

The limit holds for the quick budget of random cases. With a larger one (`make check`) times are only reported.
Processor time counts the test and the processes that it starts, but neither fixtures nor time spent waiting. Loops are
compiled by whichever test needs them first, and a machine may be slow. So the limit is multiplied by how slow a
reference computation is at the end of the run, and a test over it is measured again: alone, with all loops on disk.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections import defaultdict
from pathlib import PurePath
from typing import Any

import pytest
from budget import BUDGET

LIMIT = 2.0  # seconds of processor time on the reference machine
REFERENCE_SECONDS = 0.2  # what `_reference` takes there (an AMD EPYC at 2.6 GHz that does nothing else)
MOST_REPEATED = 40  # tests that are measured again; more than that: something else is wrong
NAME = "processor_seconds"
ALONE = "MEMSIM_MEASURE_ALONE"  # set: print each test's time, judge none

_seconds: dict[str, float] = {}
_slow: set[str] = set()
_over: list[str] = []


def _used() -> float:
    """Processor seconds of this process and of its children that have ended."""
    both = (resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    before = _used()
    yield
    item.user_properties.append((NAME, _used() - before))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    found = dict(report.user_properties)
    if report.when == "call" and NAME in found:
        _seconds[report.nodeid] = found[NAME]
        if "slow" in report.keywords:
            _slow.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    alone = ALONE in os.environ or hasattr(session.config, "workerinput")
    if alone or BUDGET != "quick" or exitstatus not in (0, 1):
        return
    most = LIMIT * _slowness()
    suspects = [test for test, seconds in _seconds.items() if seconds > most and test not in _slow]
    if not suspects or len(_seconds) == len(suspects):
        return  # tests that somebody picked are not judged
    _over[:] = _measured_again(suspects[:MOST_REPEATED])
    if _over:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _measured_again(tests: list[str]) -> list[str]:
    """Of tests, one line for each that exceeds the limit when it runs alone."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {ALONE: "1"})
    factor = _slowness()
    rows = [line.split(None, 2) for line in done.stdout.splitlines() if line.startswith(NAME)]
    return [f"{test}: {float(seconds) / factor:.1f} s" for _, seconds, test in rows if float(seconds) / factor > LIMIT]


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
        for test, seconds in _seconds.items():
            terminalreporter.write_line(f"{NAME} {seconds:.3f} {test}")
        return
    if len(_seconds) > 1000:
        _write_table(terminalreporter)
    for line in _over:
        terminalreporter.write_line(f"FAILED (over {LIMIT:g} s of processor time, not marked slow) {line}")


def _write_table(terminalreporter: Any) -> None:
    """Processor seconds per folder, largest first."""
    folders: dict[str, float] = defaultdict(float)
    for test, seconds in _seconds.items():
        folders["/".join(PurePath(test.partition("::")[0]).parts[:2])] += seconds
    terminalreporter.section("processor seconds per folder")
    for folder, seconds in sorted(folders.items(), key=lambda row: -row[1])[:20]:
        terminalreporter.write_line(f"{seconds:8.1f}  {folder}")
    terminalreporter.write_line(f"{sum(folders.values()):8.1f}  in all, fixtures and start-up not counted")
