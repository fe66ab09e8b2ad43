"""Compiled reading of numbers from text. It ends with a line feed, which ends every token: no loop runs past it."""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import loop

SPACE, LINE_FEED = 32, 10
BAD = -1  # `read_*` found no number
_NO_DIGIT = 255
_HEX = np.full(256, _NO_DIGIT, np.uint8)
for _text in ("0123456789abcdef", "0123456789ABCDEF"):
    for _value, _character in enumerate(_text):
        _HEX[ord(_character)] = _value
MOST_HEX, MOST_DECIMAL = 15, 18  # digits that surely fit i8
LARGEST = 1 << 57  # no address and no distance between addresses reaches this: virtual addresses have 57 bits at most


@loop
def skip_spaces(text, at):
    """The first position from `at` on that holds no white space, or a line feed."""
    while text[at] <= SPACE and text[at] != LINE_FEED:
        at += 1
    return at


@loop
def skip_token(text, at):
    """The first position from `at` on that holds white space."""
    while text[at] > SPACE:
        at += 1
    return at


@loop
def skip_line(text, at):
    """The position after the next line feed."""
    while text[at] != LINE_FEED:
        at += 1
    return at + 1


@loop
def read_hex(text, at):
    """(value, position after it) of a hexadecimal number, with or without 0x; BAD when there is none below 2**60."""
    at = skip_spaces(text, at)
    if text[at] == 48 and (text[at + 1] | 32) == 120:
        at += 2
        if _HEX[text[at]] == _NO_DIGIT:
            return BAD, at
    start = at
    while text[at] == 48:
        at += 1
    zeros = at
    value = np.int64(0)
    while _HEX[text[at]] != _NO_DIGIT:
        value = (value << 4) | np.int64(_HEX[text[at]])
        at += 1
    if at == start or text[at] > SPACE or at - zeros > MOST_HEX:
        return BAD, at
    return value, at


@loop
def read_decimal(text, at):
    """(value, position after it) of a decimal number at a token's end; BAD when there is none of 18 digits or less."""
    at = skip_spaces(text, at)
    value, after = read_digits(text, at)
    return (BAD if text[after] > SPACE else value), after


@loop
def read_digits(text, at):
    """The same, wherever the digits end."""
    start = at
    value = np.int64(0)
    while 48 <= text[at] <= 57:
        if at - start < MOST_DECIMAL:
            value = 10 * value + (np.int64(text[at]) - 48)
        at += 1
    return (BAD if at == start or at - start > MOST_DECIMAL else value), at


@loop
def read_signed(text, at):
    """(magnitude, negative, position after it) of a signed decimal number; the magnitude is BAD when there is none."""
    at = skip_spaces(text, at)
    negative = text[at] == 45
    if negative:
        at += 1
    value, after = read_digits(text, at)
    return (BAD if text[after] > SPACE else value), negative, after


@loop
def begins_with(text, at, word):
    """Whether the text at `at` begins with the bytes of `word`."""
    k = 0
    while k < len(word) and text[at + k] == word[k]:  # a word has no line feed, so the text's last stops it
        k += 1
    return k == len(word)
