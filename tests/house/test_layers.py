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
    "montecarlo", "analysis", "measured", "models", "host", "exploration", "studies", "why", "gate", "judge",
    "report", "interactive_result", "interactive", "api", "pytest_plugin", "cli", "__main__",
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
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        rooms |= {name.split(".")[1] for name in names if name.startswith("memsim.")}
    return rooms


@pytest.mark.parametrize("path", [path for path in FILES if path.parent != PACKAGE or path.stem != "__init__"], ids=str)
def test_a_room_imports_only_rooms_before_it(path):
    room = _room(path)
    assert room in ROOMS, f"{room} has no place in the order of rooms"
    for other in _imported(path) - {room, "__version__"}:
        assert ROOMS.index(other) < ROOMS.index(room), f"{path.relative_to(ROOT)} imports {other}"


@pytest.mark.slow
def test_what_is_packaged_is_what_there_is(tmp_path):
    """Every module and data file of the package, the workloads, and the presets."""
    built, described = tmp_path / "built", tmp_path / "egg-info"
    described.mkdir()  # not in the tree, where tests that run meanwhile look for the package's plugins
    build = [sys.executable, "setup.py", "-q", "egg_info", "-e", str(described), "build_py", "-d", str(built)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    packaged = {str(path.relative_to(built)) for path in built.rglob("*") if path.is_file()}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    there = {path for path in tracked if path.startswith("memsim/") and not path.endswith(".md")}
    there |= {f"memsim/{path}" for path in tracked if path.startswith(("traces/", "configs/"))}
    assert there == {path for path in packaged if "__pycache__" not in path}


@pytest.mark.parametrize("path", FILES, ids=str)
def test_only_the_jit_room_imports_numba(path):
    if _room(path) != "jit":
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [one.name for one in node.names] if isinstance(node, ast.Import) else []
            assert not [name for name in names if name.split(".")[0] in ("numba", "llvmlite")]


def test_reference_model_is_independent_of_compiled_engine():
    for path in (PACKAGE / "reference").glob("*.py"):
        assert _imported(path) <= {"gpu", "trace", "reference"}, path
