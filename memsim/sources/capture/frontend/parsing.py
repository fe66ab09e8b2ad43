"""libclang, as the front end needs it: a CUDA file parsed, and what Python's binding does not wrap.

The file is parsed for the host against the runtime's headers, which stand in for CUDA's own. A missing declaration
makes clang drop the expression around it silently, so any error it reports is refused.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from ctypes import POINTER, byref, c_int, c_longlong, c_uint, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

from clang.cindex import (
    Cursor,
    CursorKind,
    Diagnostic,
    File,
    Index,
    SourceLocation,
    TranslationUnit,
    TranslationUnitLoadError,
    _CXString,
    c_object_p,
    conf,
)

from memsim.sources.capture.frontend.source import SourceFile
from memsim.support.errors import InputError

# -fms-extensions and the like stay off; nvcc lets a narrowing conversion in braces pass.
FLAGS = (
    "-x",
    "cuda",
    "--cuda-host-only",
    "-nocudainc",
    "-nocudalib",
    "-Wno-everything",
    "-Wno-c++11-narrowing",
    "-ferror-limit=0",
)

_EVALUATED_INTEGER = 1  # CXEval_Int (clang-c/Index.h)

_ADVICE = (
    ("'(surface|cudaSurfaceObject_t)'", "surfaces are not known; use an array in global memory"),
    (r"'(thrust|cuda|nv)/.*' file not found", "install nvidia-cuda-cccl, which brings Thrust and libcu++"),
    (
        r"'(cub/|cusolver|npp|nvrtc|cuda_gl|GL/).*' file not found",
        "CUDA's libraries are not known; capture the kernels without them",
    ),
    ("file not found", "give its folder with -I"),
    (r"in (namespace )?'std\b", "a later C++ may have it: --std c++20"),
)

# Of a host function that names a device function, clang makes nothing; nvcc warns, and makes a launch of it that fails.
_ONLY_WARNED = re.compile(r"reference to __device__ function '.*' in __host__ function$")
_KEEP_GOING = 0x200  # CXTranslationUnit_KeepGoing: behind a header that is missing, others may be, too
_NOT_FOUND = re.compile(r"'(.+)' file not found")
_UNDECLARED = re.compile(r"(?:use of undeclared identifier|unknown type name) '(\w+)'")


def parse(path: Path, arguments: Sequence[str], texts: Mapping[str, str] | None = None) -> TranslationUnit:
    """Parse one CUDA file.

    Args:
        path: the file.
        arguments: include folders and definitions, the runtime's headers among them.
        texts: what files contain instead of what is on the disk, a character a byte (latin-1).

    Raises:
        InputError: there is no such file.
    """
    unsaved = [(name, text.encode("latin-1")) for name, text in (texts or {}).items()]
    options = TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD | _KEEP_GOING
    try:
        return Index.create().parse(str(path), [*FLAGS, *arguments, *_system_folders()], unsaved, options)
    except TranslationUnitLoadError as error:
        raise InputError(path, "file", "cannot be parsed; give CUDA C++ source") from error


def check(unit: TranslationUnit) -> None:
    """Refuse what clang did not understand.

    Raises:
        InputError: names the file, the line, and clang's reason.
    """
    refused = [message for message in unit.diagnostics if _is_refused(message)]
    headers = [message for message in refused if _NOT_FOUND.search(message.spelling)]
    if refused:  # without a header, names are missing that nobody need be told of
        one = (headers or refused)[0]
        where = f"{one.location.file.name}:{one.location.line}" if one.location.file else unit.spelling
        others = _others(headers, _NOT_FOUND) if headers else _others(refused, _UNDECLARED)
        raise InputError(where, "code", f"is not understood: {one.spelling}{_advice(one.spelling)}{others}")


def _is_refused(message: Diagnostic) -> bool:
    foreign = _library.clang_Location_isInSystemHeader(message.location)  # g++'s libraries use what only g++ knows
    passed = foreign or _ONLY_WARNED.match(message.spelling)
    return bool(message.severity == Diagnostic.Fatal or (message.severity == Diagnostic.Error and not passed))


def _others(refused: Sequence[Diagnostic], missing: re.Pattern[str]) -> str:
    """The other headers or names that are not there, so that they are all known at once."""
    first = missing.search(refused[0].spelling)
    found = dict.fromkeys(name[1] for one in refused if (name := missing.search(one.spelling)))
    others = [name for name in found if first is None or name != first[1]]
    return f"; not known either: {', '.join(others)}" if others else ""


def _advice(complaint: str) -> str:
    return next((f"; {advice}" for pattern, advice in _ADVICE if re.search(pattern, complaint)), "")


@cache
def _system_folders() -> tuple[str, ...]:
    """The C++ compiler's own include folders, as arguments: the libclang wheel ships no headers."""
    command = ["g++", "-E", "-v", "-x", "c++", "/dev/null"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError) as error:
        raise InputError("memsim capture", "g++", "does not run here; install it: it builds the program") from error
    listed = told.partition("#include <...> search starts here:")[2].partition("End of search list")[0]
    return tuple(part for folder in listed.split() for part in ("-isystem", folder))


