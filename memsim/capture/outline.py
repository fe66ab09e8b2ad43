"""Where functions and variables stand in a PTX text, so that only what a kernel uses is parsed and assembled.

C++ libraries leave hundreds of functions in a module. A text reduced to one kernel keeps its line numbers: what is left
out becomes empty lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_ITEM = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/) | (?P<string>"[^"]*") | (?P<open>\{) | (?P<close>\}) | (?P<end>;)
    | (?P<function>\.(?:entry|func)\b) | (?P<section>\.section\b)
    | (?P<variable>\.(?:global|const|shared)\b)""",
    re.VERBOSE | re.DOTALL,
)
_LINKAGE = re.compile(r"(?:\.(?:visible|extern|weak|common|noreturn)\s+)*$")
_FUNCTION_NAME = re.compile(r"\.(?:entry|func)\s*(?:\.noreturn\s*)?(?:\([^)]*\)\s*)?([\w$]+)")
_VARIABLE_NAMES = re.compile(r"([\w$]+)\s*(?=(?:\[[^\]]*\]\s*)*(?:=|;|,\s*[\w$]+\s*[\[;=,]))")
_WORD = re.compile(r"[A-Za-z_$%][\w$]*")


@dataclass(frozen=True)
class Item:
    """A function or variables at the top level of a text.

    Attributes:
        start, stop: of its characters, linkage included.
        body: where a function's brace opens; -1 for a declaration or a variable.
        entry: whether it is a kernel.
        linkage: words such as ``.visible``.
    """

    names: tuple[str, ...]
    start: int
    stop: int
    body: int = -1
    entry: bool = False
    linkage: str = ""


@dataclass
class Outline:
    """The top level of a PTX text.

    Attributes:
        functions: definitions by name.
        declarations: functions without a body.
        variables: of all spaces, by name.
        head_end: where the first item begins.
    """

    text: str
    functions: dict[str, Item] = field(default_factory=dict)
    declarations: list[Item] = field(default_factory=list)
    variables: dict[str, Item] = field(default_factory=dict)
    _words: dict[str, frozenset[str]] = field(default_factory=dict)

    @property
    def kernels(self) -> list[str]:
        return [name for name, one in self.functions.items() if one.entry]

    def skeleton(self) -> str:
        """The text with empty bodies: what parses quickly to parameters and variables."""
        pieces, at = [], 0
        for one in sorted(self.functions.values(), key=lambda one: one.start):
            pieces += [self.text[at : one.body], "{ ret; }"]
            at = one.stop
        return "".join([*pieces, self.text[at:]])

    def reduced(self, kernel: str) -> str:
        """The text with what a kernel uses, at the same lines."""
        used = self._used(kernel)
        out = [one for name, one in self.functions.items() if name not in used]
        out += [one for one in {id(one): one for one in self.variables.values()}.values() if not used & set(one.names)]
        out += [one for one in self.declarations if not used & set(one.names)]
        return _without(self.text, out)

    def _used(self, kernel: str) -> set[str]:
        used: set[str] = set()
        todo = [kernel]
        while todo:
            name = todo.pop()
            if name in used:
                continue
            used.add(name)
            todo += [word for word in self._words_of(name) if word not in used]
        return used

    def _words_of(self, name: str) -> frozenset[str]:
        """Names of the module in the text of an item; declared functions as well."""
        if name not in self._words:
            item = self.functions.get(name) or self.variables.get(name)
            known = self.functions.keys() | self.variables.keys() | {n for one in self.declarations for n in one.names}
            found = _WORD.findall(self.text, item.start, item.stop) if item else ()
            self._words[name] = frozenset(known.intersection(found))
        return self._words[name]


def outline(text: str) -> Outline:
    """Find the functions and variables of a PTX text; a damaged text has an outline as far as it goes."""
    found, at = Outline(text), 0
    while (token := _ITEM.search(text, at)) is not None:
        at = token.end()
        if token.lastgroup == "function":
            item = _function(text, token.start())
            if item.body < 0:
                found.declarations.append(item)
            else:
                found.functions[item.names[0]] = item
            at = item.stop
        elif token.lastgroup == "variable":
            stop = _statement_end(text, at)
            names = tuple(_VARIABLE_NAMES.findall(text[at:stop].partition("=")[0] + "="))
            start = _with_linkage(text, token.start())
            item = Item(names[-1:] if "=" in text[at:stop] else names, start, stop, linkage=text[start : token.start()])
            found.variables |= dict.fromkeys(item.names, item)
            at = stop
        elif token.lastgroup in ("section", "open"):
            at = _block_end(text, at if token.lastgroup == "section" else token.start())
    return found


def _with_linkage(text: str, at: int) -> int:
    before = _LINKAGE.search(text, max(0, at - 64), at)
    return before.start() if before else at


def _function(text: str, at: int) -> Item:
    name = _FUNCTION_NAME.match(text, at)
    start, stop = _with_linkage(text, at), len(text)
    names = (name[1],) if name else ("",)
    entry = text.startswith(".entry", at)
    for token in _ITEM.finditer(text, at):
        if token.lastgroup == "end":
            return Item(names, start, token.end(), -1, entry, text[start:at])
        if token.lastgroup == "open":
            stop = _block_end(text, token.start())
            return Item(names, start, stop, token.start(), entry, text[start:at])
    return Item(names, start, stop, -1, entry, text[start:at])


def _block_end(text: str, at: int) -> int:
    """Behind the brace that closes the first one from a place on."""
    depth = 0
    for token in _ITEM.finditer(text, at):
        if token.lastgroup == "open":
            depth += 1
        elif token.lastgroup == "close":
            depth -= 1
            if depth == 0:
                return token.end()
    return len(text)


def _statement_end(text: str, at: int) -> int:
    for token in _ITEM.finditer(text, at):
        if token.lastgroup == "end":
            return token.end()
    return len(text)


def _without(text: str, items: Iterable[Item]) -> str:
    """The text without items; their lines stay, empty."""
    pieces, at = [], 0
    for one in sorted(items, key=lambda one: one.start):
        if one.start >= at:
            pieces += [text[at : one.start], "\n" * text.count("\n", one.start, one.stop)]
            at = one.stop
    return "".join([*pieces, text[at:]])
