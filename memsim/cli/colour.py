"""A little colour in what commands print on a terminal: headers of tables, rules, findings and notes."""

from __future__ import annotations

import os
import re
import sys

_BOLD, _DIM, _YELLOW, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[33m", "\x1b[0m"
_RULE = re.compile(r"-+(  +-+)*")
_FINDING = re.compile(r"\d+\. ")
_HEADS = ("predicted kernel time", "speed-up")  # of lines that state what was requested


def in_colour() -> bool:
    """Whether standard output is a terminal whose user did not refuse colour (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def painted(text: str) -> str:
    """The text with a table's header in bold, its rule pale, and what matters most marked; as it is without colour."""
    if not in_colour():
        return text
    lines = text.split("\n")
    ruled = [bool(_RULE.fullmatch(line)) for line in lines]
    heads = [*ruled[1:], False]  # a header stands above its rule
    styles = [_style(*each) for each in zip(lines, ruled, heads, strict=True)]
    return "\n".join(f"{style}{line}{_PLAIN}" if style else line for line, style in zip(lines, styles, strict=True))


def _style(line: str, is_rule: bool, is_header: bool) -> str:
    if is_rule:
        return _DIM
    if is_header or line.startswith(_HEADS) or _FINDING.match(line):
        return _BOLD
    return _YELLOW if line.startswith("note: ") else ""
