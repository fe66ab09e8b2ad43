"""The text of a source file while it is instrumented: what stands where, what is put in, and what the user wrote.

Texts hold a character a byte (latin-1), so that clang's byte offsets are indices.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

_SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
# nvcc takes launches whose brackets are apart, `k<< <g, b>> >(x)`; clang does not.
_LAUNCH = re.compile(r"<<(\s+)<(?!<)([^;]*?)>>(\s+)>(?=\s*\()")
# It takes these two in one order alone; they are exchanged, which moves nothing behind them.
_SHARED_ALIGNED = re.compile(r"\b(__shared__)(\s+)(alignas\s*\((?:[^()]|\([^()]*\))*\))")
# It passes over a backslash before a comment that ends a line.
_STRAY = re.compile(r"\\(?=[ \t]+//)")
# And a global constant of the name of CUDA's own, which has the same value: that one stands for it.
_WARP_SIZE = re.compile(
    r"^(?:(?:inline|static|const|constexpr)\s+)+(?:unsigned(?:\s+int)?|int)\s+warpSize\s*(?:=\s*32|\{\s*32\s*\})\s*;",
    re.MULTILINE,
)
_TEMPLATE = re.compile(r"template\s*<")
_BYTE_ORDER_MARK = re.compile(r"\A\xef\xbb\xbf")  # that of UTF-8 is allowed at a file's very start alone
_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True)
class Replaced:
    """A macro's use that its expansion stands in for: offsets in the text now, and in the text as written."""

    start: int
    end: int
    written_start: int
    written_end: int


class Written(NamedTuple):
    """Line and column, from 1, and the text there, with white space made single blanks."""

    line: int
    column: int
    text: str


@dataclass
class SourceFile:
    """One file of the user's.

    Attributes:
        name: as clang has it.
        written: as the user wrote it.
        text: with macros expanded where they hide accesses; what clang has parsed.
        replaced: where `text` differs from `written`, ascending.
    """

    name: str
    written: str
    text: str
    replaced: list[Replaced] = field(default_factory=list)

    @classmethod
    def read(cls, name: str) -> SourceFile:
        text = Path(name).read_bytes().decode("latin-1")
        read = _SHARED_ALIGNED.sub(r"\3\2\1", _LAUNCH.sub(_joined, text))
        for passed_over in (_BYTE_ORDER_MARK, _STRAY):
            read = passed_over.sub(_blanked, read)
        return cls(name, text, _WARP_SIZE.sub(lambda found: _blanked(found) if _is_global(found) else found[0], read))

    @property
    def path(self) -> Path:
        return Path(os.path.abspath(self.name))

    def expand(self, expansions: list[tuple[int, int, str]]) -> None:
        """Put (start, end, text) in place of what is there; ascending, apart, and only once."""
        assert not self.replaced
        parts, done, length = [], 0, 0
        for start, end, new in expansions:
            parts += [self.text[done:start], new]
            length += start - done
            self.replaced.append(Replaced(length, length + len(new), start, end))
            length += len(new)
            done = end
        self.text = "".join([*parts, self.text[done:]])

    @property
    def differs(self) -> bool:
        """Whether the text is not what is on the disk."""
        return self.text != self.written

    def written_as(self, start: int, end: int) -> Written:
        """Where the user wrote what stands at [start, end) of the text: in a macro's argument, or as a macro's use."""
        first, last = self._written(start, before=True), self._written(end, before=False)
        for one in self.replaced:
            if one.start <= start and end <= one.end:
                argument = self.written.find(self.text[start:end], one.written_start, one.written_end)
                if argument >= 0:
                    first, last = argument, argument + end - start
        before = self.written[:first]
        shown = self.written[first:last].encode("latin-1").decode("utf-8", "replace")
        return Written(before.count("\n") + 1, len(before) - before.rfind("\n"), " ".join(shown.split()))

    def _written(self, offset: int, *, before: bool) -> int:
        """The written offset of one in the text; inside an expansion, where the macro's use starts or ends."""
        index = bisect_right(self.replaced, offset if before else offset - 1, key=lambda one: one.start) - 1
        if index < 0:
            return offset
        last = self.replaced[index]
        if offset < last.end or (not before and offset == last.end):
            return last.written_start if before else last.written_end
        return offset - last.end + last.written_end


Late = Callable[[], str]  # text that is known once all sites are numbered


