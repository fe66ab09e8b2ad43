"""No module of a room imports itself through others of the room, and every module can be the first one imported.

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


Step = tuple[str, str | None, list[str]]  # "import" or "bind"; the module; names that it has to have, or that are bound


def _steps(body: list[ast.stmt]) -> Iterator[Step]:
    """What the statements of a module's top level import and bind, in order."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (("import", alias.name, []) for alias in node.names)
            yield "bind", None, [alias.asname or alias.name.split(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            yield "import", node.module, [alias.name for alias in node.names]
            yield "bind", None, [alias.asname or alias.name for alias in node.names]
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield "bind", None, [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            yield "bind", None, [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
        elif not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            for part in ("body", "orelse"):
                yield from _steps(getattr(node, part, []))


class FreshInterpreter:
    """Imports modules in the order in which Python would, without running them; raises ImportError where it would."""

    def __init__(self, modules: dict[str, list[Step]]) -> None:
        self.modules, self.bound = modules, {}

    def load(self, name: str) -> None:
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            one = ".".join(parts[:end])
            if one in self.modules and one not in self.bound:
                self._run(one)
                if end > 1:
                    self.bound[".".join(parts[: end - 1])].add(parts[end - 1])

    def _run(self, name: str) -> None:
        bound = self.bound[name] = set()
        for kind, module, names in self.modules[name]:
            if kind == "bind":
                bound.update(names)
            elif module in self.modules:
                self.load(module)
                for wanted in names:
                    if wanted not in self.bound[module] and f"{module}.{wanted}" in self.modules:
                        self.load(f"{module}.{wanted}")
                    if not {wanted, "__getattr__"} & self.bound[module]:
                        raise ImportError(f"{name} imports {wanted} of {module}, which has no {wanted} yet")


def test_every_module_can_be_imported_first():
    steps = {name: list(_steps(ast.parse(path.read_text()).body)) for name, path in _modules().items()}
    for name in steps:
        FreshInterpreter(steps).load(name)


def test_an_import_that_comes_too_early_fails():
    steps = {
        "a": [("import", "b", ["f"]), ("bind", None, ["f", "g"])],
        "b": [("import", "a", ["g"]), ("bind", None, ["g", "f"])],
    }
    with pytest.raises(ImportError, match="b imports g of a, which has no g yet"):
        FreshInterpreter(steps).load("a")


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_no_import_circle(room):
    inside = {name for name in _modules() if name.split(".")[1:2] == [room]}
    assert not circles({name: _imported(name) & inside for name in inside})


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    assert circles({"a": {"b"}, "b": set()}) == []
