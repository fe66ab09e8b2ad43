"""Looks for doctests only in files that have one: half of the time that the collection of tests takes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

PROMPT = b">>>"


@pytest.hookimpl(hookwrapper=True)
def pytest_collect_file(file_path: Path) -> Iterator[None]:
    """Leave out collectors of doctests that would import a module and search all its objects for nothing."""
    outcome = yield
    collectors = outcome.get_result()
    if any(isinstance(one, DoctestModule) for one in collectors) and PROMPT not in file_path.read_bytes():
        outcome.force_result([one for one in collectors if not isinstance(one, DoctestModule)])
