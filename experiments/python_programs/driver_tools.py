"""What the drivers share: their table, paths of repositories, random inputs and comparisons with torch."""

import importlib.machinery
import os
import sys
import types

import torch

DRIVERS = {}
CHECKOUTS = ""


def driver(repository, file):
    """Register the function that runs a file's kernels."""

    def register(function):
        DRIVERS[repository, file] = function
        return function

    return register


def root(repository, below=""):
    """The folder of a repository, put on the path."""
    folder = os.path.join(CHECKOUTS, repository.replace("/", "+"), below)
    sys.path.insert(0, folder)
    return folder


def bare(repository, name, below=""):
    """Make a package without running its ``__init__``."""
    package = types.ModuleType(name)
    package.__path__ = [os.path.join(root(repository, below), *name.split("."))]
    package.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    sys.modules[name] = package


def gpu(*shape, dtype=torch.float32, grad=True, scale=1.0):
    """Normal numbers on the GPU."""
    made = (torch.randn(*shape, device="cuda") * scale).to(dtype)
    return made.requires_grad_() if grad else made


def back(*outputs):
    """Gradients of the sum of all outputs."""
    sum(one.float().sum() for one in outputs if one.requires_grad).backward()


def close(found, expected, tolerance=2e-2):
    """Compare with torch's result."""
    torch.testing.assert_close(found.float().cpu(), expected.float().cpu(), rtol=tolerance, atol=tolerance)
