"""A position in the tokens of a PTX text, and what is read there: single tokens and constants."""

from __future__ import annotations

import re
import struct

from memsim.sources.ptx.module import Immediate
from memsim.sources.ptx.tokens import Token, integer, tokens_of
from memsim.support.errors import InputError


class TokenCursor:
    """Reads tokens one after another; errors name their line."""

    def __init__(self, text: str, where: str) -> None:
        self._tokens = tokens_of(text, where)
        self._at = 0
        self._where = where

    def _peek(self) -> Token:
        return self._tokens[self._at]

    def _next(self) -> Token:
        token = self._tokens[self._at]
        if token.kind == "end":
            raise self._error(token, "ends too early; give the complete text")
        self._at += 1
        return token

    def _take(self, text: str) -> bool:
        if self._peek().text != text:
            return False
        self._at += 1
        return True

    def _expect(self, text: str) -> Token:
        token = self._next()
        if token.text != text:
            raise self._error(token, f"has {token.text!r} where {text!r} must be")
        return token

    def _error(self, token: Token, problem: str) -> InputError:
        return InputError(f"{self._where}:{token.line}", "PTX", problem)

    def _integer(self) -> int:
        negative = self._take("-")
        token = self._next()
        if token.kind != "number" or token.text[:2] in ("0f", "0F", "0d", "0D") or "." in token.text:
            raise self._error(token, f"has {token.text!r} where a whole number must be")
        return -integer(token.text) if negative else integer(token.text)

    def _list(self) -> str:
        """The first of the tokens that commas separate; what follows is skipped."""
        first = self._next()
        while self._take(","):
            self._next()
        return first.text

    def _constant(self) -> Immediate:
        negative = self._take("-")
        token = self._next()
        if token.kind != "number":
            raise self._error(token, f"has {token.text!r} where a constant must be")
        prefix = token.text[:2].lower()
        if prefix in ("0f", "0d"):
            bits = 32 if prefix == "0f" else 64
            value = int(token.text[2:], 16) ^ (1 << (bits - 1) if negative else 0)
            return Immediate(value, bits)
        if re.fullmatch(r"\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+", token.text):
            number = float(token.text) * (-1 if negative else 1)
            return Immediate(struct.unpack("<Q", struct.pack("<d", number))[0], 64)
        return Immediate(-integer(token.text) if negative else integer(token.text))
