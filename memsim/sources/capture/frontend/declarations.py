"""What a file declares that capture is about: device functions, launches, variables in device memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from clang.cindex import Cursor, CursorKind, StorageClass, TranslationUnit

from memsim.sources.capture.frontend.parsing import file_position, lies_in, pattern
from memsim.sources.capture.frontend.source import SourceFile
from memsim.sources.capture.frontend.tree import Node

_FUNCTIONS = (
    CursorKind.FUNCTION_DECL,
    CursorKind.FUNCTION_TEMPLATE,
    CursorKind.CXX_METHOD,
    CursorKind.CONSTRUCTOR,
    CursorKind.DESTRUCTOR,
    CursorKind.CONVERSION_FUNCTION,
)
CLASSES = (
    CursorKind.STRUCT_DECL,
    CursorKind.CLASS_DECL,
    CursorKind.CLASS_TEMPLATE,
    CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION,
)
_SCOPES = (
    CursorKind.NAMESPACE,
    CursorKind.LINKAGE_SPEC,
    CursorKind.UNEXPOSED_DECL,
    CursorKind.FRIEND_DECL,
    *CLASSES,
)
_DEVICE = (CursorKind.CUDAGLOBAL_ATTR, CursorKind.CUDADEVICE_ATTR)
_WORDS = {CursorKind.CUDAHOST_ATTR: "__host__ ", CursorKind.CUDADEVICE_ATTR: "__device__ "}
CONFIGURATIONS = ("__cudaPushCallConfiguration", "cudaConfigureCall")  # what clang makes of <<< >>>

Key = tuple[str, int]  # of a function: where its definition, or that of its template, is written


@dataclass
class Declarations:
    """What the user's files declare, in order.

    Attributes:
        device: functions with code for the device, by key; each with its body.
        host: bodies of functions for the host alone, where launches may be.
        variables: declared at namespace scope in device memory.
    """

    device: dict[Key, Cursor] = field(default_factory=dict)
    host: list[Cursor] = field(default_factory=list)
    variables: list[Cursor] = field(default_factory=list)


def collect(unit: TranslationUnit, files: Mapping[str, SourceFile]) -> Declarations:
    """Everything declared in the given files."""
    found = Declarations()
    for cursor in filter(lies_in(files), unit.cursor.get_children()):
        _add(found, cursor)
    return found


def undecorated(unit: TranslationUnit, files: Mapping[str, SourceFile]) -> list[tuple[Cursor, str]]:
    """Definitions of device functions that only a declaration before them calls so, as nvcc allows; with its words."""
    declared: dict[str, set[CursorKind]] = {}
    found = []
    for cursor in _functions(unit.cursor, lies_in(files)):
        known = declared.setdefault(cursor.get_usr(), set())
        own = attributes(cursor)
        if cursor.is_definition() and not own and CursorKind.CUDADEVICE_ATTR in known:
            found.append((cursor, "".join(word for kind, word in _WORDS.items() if kind in known)))
        known |= own
    return found


def _functions(scope: Cursor, wanted: Callable[[Cursor], bool]) -> Iterator[Cursor]:
    """All declarations of functions that are wanted, in order."""
    for cursor in filter(wanted, scope.get_children()):
        if cursor.kind in _FUNCTIONS:
            yield cursor
        elif cursor.kind in _SCOPES:
            yield from _functions(cursor, wanted)


def _add(found: Declarations, cursor: Cursor) -> None:
    if cursor.kind in _FUNCTIONS:
        if not cursor.is_definition():
            return
        if attributes(cursor) & {*_DEVICE}:
            found.device[key(cursor)] = cursor
        else:
            found.host.append(cursor)
    elif cursor.kind == CursorKind.VAR_DECL:
        if attributes(cursor):
            found.variables.append(cursor)
        else:
            found.host.append(cursor)  # its initial value may hold a lambda for the device
    elif cursor.kind in _SCOPES:
        for child in cursor.get_children():
            _add(found, child)


def attributes(cursor: Cursor) -> set[CursorKind]:
    """CUDA's attributes of a declaration."""
    return {child.kind for child in cursor.get_children() if child.kind.name.startswith("CUDA")}


def is_kernel(function: Cursor) -> bool:
    return CursorKind.CUDAGLOBAL_ATTR in attributes(function)


def key(function: Cursor) -> Key:
    """What identifies a function, of whatever instantiation: where its template is written."""
    original = pattern(function)
    return file_position((original.get_definition() or original).location)


def is_static(variable: Cursor) -> bool:
    return bool(variable.storage_class == StorageClass.STATIC)


def is_extern(variable: Cursor) -> bool:
    return bool(variable.storage_class == StorageClass.EXTERN)


def is_launch(node: Node) -> bool:
    return node.kind == CursorKind.CALL_EXPR and configuration(node) is not None


def configuration(node: Node) -> Node | None:
    """What stands between the angle brackets of a launch, brackets included."""
    for child in node.children:
        if child.kind == CursorKind.CALL_EXPR and child.cursor.spelling in CONFIGURATIONS:
            return child
    return None


def launches(node: Node) -> Iterator[Node]:
    return (one for one in node.walk() if is_launch(one))
