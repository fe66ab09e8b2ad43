"""A room imports only the rooms before it, and what is packaged is what there is."""

from __future__ import annotations

import ast
import configparser
from pathlib import Path

import pytest
from places import ROOT

PACKAGE = ROOT / "memsim"
# In the order in which each may use those before it; modules directly in memsim/ are rooms of one file.
ROOMS = (
    "support", "gpu", "trace", "reference", "sources", "capture", "hierarchy", "calibration", "profile", "montecarlo",
    "analysis", "measured", "models", "host", "exploration", "studies", "why", "report", "interactive", "api", "cli",
    "__main__",
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


def test_every_package_is_packaged():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    named = set(setup["options"]["packages"].split())
    here = {".".join(path.parent.relative_to(ROOT).parts) for path in FILES if path.name == "__init__.py"}
    assert named == here | {"memsim.traces", "memsim.configs"}