@dataclass
class Edits:
    """What is put into a text, and where."""

    _wraps: list[tuple[int, int, Late, Late]] = field(default_factory=list)
    _inserts: dict[int, list[Late]] = field(default_factory=dict)
    _removed: list[tuple[int, int]] = field(default_factory=list)

    def wrap(self, start: int, end: int, before: Late, after: Late) -> None:
        """Put text around [start, end). Wraps nest; of two around the same text the first is the inner one."""
        self._wraps.append((start, end, before, after))

    def insert(self, offset: int, text: Late) -> None:
        """Put text after what is closed at the offset, and before what is opened."""
        self._inserts.setdefault(offset, []).append(text)

    def remove(self, start: int, end: int) -> None:
        self._removed.append((start, end))

    def apply(self, text: str) -> str:
        """The text with everything put in and taken out."""
        put: dict[int, list[Late]] = {}
        wraps = list(enumerate(self._wraps))
        for _, (_, end, _, after) in sorted(wraps, key=lambda one: (-one[1][0], one[0])):  # inner ones close first
            put.setdefault(end, []).append(after)
        for offset, inserts in self._inserts.items():
            put.setdefault(offset, []).extend(inserts)
        for _, (start, _, before, _) in sorted(wraps, key=lambda one: (-one[1][1], -one[0])):  # outer ones open first
            put.setdefault(start, []).append(before)
        return "".join(self._pieces(text, put))

    def _pieces(self, text: str, put: dict[int, list[Late]]) -> Iterator[str]:
        removed = {offset for start, end in self._removed for offset in range(start, end)}
        done = 0
        for offset in sorted({*put, *(edge for pair in self._removed for edge in pair), len(text)}):
            between = text[done:offset]
            yield between if done not in removed else "\n" * between.count("\n")  # lines keep their numbers
            yield from (late() for late in put.get(offset, ()))
            done = offset


def code(text: str, start: int, end: int | None = None) -> Iterator[tuple[int, str]]:
    """Offsets and characters of code: without comments, literals and white space."""
    end = len(text) if end is None else end
    while start < end:
        if text[start] in "/\"'R" and (skipped := _SKIPPED.match(text, start)) and not _separator(text, start):
            start = skipped.end()
            continue
        if not text[start].isspace():
            yield start, text[start]
        start += 1


def braced_shapes(text: str) -> list[int]:
    """Offsets of braces that stand for a grid or block, `k<<<{8, 8}, {32}>>>()`, which nvcc takes and clang does not.

    >>> braced_shapes("k<<<{8, 8}, {32}>>>(a)")
    [4, 12]
    """
    found = []
    for launch in re.finditer("<<<", text):
        start, end = launch.end(), text.find(">>>", launch.end())
        for _ in ("grid", "block"):
            first = next(code(text, start, end), None)
            if first is not None and first[1] == "{":
                found.append(first[0])
            start = find(text, ",", start, end) + 1
            if not start:
                break
    return found


def behind_template(text: str, start: int) -> int:
    """Where a declaration that starts there goes on behind `template <...>`.

    >>> behind_template("template <class T, class U = A<T>> void f();", 0)
    35
    >>> behind_template("template <int n = (2 > 1) /* not > 1 */> void f();", 0)
    41
    >>> behind_template("template_result f();", 0)
    0
    """
    at = start
    while found := _TEMPLATE.match(text, at):
        at, depth, nested = found.end(), 1, 0
        for offset, character in code(text, found.end()):
            at = offset
            if depth == 0:
                break
            nested += (character in _OPENING) - (character in _CLOSING)
            if not nested:
                depth += {"<": 1, ">": -1}.get(character, 0)
    return at


def _joined(launch: re.Match[str]) -> str:
    """A launch with its brackets joined, as long as it was."""
    return f"<<<{launch[1]}{launch[2]}>>>{launch[3]}"


def _blanked(found: re.Match[str]) -> str:
    """Nothing, on as many lines and columns."""
    return re.sub(r"[^\n]", " ", found[0])


def _is_global(found: re.Match[str]) -> bool:
    """Whether it stands outside braces."""
    opened = [character for _, character in code(found.string, 0, found.start()) if character in "{}"]
    return opened.count("{") == opened.count("}")


def _separator(text: str, offset: int) -> bool:
    """Whether an apostrophe stands between the digits of a number."""
    return text[offset] == "'" and offset > 0 and text[offset - 1].isalnum()


def find(text: str, wanted: str, start: int, end: int | None = None) -> int:
    """Offset of the first character of `wanted` outside brackets, comments and literals; -1 where there is none.

    >>> find("(a; b); c", ";", 0)
    6
    """
    depth = 0
    for offset, character in code(text, start, end):
        if depth == 0 and character in wanted:
            return offset
        depth += (character in _OPENING) - (character in _CLOSING)
    return -1


def closing(text: str, opening: int) -> int:
    """Offset of the bracket that closes the one at `opening`."""
    return find(text, _CLOSING, opening + 1)
