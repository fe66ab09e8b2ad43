"""Runs the first test of a file: ``python run_test.py FILE``, in the repository's folder.

The repository is put on the path, as an editable install would do. The tests of numba-cuda are a part of its wheel and
run from there, by unittest, as its documentation says.
"""

import importlib
import os
import sys
import unittest

import pytest

NUMBA = "numba_cuda/"  # the folder that the wheel gives to the package numba


class FirstTest:
    """Keeps the first of the tests that pytest collects."""

    def pytest_collection_modifyitems(self, items):
        del items[1:]


def tests_of(suite):
    """All tests of a suite of suites."""
    return [one for part in suite for one in tests_of(part)] if isinstance(suite, unittest.TestSuite) else [suite]


def run_installed(name):
    """The first test of a module by unittest; the exit code."""
    module = importlib.import_module(name)
    first = tests_of(unittest.defaultTestLoader.loadTestsFromModule(module))[0]
    done = unittest.TextTestRunner().run(first)
    return int(not done.wasSuccessful() or done.testsRun != 1)


def main(file):
    """The exit code of a file's first test."""
    if os.path.relpath(file).startswith(NUMBA):
        return run_installed(os.path.relpath(file, NUMBA)[: -len(".py")].replace(os.sep, "."))
    sys.path[1:1] = [os.getcwd(), os.path.join(os.getcwd(), "src")]
    return pytest.main([file, "-q", "-p", "no:cacheprovider", "--import-mode=importlib"], plugins=[FirstTest()])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
