"""The command line, a thin layer on memsim.api: ``memsim trace | capture | import | export | info | run | ...``.

Everything slow to import is imported inside the commands, so that help is instant.
"""

from memsim.cli.commands import app, main

__all__ = ["app", "main"]
