"""What holds for every test."""

import os

import pytest
from budget import drawn
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from processor_time import (  # noqa: F401  (hooks that pytest looks for in this file)
    pytest_runtest_call,
    pytest_runtest_logreport,
    pytest_sessionfinish,
    pytest_terminal_summary,
)

os.environ.setdefault("MEMSIM_CACHE_MB", "0")  # tests replay what they ask for; those of the cache set it themselves

# Hypothesis draws the literals of all modules that are loaded, too. These differ from process to process: a failure
# could not be repeated, and the same revision passed one day and failed another.
providers._get_local_constants = providers.Constants

# No property here claims a speed, and the machine may be busy: an example may take as long as it takes.
settings.register_profile("memsim", parent=drawn(100), deadline=None)
settings.load_profile("memsim")

# Kernels in languages that may not be installed: what tests read, and what one runs in a process of its own.
collect_ignore_glob = ["conftest.py", "*/conftest.py", "data/*", "oracles/triton_interpreted.py"]


# Files with the longest tests, which begin first: a worker that is given one at the end is waited for by the others.
LONGEST = ("test_gains_of_ladders.py", "test_programs_check_themselves.py", "test_papers.py", "test_calibrate.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest first; mark those with a random seed as a parameter (those of Hypothesis carry its own mark)."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
    for item in items:
        if "seed" in getattr(getattr(item, "callspec", None), "params", {}):
            item.add_marker(pytest.mark.random)
