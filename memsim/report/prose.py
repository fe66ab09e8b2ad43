"""Sentences wrapped at the terminal's edge."""

from __future__ import annotations

import textwrap

from memsim.support.terminal import prose_columns

_UNBROKEN = "\u00a0"  # textwrap does not break here


def wrapped(text: str, first: str = "", then: str = "  ") -> str:
    """The text in lines no longer than people like to read; a number and its ``%`` stay on one line.

    Args:
        text: one paragraph.
        first, then: what stands before the first line, and before each other.
    """
    whole = text.replace(" %", f"{_UNBROKEN}%")
    lines = textwrap.fill(whole, prose_columns(), initial_indent=first, subsequent_indent=then)
    return lines.replace(f"{_UNBROKEN}%", " %")
