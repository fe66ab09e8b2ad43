"""Which kernel descriptions a file has, found without executing it."""

from __future__ import annotations

import ast
from pathlib import Path

from memsim.support import library


def described_workloads(name_or_path: str | Path) -> list[str]:
    """The workloads of a kernel file, or of the library, as ``memsim.trace`` takes them; none: it is a program.

    The file is read and not executed.

    >>> described_workloads("spmv"), described_workloads("no_such_file.py")
    (['spmv'], [])
    """
    path = Path(name_or_path)
    if not path.exists():
        return [path.name] if path.name in library.names("traces", ".py") else []
    try:
        nodes = ast.parse(path.read_bytes()).body if path.suffix == ".py" else []
    except (OSError, SyntaxError, ValueError):
        return []
    return [f"{path}:{one.name}" for one in nodes if isinstance(one, ast.FunctionDef) and _is_marked(one)]


def _is_marked(function: ast.FunctionDef) -> bool:
    """Whether a function is decorated with ``@workload`` or ``@memsim.workload``."""
    return any(ast.unparse(one) in ("workload", "memsim.workload") for one in function.decorator_list)
