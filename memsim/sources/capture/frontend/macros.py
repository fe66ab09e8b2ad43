"""Expands the user's macros where they hide what must be probed.

A probe is put into text, and the text of a macro's body is shared by all its uses; so in device code, and where a macro
makes a launch or a declaration, the use is replaced by its expansion before anything else is looked at. Macros of the
system and of the runtime stay: they are the compiler's business. The C preprocessor itself expands, from a text that
holds the user's definitions in clang's order and the uses between marks.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clang.cindex import Cursor, CursorKind, TranslationUnit

from memsim.sources.capture.frontend.parsing import file_position, lies_in
from memsim.sources.capture.frontend.source import SourceFile
from memsim.support.errors import InputError

# A use whose expansion has one of these is expanded in host code too.
_TELLING = re.compile(r"<<<|\b__(?:global|device|shared|constant|managed)__\b")
_MARK = "memsim_expansion"
_EXPANDED = re.compile(rf"\b{_MARK}_(\d+)_begin\b(.*?)\b{_MARK}_\1_end\b", re.DOTALL)
_PREPROCESSOR = ("g++", "-E", "-P", "-w", "-undef", "-nostdinc", "-x", "c++", "-")


@dataclass(frozen=True)
class _Use:
    file: SourceFile
    start: int
    end: int


def expand(
    unit: TranslationUnit,
    files: Mapping[str, SourceFile],
    device_code: Mapping[str, Sequence[tuple[int, int]]],
    inserted: Mapping[str, Sequence[tuple[int, str]]],
) -> bool:
    """Expand in the files' texts what hides accesses, launches or declarations; put in what else clang needs.

    Args:
        unit: the files, parsed.
        files: the user's files by name.
        device_code: by file, the extents of device functions.
        inserted: by file, text and where it goes.

    Returns:
        Whether anything was expanded or put in, so that the files must be parsed again.
    """
    script, uses = _script(unit, files)
    expansions = _preprocess(script) if uses else {}
    chosen: dict[str, list[tuple[int, int, str]]] = {}
    for number, use in enumerate(uses):
        text = expansions[number]
        name = use.file.name
        if _TELLING.search(text) or any(start <= use.start < end for start, end in device_code.get(name, ())):
            chosen.setdefault(name, []).append((use.start, use.end, text))
    for name, places in inserted.items():
        for place, text in places:
            if not any(start < place < end for start, end, _ in chosen.get(name, ())):
                chosen.setdefault(name, []).append((place, place, text))
    for name, replacements in chosen.items():
        files[name].expand(sorted(replacements))  # at the same place, what is put in comes before an expansion
    return bool(chosen)


def _script(unit: TranslationUnit, files: Mapping[str, SourceFile]) -> tuple[str, list[_Use]]:
    """The text to preprocess, and the uses that it marks, by number."""
    lines: list[str] = []
    uses: list[_Use] = []
    inside: dict[str, int] = {}  # by file, where the last outermost use ends: nested uses come after it
    lies = lies_in(files)
    for cursor in unit.cursor.get_children():
        if cursor.kind not in (CursorKind.MACRO_DEFINITION, CursorKind.MACRO_INSTANTIATION):
            if cursor.kind.is_preprocessing():
                continue
            break  # clang lists what the preprocessor saw first
        if not lies(cursor):
            continue
        name, start = file_position(cursor.extent.start)
        file, end = files[name], file_position(cursor.extent.end)[1]
        if cursor.kind == CursorKind.MACRO_DEFINITION:
            lines += [f"#undef {cursor.spelling}", f"#define {file.text[start:end]}"]
        elif start >= inside.get(name, 0) and _is_users(cursor, files) and not _in_directive(file.text, start):
            inside[name] = end
            lines.append(f"{_MARK}_{len(uses)}_begin {file.text[start:end]} {_MARK}_{len(uses)}_end")
            uses.append(_Use(file, start, end))
    return "\n".join([*lines, ""]), uses


def _is_users(use: Cursor, files: Mapping[str, SourceFile]) -> bool:
    definition = use.referenced
    file = definition.location.file if definition is not None else None
    return file is not None and file.name in files


def _in_directive(text: str, offset: int) -> bool:
    """Whether an offset lies on a line of the preprocessor, ``#if`` or ``#pragma``, continued ones included."""
    start = text.rfind("\n", 0, offset) + 1
    while start >= 2 and text[start - 2] == "\\":
        start = text.rfind("\n", 0, start - 1) + 1
    return text[start:offset].lstrip().startswith("#")


def _preprocess(script: str) -> dict[int, str]:
    """The expansion of every use, on as many lines as it was written on."""
    done = subprocess.run(_PREPROCESSOR, input=script, capture_output=True, text=True, encoding="latin-1")
    if done.returncode != 0:
        first = next((line for line in done.stderr.splitlines() if "error" in line), "no reason given")
        raise InputError("memsim capture", "macros", f"cannot be expanded: {first}")
    written = {int(number): text for number, text in _EXPANDED.findall(script)}
    return {int(number): _on_lines(text, written[int(number)]) for number, text in _EXPANDED.findall(done.stdout)}


def _on_lines(text: str, written: str) -> str:
    """On one line, without pragmas that a macro made, followed by the line ends that the use had."""
    lines = (line.strip() for line in text.strip().splitlines())
    joined = " ".join(line for line in lines if not line.startswith("#"))
    return f" {joined} " + "\n" * written.count("\n")
