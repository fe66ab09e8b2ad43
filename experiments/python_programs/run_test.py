"""Runs the first test of a file: ``python run_test.py FILE``, in the repository's folder.

A test that lies inside of an installed package runs from there. Otherwise the repository is put on the path, as an
editable install would do.
"""

import os
import sys
import sysconfig

import pytest


class FirstTest:
    """Keeps the first of the tests that pytest collects."""

    def pytest_collection_modifyitems(self, items):
        del items[1:]


def installed(file):
    """The file in an installed package; itself if there is none."""
    found = os.path.join(sysconfig.get_paths()["purelib"], os.path.relpath(file))
    return found if os.path.exists(found) else file


sys.path[1:1] = [folder for folder in (os.getcwd(), os.path.join(os.getcwd(), "src")) if os.path.isdir(folder)]
chosen = installed(sys.argv[1])
if chosen != sys.argv[1]:
    sys.path[1:3] = []
    package = os.path.relpath(chosen, sysconfig.get_paths()["purelib"])[: -len(".py")].replace(os.sep, ".")
    package = package.removeprefix("numba_cuda.")  # the wheel gives its folder `numba/cuda` to numba
    choice = ["--pyargs", package]
else:
    choice = [chosen, "--import-mode=importlib"]
sys.exit(pytest.main([*choice, "-q", "-p", "no:cacheprovider"], plugins=[FirstTest()]))
