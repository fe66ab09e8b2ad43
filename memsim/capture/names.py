"""What a trace calls kernels and the arrays that they are passed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from memsim.sources.ptx.mangled import demangled
from memsim.sources.ptx.ptxas import kernel_name

_LAST_WORD = re.compile(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*$")
MOST_SOURCE = 1 << 22  # bytes of a source file that is searched
MOST_HIDDEN = 2  # pointers to scratch memory that Triton (3.9) passes after a kernel's own parameters


def shown_names(entries: Iterable[str]) -> dict[str, str]:
    """What each kernel of a module is called: its bare name, with template arguments where several have it.

    >>> shown_names(["_Z5scaleIfEvPT_", "_Z5scaleIdEvPT_", "_Z4copyPf"])
    {'_Z5scaleIfEvPT_': 'scale<float>', '_Z5scaleIdEvPT_': 'scale<double>', '_Z4copyPf': 'copy'}
    """
    bare = {one: kernel_name(one) for one in entries}
    count = Counter(bare.values())
    full = {one: full_name(one) if count[name] > 1 else name for one, name in bare.items()}
    again = Counter(full.values())
    return {one: name if again[name] == 1 else demangled(one) for one, name in full.items()}


def full_name(entry: str) -> str:
    """A kernel's name with its template arguments, without return type, namespaces and parameters.

    >>> full_name("_ZN2ns5scaleIfLi4EEEvPT_"), full_name("scale")
    ('scale<float, 4>', 'scale')
    """
    name = demangled(entry)
    if name == entry:
        return name
    name = re.sub(r"\((?:anonymous namespace|unsigned|int|long|bool|char|short)[\w ]*\)", "", name)
    end = _parameters_start(name)
    start, depth = 0, 0
    for at, letter in enumerate(name[:end]):
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(letter, 0)
        if depth == 0 and (letter == " " or name[at : at + 2] == "::"):
            start = at + (2 if letter == ":" else 1)
    return name[start:end]


def _parameters_start(name: str) -> int:
    """Where the list of parameters begins: the last opening parenthesis that stands outside of template arguments."""
    depth = 0
    for at, letter in enumerate(name):
        if letter == "(" and depth == 0:
            return at
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(letter, 0)
    return len(name)


def parameter_names(kernel: str, count: int, files: Iterable[Path]) -> tuple[str, ...]:
    """The names of a kernel's parameters in its source; ``argument0`` and so on where no source has as many.

    Args:
        kernel: its bare name.
        count: how many parameters it has.
        files: that it may be defined in.
    """
    for file in files:
        for names in _definitions(file, kernel):
            hidden = count - len(names)
            if hidden == 0 or (file.suffix == ".py" and 0 < hidden <= MOST_HIDDEN):
                return (*names, *(f"scratch{k}" for k in range(hidden)))
    return tuple(f"argument{k}" for k in range(count))


@lru_cache(256)
def _definitions(file: Path, kernel: str) -> list[tuple[str, ...]]:
    """Parameter names of each definition of a kernel in a file."""
    text = _source(file)
    python = file.suffix == ".py"
    begin = rf"\bdef\s+{re.escape(kernel)}\s*\(" if python else rf"__global__[^;{{}}]*?\b{re.escape(kernel)}\s*\("
    found = []
    for match in re.finditer(begin, text):
        items = _split(text, match.end())
        if python:
            items = [item.partition("=")[0].split(":") for item in items]  # type: ignore[misc]
            found.append(tuple(item[0].strip() for item in items if "constexpr" not in "".join(item[1:])))
        else:
            words = [_LAST_WORD.search(item.partition("=")[0].strip()) for item in items]
            found.append(tuple(word[1] if word else "" for word in words))
    return found


@lru_cache(64)
def _source(file: Path) -> str:
    try:
        text = file.read_bytes()[:MOST_SOURCE].decode("utf-8", "replace")
    except OSError:
        return ""
    comments = r"#[^\n]*" if file.suffix == ".py" else r"//[^\n]*|/\*.*?\*/"
    return re.sub(comments, " ", text, flags=re.DOTALL)


def _split(text: str, at: int) -> list[str]:
    """The parts between commas of a list in parentheses that opened just before a place."""
    items, depth, start = [], 1, at
    while at < len(text) and depth:
        letter = text[at]
        depth += {"(": 1, "[": 1, "{": 1, "<": 1, ")": -1, "]": -1, "}": -1, ">": -1}.get(letter, 0)
        if depth == 0 or depth == 1 and letter == ",":
            items.append(text[start:at])
            start = at + 1
        at += 1
    return [item for item in items if item.strip()]


def matches(selected: Sequence[str], shown: str, entry: str) -> bool:
    """Whether ``--kernel`` names a kernel: by its bare name, or by the one with template arguments.

    >>> matches(["scale"], "scale<float>", "_Z5scaleIfEvPT_")
    True
    >>> matches(["scale<double>"], "scale<float>", "_Z5scaleIfEvPT_")
    False
    """

    def plain(name: str) -> str:
        return name.replace(" ", "")

    known = {plain(one) for one in (shown, entry, kernel_name(entry), full_name(entry), demangled(entry))}
    return not selected or any(plain(one) in known for one in selected)
