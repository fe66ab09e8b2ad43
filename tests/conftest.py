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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that are parametrized by a random seed; those of Hypothesis carry its own mark."""
    for item in items:
        if "seed" in getattr(getattr(item, "callspec", None), "params", {}):
            item.add_marker(pytest.mark.random)
