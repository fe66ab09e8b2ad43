"""PTX text as tokens: words, numbers, strings, punctuation, each with its line.

Lexical rules of the PTX ISA, chapter 4.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memsim.support.errors import InputError

MOST_BYTES = 64 << 20  # of one text: the largest libraries that kernels come in are smaller
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\f\v\n]+|//[^\n]*|/\*.*?\*/|\.section\b[^{}]*\{[^{}]*\})  # sections hold debug information
    |(?P<number>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?
        |\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+U?)
    |(?P<word>[A-Za-z_$%.][\w$.]*(?:::[\w$.]+)*)
    |(?P<string>"[^"\n]*")
    |(?P<punctuation>[{}()\[\],;:@!|+\-<>=*/&^~?])""",
    re.VERBOSE | re.DOTALL,
)

_ASSEMBLY = re.compile(r"// (begin|end) inline asm")  # what LLVM writes around text that it only hands on


@dataclass(frozen=True, slots=True)
class Token:
    """One token: its kind (``word``, ``number``, ``string``, ``punctuation``, ``assembly``,
    ``end``), its text and its line, from 1."""

    kind: str
    text: str
    line: int


def tokens_of(text: str, where: str) -> list[Token]:
    """The tokens of a PTX text, and one of kind ``end``.

    Args:
        text: of one module.
        where: what errors call it.

    Raises:
        InputError: a character that begins no token, an endless comment, or far too much text.

    >>> [token.text for token in tokens_of("add.s32 %r1, %r2, 0x4; // sum", "t.ptx")]
    ['add.s32', '%r1', ',', '%r2', ',', '0x4', ';', '']
    """
    if len(text) > MOST_BYTES:
        raise InputError(where, "text", f"has {len(text)} characters; give at most {MOST_BYTES}")
    found, at, line = [], 0, 1
    text = text.rstrip("\0")
    for matched in _TOKEN.finditer(text):
        if matched.start() != at:
            break
        at = matched.end()
        kind, part = matched.lastgroup, matched.group()
        if kind != "space":
            found.append(Token(str(kind), part, line))
            continue
        if mark := _ASSEMBLY.match(part):
            found.append(Token("assembly", mark[1], line))
        line += part.count("\n")
    if at < len(text):
        raise InputError(f"{where}:{line}", "text", f"holds {text[at : at + 12]!r}, which is not PTX")
    return [*found, Token("end", "", line)]


def integer(text: str) -> int:
    """The value of an integer's text, 0x, 0b, octal or decimal.

    >>> integer("0x10"), integer("0b11"), integer("017"), integer("42U")
    (16, 3, 15, 42)
    """
    digits = text.rstrip("U")
    if digits[:2] in ("0x", "0X", "0b", "0B") or not digits.startswith("0"):
        return int(digits, 0)
    return int(digits, 8)
