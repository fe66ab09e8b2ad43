"""Output formats: each file here is one, named as ``--format`` names it, with a function ``render``.

A format turns a :class:`~memsim.report.output.CommandOutput` into text that ends without a newline. A new file is a
new format: nothing else lists them.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

from memsim.report.output import CommandOutput
from memsim.support.errors import InputError

DEFAULT_FORMAT = "text"
FOR_PEOPLE = ("text", "md")  # what --quiet leaves out; the other formats are data, printed in any case


def format_names() -> list[str]:
    """All formats, the default first.

    >>> format_names()
    ['text', 'csv', 'json', 'md']
    """
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    return sorted(names, key=lambda name: (name != DEFAULT_FORMAT, name))


def chosen_format(format: str | None, json: bool = False, csv: bool = False) -> str:
    """The format that a command's options ask for together; ``--json`` and ``--csv`` are short for two of them.

    Raises:
        InputError: two of them differ, or there is no such format.
    """
    requested = {name: None for name, given in ((format, format), ("json", json), ("csv", csv)) if given}
    if len(requested) > 1:
        raise InputError("--format, --json, --csv", " and ".join(map(str, requested)), "exclude each other; give one")
    chosen = next(iter(requested), None) or DEFAULT_FORMAT
    if chosen not in format_names():
        raise InputError("--format", "format", f"is {chosen!r:.40}; give one of {', '.join(format_names())}")
    return chosen


def rendered(output: CommandOutput, format: str) -> str:
    """A command's output in a format of :func:`format_names`."""
    text: str = import_module(f"{__name__}.{format}").render(output)
    return text
