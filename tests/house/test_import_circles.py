"""No module of a room imports itself through others of the room, at its top or inside functions.

Imports for type checking only are not asked for: they never run, so that no order of imports can break on them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from places import ROOT
from test_layers import CHILD, ROOMS

PACKAGE = ROOT / "memsim"


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def _modules() -> dict[str, Path]:
    return {_name(path): path for path in PACKAGE.rglob("*.py") if not path.is_relative_to(CHILD)}


def _imported(name: str) -> set[str]:
    """Modules of the package that a module imports when it runs, at its top or inside functions."""
    found = set()
    for node in _executed(ast.parse(_modules()[name].read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (whole & _modules().keys()) or {node.module or ""}
    return (found & _modules().keys()) - {name}


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from _executed(node)


def circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Modules that reach themselves, grouped with those that they reach and that reach them.

    >>> circles({"a": {"b"}, "b": {"a", "c"}, "c": set()})
    [['a', 'b']]
    """
    reached: dict[str, set[str]] = {}
    for start in imports:
        found, left = set(), list(imports[start])
        while left:
            one = left.pop()
            if one not in found:
                found.add(one)
                left += imports[one]
        reached[start] = found
    groups = {
        tuple(sorted(other for other in of if start in reached[other])) for start, of in reached.items() if start in of
    }
    return sorted(map(list, groups))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_no_import_circle(room):
    inside = {name for name in _modules() if name.split(".")[1:2] == [room]}
    assert not circles({name: _imported(name) & inside for name in inside})


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    assert circles({"a": {"b"}, "b": set()}) == []
