"""Random damage: to the bytes of a file, to the text of a configuration, to the arguments of a command."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# Values that no field means; none of them asks for work that would be right to take long.
ODD = ("", "-1", "0", "nan", "inf", "1e308", "-1e-308", "9" * 30, "x", "\n", "\x1b[31m", "\u202e", "=", "a=b=c", "[",
       "../..", "/dev/null", "true", "0x10", "1:0", "\ud800", "--", "-h", "∑" * 50, "None", "{}")  # fmt: skip


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """A file's bytes with one accident: bits or bytes changed, a piece zeroed, lost, moved, doubled or cut off."""
    data = bytearray(content)
    first = int(rng.integers(len(data)))
    length = int(min(2 ** rng.integers(0, 13), len(data) - first))
    piece = data[first : first + length]
    accident = int(rng.integers(8))
    if accident == 0:
        data[first] ^= 1 << int(rng.integers(8))
    elif accident == 1:
        for place in rng.integers(0, len(data), int(rng.integers(1, 9))):
            data[place] = int(rng.integers(256))
    elif accident == 2:
        data[first : first + length] = bytes(length)
    elif accident == 3:
        data[first : first + length] = rng.bytes(length)
    elif accident == 4:
        del data[first:]
    elif accident == 5:
        del data[first : first + length]
    elif accident == 6:
        data[first:first] = piece
    else:
        to = int(rng.integers(len(data)))
        data[to : to + length] = piece
    return bytes(data)


def flipped(content: bytes, rng: np.random.Generator) -> bytes:
    """A file's bytes with one bit changed."""
    data = bytearray(content)
    data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return bytes(data)


def damaged_text(content: bytes, rng: np.random.Generator) -> bytes:
    """A text with one line lost, doubled, moved or given an odd value, or damaged as bytes are."""
    lines = content.split(b"\n")
    first, other = (int(place) for place in rng.integers(0, len(lines), 2))
    accident = int(rng.integers(6))
    if accident == 0:
        del lines[first]
    elif accident == 1:
        lines.insert(other, lines[first])
    elif accident == 2:
        lines[first], lines[other] = lines[other], lines[first]
    elif accident <= 4:
        name = lines[first].partition(b"=")[0]
        lines[first] = name + b"= " + str(rng.choice(ODD)).encode("utf-8", "surrogatepass")
    else:
        return damaged(content, rng)
    return b"\n".join(lines)


def damaged_arguments(arguments: Sequence[str], rng: np.random.Generator) -> list[str]:
    """The arguments of a command with one or two lost, doubled, exchanged, or made odd."""
    found = list(arguments)
    for _ in range(int(rng.integers(1, 3))):
        first, other = (int(place) for place in rng.integers(0, len(found), 2))
        accident = int(rng.integers(6))
        odd = ODD[int(rng.integers(len(ODD)))]
        if accident == 0 and len(found) > 1:
            del found[first]
        elif accident == 1:
            found.insert(other, found[first])
        elif accident == 2:
            found[first], found[other] = found[other], found[first]
        elif accident == 3:
            name, equals, _ = found[first].partition("=")
            found[first] = f"{name}={odd}" if equals else odd
        elif accident == 4:
            found.insert(other, odd)
        else:
            letters = list(found[first] or " ")
            letters[int(rng.integers(len(letters)))] = chr(int(rng.integers(32, 127)))
            found[first] = "".join(letters)
    return found
