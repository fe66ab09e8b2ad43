"""A room imports only the rooms before it, and what is packaged is what there is."""

from __future__ import annotations

import ast
import configparser
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "memsim"
# In the order data walks through them; modules directly in memsim/ are rooms of one file.
ROOMS = (
    "errors", "geometry", "config", "library", "compiled", "files", "hdf5", "presets", "occupancy", "carve_out",
    "trace", "sources", "hierarchy", "profile", "montecarlo", "analysis", "models", "host", "exploration", "why",
    "report", "progress",
    "api", "cli", "__main__",
)  # fmt: skip
FOR_TYPES_ONLY = {("geometry", "config")}  # config applies geometry's rules, which are about config's types
FILES = sorted(PACKAGE.rglob("*.py"))


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
        if (room, other) in FOR_TYPES_ONLY:
            continue
        assert ROOMS.index(other) < ROOMS.index(room), f"{path.relative_to(ROOT)} imports {other}"


def test_every_package_is_packaged():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    named = set(setup["options"]["packages"].split())
    here = {".".join(path.parent.relative_to(ROOT).parts) for path in PACKAGE.rglob("__init__.py")}
    assert named == here | {"memsim.traces", "memsim.configs"}
