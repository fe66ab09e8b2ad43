"""Kernel launches in host code: the angle brackets become a call of the runtime."""

from __future__ import annotations

import json

from clang.cindex import CursorKind, TypeKind

from memsim.sources.capture.frontend.declarations import configuration, is_kernel
from memsim.sources.capture.frontend.parsing import pattern
from memsim.sources.capture.frontend.probing import PROBE, Context
from memsim.sources.capture.frontend.source import code
from memsim.sources.capture.frontend.tree import Node
from memsim.sources.capture.kernel_names import bare_name

_VALUES = (CursorKind.VAR_DECL, CursorKind.PARM_DECL, CursorKind.TEMPLATE_NON_TYPE_PARAMETER)
_CASTS = (CursorKind.CSTYLE_CAST_EXPR, CursorKind.CXX_REINTERPRET_CAST_EXPR, CursorKind.CXX_FUNCTIONAL_CAST_EXPR)
_NULL = (CursorKind.INTEGER_LITERAL, CursorKind.GNU_NULL_EXPR)


def rewrite_launch(context: Context, node: Node) -> str:
    """``k<<<g, b>>>(x)`` becomes ``launch("k", "file", line, MEMSIM_KERNEL(k), shape(g, b), x)``; returns its name."""
    file, edits = context.files[node.file], context.edits[node.file]
    brackets = configuration(node)
    assert brackets is not None
    kernel = file.text[node.start : brackets.start].strip()
    name = bare_name(kernel)
    line = file.written_as(node.start, node.end).line
    written = json.dumps(" ".join(kernel.split()))  # with template arguments, which tell instances apart
    if not context.gpu and _is_pointer_to_kernel(node):
        written = f"{PROBE}name_of({kernel}, {written})"
    before = f"{PROBE}launch({written}, {json.dumps(str(file.path))}, {line}, MEMSIM_KERNEL("
    edits.wrap(node.start, brackets.start, lambda: before, lambda: f"), {PROBE}shape(")
    edits.remove(brackets.start, brackets.start + len("<<<"))
    opening, first = _two(file.text, brackets.end)
    edits.remove(brackets.end - len(">>>"), opening + 1)
    edits.insert(opening + 1, lambda: ")" if first == ")" else "), ")
    for argument in node.children:
        if argument.start > opening and argument.inner.kind in _NULL and _is_pointer(argument):
            edits.remove(argument.start, argument.end)  # a number by the time that it is passed on
            edits.insert(argument.end, lambda: "nullptr")
    return name


def _is_pointer_to_kernel(launch: Node) -> bool:
    """Whether what is launched is told by a value, not by a function's name."""
    callee = launch.children[0].inner
    while callee.children and callee.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR):
        callee = callee.children[0].inner
    if callee.kind in (CursorKind.ARRAY_SUBSCRIPT_EXPR, CursorKind.MEMBER_REF_EXPR):
        return True
    named = callee.cursor.referenced
    return callee.kind == CursorKind.DECL_REF_EXPR and named is not None and named.kind in _VALUES


def _two(text: str, start: int) -> tuple[int, str]:
    """Offset of the parenthesis of a launch's arguments, and the first character behind it."""
    found = code(text, start)
    opening, character = next(found)
    assert character == "("
    return opening, next(found)[1]


def _is_pointer(node: Node) -> bool:
    return node.cursor.type.get_canonical().kind in (TypeKind.POINTER, TypeKind.NULLPTR)


def rewrite_launch_function(context: Context, node: Node) -> None:
    """``cudaLaunchKernel((void*)k, ...)`` keeps the kernel's type, which says what its arguments are."""
    if len(node.children) < 2:
        return
    first = node.children[1]
    inner = first.inner
    while inner.children and inner.kind != CursorKind.DECL_REF_EXPR:
        inner = inner.children[-1].inner
    named = inner.cursor.referenced
    if named is not None and named.kind in (CursorKind.FUNCTION_DECL, CursorKind.OVERLOADED_DECL_REF):
        edits = context.edits[node.file]
        edits.remove(first.start, inner.start)
        edits.remove(inner.end, first.end)


def keep_kernel(context: Context, cast: Node) -> None:
    """``(void*)k`` tells the runtime the kernel's type, which a launch of the pointer needs."""
    inner = cast.inner
    while inner.children and inner.kind != CursorKind.DECL_REF_EXPR:
        inner = inner.children[-1].inner
    named = inner.cursor.referenced
    if named is None or named.kind != CursorKind.FUNCTION_DECL or not is_kernel(pattern(named)) or context.gpu:
        return
    context.edits[cast.file].wrap(inner.start, inner.end, lambda: f"{PROBE}known(", lambda: ")")


def casts_to_pointer(node: Node) -> bool:
    """Whether an expression is written as a cast to ``void*``."""
    if node.kind not in _CASTS:
        return False
    of = node.cursor.type.get_canonical()
    return bool(of.kind == TypeKind.POINTER and of.get_pointee().kind == TypeKind.VOID)
