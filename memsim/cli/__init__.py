"""The command line, a thin layer on memsim.api: ``memsim trace | capture | import | export | info | run | ...``.

Everything slow to import is imported inside the commands, so that help is instant.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["app", "main"]


def main() -> None:
    """Entry point of the ``memsim`` command; ``memsim nvcc``, which builds call often, starts without the others."""
    if sys.argv[1:2] == ["nvcc"]:
        from memsim.capture.nvcc import main as nvcc

        sys.exit(nvcc(sys.argv[2:]))
    from memsim.cli.commands import main as run

    run()


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from memsim.cli.commands import application

    return globals().setdefault("app", application())
