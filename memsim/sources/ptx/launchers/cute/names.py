"""What an author called a kernel of CuTe DSL and its parameters: PTX has other names for them."""

from __future__ import annotations

import ast
from pathlib import Path

_START = "kernel_cutlass_"


def author_of(entry: str, source: str, parameters: int) -> tuple[str, tuple[str, ...]]:
    """A kernel's name in the file that it was compiled from, and those of its parameters.

    Args:
        entry: its name in PTX, which begins with what its function is called.
        source: the file.
        parameters: how many it has in PTX. The names are given if its function has as many that are no constants.

    >>> author_of("kernel_cutlass_add_tensorptr_0", "no_such_file.py", 2)
    ('kernel_cutlass_add_tensorptr_0', ())
    """
    try:
        tree = ast.parse(Path(source).read_text())
    except (OSError, SyntaxError, UnicodeDecodeError):
        return entry, ()
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    found = [one for one in functions if entry.startswith(f"{_START}{one.name}_")]
    if not found:
        return entry, ()
    kernel = max(found, key=lambda one: len(one.name))
    names = tuple(one.arg for one in kernel.args.args if one.arg != "self" and not _is_constant(one))
    return kernel.name, names if len(names) == parameters else ()


def _is_constant(argument: ast.arg) -> bool:
    return argument.annotation is not None and "Constexpr" in ast.unparse(argument.annotation)
