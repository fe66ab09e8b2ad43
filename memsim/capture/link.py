"""Links PTX texts into one, as the device linker does with objects compiled by ``-rdc=true``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from memsim.capture.outline import Item, Outline, outline

_DEVICE_RUNTIME = "_cuda_device_runtime_cu_"  # in the names of libcudadevrt, which every linked program carries
_HEAD = re.compile(r"^\s*\.(version|target|address_size)\s+([^\n]*)$", re.MULTILINE)
_FILE = re.compile(r"^(\s*\.file\s+)(\d+)(\s[^\n]*)$", re.MULTILINE)
_LOC = re.compile(r"(\.loc\s+|\binlined_at\s+)(\d+)\b")
_INFO_STRING = re.compile(r"\$L__info_string(\d+)\b")
_DEBUG_STRINGS = re.compile(r"\.section\s+\.debug_str\s*\{(.*?)\n?\s*\}", re.DOTALL)
_ALIAS = re.compile(r"^\s*\.alias\s[^\n]*$", re.MULTILINE)
_NUMBER = re.compile(r"\d+")
_EMPTY = ".version 8.0\n.target sm_75\n.address_size 64\n"
_SHARED_NAMES = re.compile(r"\.(visible|weak|common|extern)\b")


@dataclass
class _Linked:
    """What the texts come to, by kind, in the order of the result."""

    files: list[str] = field(default_factory=list)
    declarations: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    externals: dict[str, str] = field(default_factory=dict)  # variables that no text has defined yet
    functions: dict[str, str] = field(default_factory=dict)
    strings: list[str] = field(default_factory=list)
    aliases: list[str] = field(default_factory=list)
    last_file: int = 0
    strings_taken: int = 0


def linked(texts: Sequence[str]) -> str:
    """One PTX text of several: what one declares as ``.extern`` and another defines is the same afterwards.

    Of definitions with one name the first stays, as with C++ templates. Names that a text keeps to itself and that
    another has, too, are changed. The file numbers of ``.loc`` are those of the result.
    """
    own = [text for text in texts if _DEVICE_RUNTIME not in text] or list(texts)
    if len(own) <= 1:
        return own[0] if own else _EMPTY
    result = _Linked()
    for number, text in enumerate(own):
        _add(result, _renumbered(result, text), number)
    unknown = {name: text for name, text in result.externals.items() if name not in result.variables}
    sections = [_head(own), *result.declarations.values(), *unknown.values(), *result.variables.values()]
    sections += [*result.functions.values(), *result.aliases, *result.files]
    if result.strings:
        sections += [".section .debug_str\n{", *result.strings, "}"]
    return "\n".join(sections) + "\n"


def _head(texts: Iterable[str]) -> str:
    """Version and target of the newest text; all have the same size of addresses."""
    heads = [dict(_HEAD.findall(text)) for text in texts]
    newest = {name: max((head[name] for head in heads), key=_newness) for name in ("version", "target")}
    return f".version {newest['version']}\n.target {newest['target']}\n.address_size 64\n"


def _newness(value: str) -> tuple[list[int], str]:
    return [int(one) for one in _NUMBER.findall(value)], value


def _renumbered(result: _Linked, text: str) -> str:
    """A text whose file numbers and names of debug strings no earlier text has."""
    files, strings = result.last_file, result.strings_taken
    if files:
        text = _FILE.sub(lambda one: f"{one[1]}{int(one[2]) + files}{one[3]}", text)
        text = _LOC.sub(lambda one: f"{one[1]}{int(one[2]) + files}", text)
    if strings:
        text = _INFO_STRING.sub(lambda one: f"$L__info_string{int(one[1]) + strings}", text)
    result.last_file = max((int(one[2]) for one in _FILE.finditer(text)), default=files)
    result.strings_taken = 1 + max((int(one[1]) for one in _INFO_STRING.finditer(text)), default=strings - 1)
    return text


def _add(result: _Linked, text: str, number: int) -> None:
    found = outline(text)
    clashing = [name for name in _private(found) if name in result.functions or name in result.variables]
    if clashing:
        text = _renamed(text, clashing, number)
        found = outline(text)
    _add_functions(result, found)
    for name, one in found.variables.items():
        where = result.externals if ".extern" in one.linkage and not _is_shared(one, text) else result.variables
        where.setdefault(name, text[one.start : one.stop])
    rest = "".join(_outside(found))
    result.files += [one[0].strip() for one in _FILE.finditer(rest)]
    result.aliases += [one.strip() for one in _ALIAS.findall(rest)]
    result.strings += _DEBUG_STRINGS.findall(text)


def _add_functions(result: _Linked, found: Outline) -> None:
    text = found.text
    for name, one in found.functions.items():
        result.functions.setdefault(name, text[one.start : one.stop])
        if not one.entry:
            result.declarations[name] = f"{text[one.start : one.body].rstrip()}\n;"
    for one in found.declarations:
        for name in one.names:
            if not one.entry:
                result.declarations.setdefault(name, text[one.start : one.stop])


def _private(found: Outline) -> Iterator[str]:
    """Names that a text keeps to itself."""
    for name, one in (*found.functions.items(), *found.variables.items()):
        if not _SHARED_NAMES.search(one.linkage) and not one.entry:
            yield name


def _is_shared(one: Item, text: str) -> bool:
    """Whether a variable is dynamic shared memory, which is external by its kind."""
    return ".shared" in text[one.start : one.stop].partition("=")[0]


def _renamed(text: str, names: Sequence[str], number: int) -> str:
    """A text with a suffix behind some of its names."""
    pattern = re.compile(rf"(?<![\w$%])(?:{'|'.join(map(re.escape, names))})(?![\w$])")
    return pattern.sub(lambda one: f"{one[0]}$of{number}", text)


def _outside(found: Outline) -> Iterator[str]:
    """What stands between the functions and variables of a text."""
    at = 0
    items = {one.start: one for one in (*found.functions.values(), *found.variables.values(), *found.declarations)}
    for start in sorted(items):
        if start >= at:
            yield found.text[at:start]
            at = items[start].stop
    yield found.text[at:]
