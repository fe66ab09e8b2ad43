"""Loads kernel files: Python files with a kernel and one ``@workload`` function. They are trusted code."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from memsim.sources.describe.failures import located
from memsim.sources.describe.thread import LOOP_LIMIT
from memsim.sources.describe.workload import Workload
from memsim.support import library
from memsim.support.errors import InputError

_GUARD = "__memsim_guard__"


def load_workload(name_or_path: str | Path) -> Workload:
    """The workload of the library, or of a kernel file; of a file with several, ``file.py:name``.

    Raises:
        InputError: no such name or file, or the file does not load or has no such workload, or several and none named.

    >>> load_workload("spmv").parameters()["rows"]
    86016
    """
    file, name = _named(str(name_or_path))
    path = library.find("traces", ".py", file)
    shipped = path.parent == library.folder("traces")
    shown = f"traces/{path.name}" if shipped else file
    filename = str(path.resolve())
    try:
        source = path.read_bytes()
    except OSError as error:
        raise InputError(shown, "file", f"cannot be read ({error.strerror})") from error
    module = ModuleType(path.stem)
    module.__dict__.update({"__file__": filename, _GUARD: _guarded})
    with located(lambda _: shown, filename, 1):
        tree = _GuardedLoops().visit(ast.parse(source, filename))
        exec(compile(ast.fix_missing_locations(tree), filename, "exec", dont_inherit=True), module.__dict__)
    found = [value for value in vars(module).values() if isinstance(value, Workload) and value.filename == filename]
    return replace(_chosen(found, name, shown), shown=shown)


def _named(text: str) -> tuple[str, str]:
    """The file and the workload's name that a user gives; no name: it is the only one.

    >>> _named("blur.py:fast"), _named("a:b/blur.py"), _named("spmv")
    (('blur.py', 'fast'), ('a:b/blur.py', ''), ('spmv', ''))
    """
    file, colon, name = text.rpartition(":")
    return (file, name) if colon and name.isidentifier() and file.endswith(".py") else (text, "")


def _chosen(found: Sequence[Workload], name: str, shown: str) -> Workload:
    """The one that is named, or the only one."""
    if not found:
        raise InputError(shown, "file", "has no workload; mark a function with @memsim.workload")
    names = ", ".join(f"{shown}:{one.name}" for one in found)
    named = [one for one in found if one.name == name]
    if name and not named:
        raise InputError(shown, "workload", f"has no {name}; give {names}")
    if not name and len(found) > 1:
        raise InputError(shown, "file", f"has {len(found)} workloads; give one: {names}")
    return (named or found)[0]


class _GuardedLoops(ast.NodeTransformer):
    """Makes every Python ``while`` of a kernel file count its iterations, for one that never ends must not hang memsim.

    ``while test:`` becomes ``guard = make_guard()`` and ``while guard() and test:``; lines and columns stay.
    """

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def visit_While(self, node: ast.While) -> Any:
        self.generic_visit(node)
        counter = f"{_GUARD}{next(self._numbers)}"
        make = ast.parse(f"{counter} = {_GUARD}()").body[0]
        check = ast.parse(f"{counter}()", mode="eval").body
        for added in (make, check):
            for child in ast.walk(added):
                ast.copy_location(child, node)
        node.test = ast.copy_location(ast.BoolOp(ast.And(), [check, node.test]), node.test)
        return [make, node]


def _guarded() -> Callable[[], bool]:
    """A counter of one loop's iterations that raises when there are too many."""
    iterations = itertools.count()

    def check() -> bool:
        if next(iterations) >= LOOP_LIMIT:
            raise RuntimeError(f"the loop is not over after {LOOP_LIMIT} iterations; use t.range or t.while_")
        return True

    return check
