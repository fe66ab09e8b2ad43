"""From CUDA C++ to an instrumented copy of it, and the table of its sites."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from clang.cindex import CursorKind, TranslationUnit

from memsim.sources.capture.frontend import declarations, macros
from memsim.sources.capture.frontend.allocations import is_allocation, keep_type
from memsim.sources.capture.frontend.collectives import named_collectives
from memsim.sources.capture.frontend.constants import is_constexpr
from memsim.sources.capture.frontend.launches import (
    casts_to_pointer,
    keep_kernel,
    rewrite_launch,
    rewrite_launch_function,
)
from memsim.sources.capture.frontend.numbering import number
from memsim.sources.capture.frontend.operators import overloaded, parameters
from memsim.sources.capture.frontend.parsing import check, file_position, parse, user_files
from memsim.sources.capture.frontend.probing import Context
from memsim.sources.capture.frontend.source import Edits, SourceFile, behind_template, braced_shapes
from memsim.sources.capture.frontend.statements import Statements
from memsim.sources.capture.frontend.tree import Node
from memsim.sources.capture.frontend.variables import rewrite_global
from memsim.sources.capture.sites import Site

# g++'s library has the name inside attributes, so the runtime cannot define it.
_NOINLINE = re.compile(r"(?<!\()\b__noinline__\b(?!\s*[,)])")


@dataclass(frozen=True)
class Instrumented:
    """A file, and what it includes of the user's, with probes.

    Attributes:
        path: of the file.
        texts: of every file by its absolute path, a character a byte (latin-1).
        sites: what the probes' numbers stand for.
        kernels: names of the kernels it defines.
        launched: names in its launches ``k<<<...>>>()``, in order.
        collectives: CUB's functions of blocks and warps that it names, whose accesses have no probes.
    """

    path: Path
    texts: dict[Path, str]
    sites: list[Site]
    kernels: list[str]
    launched: list[str]
    collectives: list[str]


def instrument(
    path: Path,
    arguments: Sequence[str] = (),
    *,
    first: int = 1,
    gpu: bool = False,
    assembly: bool = False,
    keep_redundant: bool = False,
) -> Instrumented:
    """Put probes at every access of a file's device code.

    Args:
        path: the CUDA C++ file.
        arguments: the compiler's, as the user gives them (``-I``, ``-D``, ``-std``) and the runtime's include folder.
        first: number of the first site.
        gpu: the text is for nvcc, not for the host.
        assembly: inline PTX ends the program where it would be run, instead of being refused.
        keep_redundant: probe also loads that a compiler provably removes.

    Raises:
        InputError: the file or one it includes is not understood, or has what cannot be captured; names file and line.
    """
    path = Path(os.path.abspath(path))
    unit, files = _parse_expanded(path, arguments)
    found = declarations.collect(unit, files)
    edits = {name: Edits() for name in files}
    device, host = {key: Node.of(cursor) for key, cursor in found.device.items()}, [Node.of(one) for one in found.host]
    taken = parameters(found.device.values(), [*device.values(), *host])
    context = Context(files, edits, found.device, overloaded(found.device), taken, keep_redundant, gpu, assembly)
    for key, node in device.items():
        if not is_constexpr(files[node.file].text, node):
            Statements(context, key, node).function(node)
    for cursor in found.variables:
        rewrite_global(context, Node.of(cursor))
    launched = [name for node in host for name in _rewrite_host(context, node)]
    context.check()
    shown = {name: _shown(Path(name), path) for name in files}
    sites = number(context, first, shown)
    texts = {file.path: _final(context, name) for name, file in files.items()}
    kernels = [cursor.spelling for cursor in found.device.values() if declarations.is_kernel(cursor)]
    return Instrumented(path, texts, sites, kernels, launched, named_collectives(unit, files))


def _parse_expanded(path: Path, arguments: Sequence[str]) -> tuple[TranslationUnit, dict[str, SourceFile]]:
    """Parse a file; again if macros had to be expanded, braced grids named, or device functions marked."""
    unit = parse(path, arguments)
    files = {name: SourceFile.read(name) for name in user_files(unit)}
    if any(file.differs for file in files.values()):
        unit = _parse_again(path, arguments, files)
    unmarked = declarations.undecorated(unit, files)
    if not unmarked and not any(braced_shapes(file.text) for file in files.values()):  # which clang complains of
        check(unit)
    device_code: dict[str, list[tuple[int, int]]] = {}
    for cursor in [*declarations.collect(unit, files).device.values(), *(cursor for cursor, _ in unmarked)]:
        file, start = file_position(cursor.extent.start)
        device_code.setdefault(file, []).append((start, file_position(cursor.extent.end)[1]))
    places = {name: braced_shapes(file.text) for name, file in files.items()}
    inserted = {name: [(place, "dim3") for place in found] for name, found in places.items()}
    for cursor, words in unmarked:
        file, start = file_position(cursor.extent.start)
        inserted[file].append((behind_template(files[file].text, start), words))
    if macros.expand(unit, files, device_code, inserted):
        unit = _parse_again(path, arguments, files)
        check(unit)
    return unit, files


def _parse_again(path: Path, arguments: Sequence[str], files: Mapping[str, SourceFile]) -> TranslationUnit:
    return parse(path, arguments, {name: file.text for name, file in files.items()})


def _rewrite_host(context: Context, function: Node) -> list[str]:
    """Rewrite the launches and allocations of a host function, and put probes into its lambdas for the device.

    Returns the names in its launches ``k<<<...>>>()``.
    """
    launched = []
    for node in function.walk():
        if declarations.is_launch(node):
            launched.append(rewrite_launch(context, node))
        elif is_allocation(node):
            keep_type(context, node)
        elif node.kind == CursorKind.CALL_EXPR and node.cursor.spelling == "cudaLaunchKernel":
            rewrite_launch_function(context, node)
        elif casts_to_pointer(node):
            keep_kernel(context, node)
        elif node.kind == CursorKind.LAMBDA_EXPR and declarations.attributes(node.cursor):
            Statements(context, (node.file, node.start), node).closure(node)
    return launched


def _shown(name: Path, main: Path) -> str:
    """How tables name a file: by its path from the main file's folder."""
    return os.path.relpath(name, main.parent)


def _final(context: Context, name: str) -> str:
    text = context.edits[name].apply(context.files[name].text)
    return text if context.gpu else _NOINLINE.sub("__attribute__((noinline))", text)
