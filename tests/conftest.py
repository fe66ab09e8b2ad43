"""What holds for every test."""

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import doctests
import pytest
from budget import drawn
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from processor_time import (  # noqa: F401  (hooks that pytest looks for in this file)
    pytest_runtest_call,
    pytest_runtest_logreport,
    pytest_runtest_setup,
    pytest_runtest_teardown,
    pytest_sessionfinish,
    pytest_terminal_summary,
)

# A shell that starts tests in the background has them ignore Ctrl-C, which some tests are about.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.setdefault("MEMSIM_CACHE_MB", "0")  # tests replay what they ask for; those of the cache set it themselves

# Hypothesis draws the literals of all modules that are loaded, too. These differ from process to process: a failure
# could not be repeated, and the same revision passed one day and failed another.
providers._get_local_constants = providers.Constants

# No property here claims a speed, and the machine may be busy or suspended: an example may take as long as it takes,
# and so may its drawing.
settings.register_profile("memsim", parent=drawn(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("memsim")

# Kernels in languages that may not be installed: what tests read, and what one runs in a process of its own.
collect_ignore_glob = ["conftest.py", "*/conftest.py", "data/*", "oracles/triton_interpreted.py"]


# Files with the longest tests, which begin first: a worker that is given one at the end is waited for by the others.
# The second one needs the CUDA libraries, which are built while another worker compiles loops for the first.
LONGEST = (
    "test_calibrate.py", "test_abi.py", "test_gains_of_ladders.py", "test_programs_check_themselves.py",
    "test_papers.py",
)  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Register what holds for the files of memsim, too, for which hooks in this file are not called."""
    config.pluginmanager.register(doctests)


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Spare the garbage collector what stays to the end: modules and tests, which it would look through many times."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


@pytest.hookimpl(hookwrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark those with a random seed as a parameter (those of Hypothesis carry its own mark); order those that stay."""
    for item in items:
        if "seed" in getattr(getattr(item, "callspec", None), "params", {}):
            item.add_marker(pytest.mark.random)
    yield  # `-m` takes its choice
    items[:] = _ordered(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1)))


def _ordered(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Files with long tests first, then those with slow ones, in each of as many equal parts as there are workers.

    With `--dist worksteal` every worker begins with one part; who has finished takes the end of another's.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    parts: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for _, tests in sorted(files.items(), key=lambda row: (_rank(row[0].name), not _has_slow(row[1]))):
        min(parts, key=len).extend(tests)
    return [item for part in parts for item in part]


def _rank(name: str) -> int:
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


def _has_slow(tests: list[pytest.Item]) -> bool:
    return any(item.get_closest_marker("slow") for item in tests)
