"""A room imports only the rooms before it, and what is packaged is what there is."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

PACKAGE = ROOT / "memsim"
# In the order in which each may use those before it; modules directly in memsim/ are rooms of one file.
ROOMS = (
    "support", "jit", "gpu", "trace", "reference", "sources", "capture", "hierarchy", "calibration", "profile",
    "montecarlo", "analysis", "measured", "models", "host", "exploration", "studies", "why", "report", "interactive",
    "api", "cli", "__main__",
)  # fmt: skip
# What runs in the interpreters of captured programs, without memsim: data of the package.
CHILD = PACKAGE / "capture" / "python" / "child"
FILES = sorted(path for path in PACKAGE.rglob("*.py") if not path.is_relative_to(CHILD))


def _room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imported(path: Path) -> set[str]:
    """Rooms that a file imports, also inside functions and for type checking."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [one.name for one in node.names] if isinstance(node, ast.Import) else []
        assert not [name for name in names if name.split(".")[0] in ("numba", "llvmlite")]


def test_the_reference_model_is_independent_of_the_compiled_engine():
    for path in (PACKAGE / "reference").glob("*.py"):
        assert _imported(path) <= {"gpu", "trace", "reference"}, path