def user_files(unit: TranslationUnit) -> list[str]:
    """Names of the parsed file and of those it includes, without the system's and the runtime's."""
    names = [unit.spelling]
    for inclusion in unit.get_includes():
        start = SourceLocation.from_offset(unit, inclusion.include, 0)
        if not _library.clang_Location_isInSystemHeader(start) and inclusion.include.name not in names:
            names.append(inclusion.include.name)
    return names


def file_position(location: SourceLocation) -> tuple[str, int]:
    """File and byte offset of what is written: of a macro's argument in the argument, of its body at its use."""
    file, line, column, offset = c_object_p(), c_uint(), c_uint(), c_uint()
    _library.clang_getFileLocation(location, byref(file), byref(line), byref(column), byref(offset))
    return (File(file).name if file else "", offset.value)


def lies_in(files: Mapping[str, SourceFile]) -> Callable[[Cursor], bool]:
    """Says of cursors of one unit whether they lie in these of the user's files.

    Of most, which lie in headers of the system, libclang is not asked for the file: it counts lines to tell it, and a
    unit has tens of thousands of cursors. But where a user's file calls itself a header of the system it is asked.
    """
    by_name = any("system_header" in file.text for file in files.values())

    def lies(cursor: Cursor) -> bool:
        if not by_name and is_system(cursor):
            return False
        file = cursor.location.file
        return file is not None and file.name in files

    return lies


def is_system(cursor: Cursor) -> bool:
    """Whether a cursor lies in a header of the system or of the runtime."""
    return bool(_library.clang_Location_isInSystemHeader(cursor.location))


def binary_operator(cursor: Cursor) -> int:
    return int(_library.clang_getCursorBinaryOperatorKind(cursor))


def unary_operator(cursor: Cursor) -> int:
    return int(_library.clang_getCursorUnaryOperatorKind(cursor))


def operator_spelling(cursor: Cursor) -> str:
    """The operator of a unary or binary expression, as it is written."""
    if cursor.kind == CursorKind.UNARY_OPERATOR:
        return str(_library.clang_getUnaryOperatorKindSpelling(unary_operator(cursor)))
    return str(_library.clang_getBinaryOperatorKindSpelling(binary_operator(cursor)))


def integer_value(expression: Cursor) -> int | None:
    """The value of a constant expression of an integer type, else None."""
    done = _library.clang_Cursor_Evaluate(expression)
    if not done:
        return None
    try:
        known = _library.clang_EvalResult_getKind(done) == _EVALUATED_INTEGER
        return int(_library.clang_EvalResult_getAsLongLong(done)) if known else None
    finally:
        _library.clang_EvalResult_dispose(done)


def initializer(variable: Cursor) -> Cursor | None:
    """The expression that gives a variable its first value, an implicit call of a constructor included."""
    found: Cursor | None = _library.clang_Cursor_getVarDeclInitializer(variable)
    return found


def pattern(function: Cursor) -> Cursor:
    """The template that a specialization was made from, else the function itself."""
    return _library.clang_getSpecializedCursorTemplate(function) or function


def overloads(reference: Cursor) -> Iterator[Cursor]:
    """The functions that an unresolved name in a template may mean."""
    if reference is not None and reference.kind == CursorKind.OVERLOADED_DECL_REF:
        for index in range(_library.clang_getNumOverloadedDecls(reference)):
            yield _library.clang_getOverloadedDecl(reference, index)


def _declare() -> Any:
    """The library, with the types of what the binding leaves out."""
    library = conf.lib
    library.clang_getFileLocation.argtypes = [
        SourceLocation, POINTER(c_object_p), POINTER(c_uint), POINTER(c_uint), POINTER(c_uint),
    ]  # fmt: skip
    library.clang_getFileLocation.restype = None
    library.clang_Location_isInSystemHeader.argtypes = [SourceLocation]
    for name in ("clang_getCursorBinaryOperatorKind", "clang_getCursorUnaryOperatorKind"):
        getattr(library, name).argtypes = [Cursor]
    library.clang_Cursor_getVarDeclInitializer.argtypes = [Cursor]
    library.clang_Cursor_getVarDeclInitializer.restype = Cursor
    library.clang_Cursor_getVarDeclInitializer.errcheck = Cursor.from_cursor_result
    for name in ("clang_getBinaryOperatorKindSpelling", "clang_getUnaryOperatorKindSpelling"):
        getattr(library, name).restype = _CXString
        getattr(library, name).errcheck = _CXString.from_result
    library.clang_Cursor_Evaluate.argtypes, library.clang_Cursor_Evaluate.restype = [Cursor], c_void_p
    for name, result in (("getKind", c_int), ("getAsLongLong", c_longlong), ("dispose", None)):
        function = getattr(library, f"clang_EvalResult_{name}")
        function.argtypes, function.restype = [c_void_p], result
    return library


_library = _declare()
