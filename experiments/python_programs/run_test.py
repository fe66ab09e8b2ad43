"""Runs the first test of a file: ``python run_test.py FILE``."""

import sys

import pytest


class FirstTest:
    """Keeps the first of the tests that pytest collects."""

    def pytest_collection_modifyitems(self, items):
        del items[1:]


sys.exit(pytest.main([sys.argv[1], "-q", "-p", "no:cacheprovider", "--import-mode=importlib"], plugins=[FirstTest()]))
