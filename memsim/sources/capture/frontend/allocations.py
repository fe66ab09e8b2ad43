"""Allocations in host code: what a pointer points to, though ``(void**)&p`` hides it."""

from __future__ import annotations

from clang.cindex import CursorKind, TypeKind

from memsim.sources.capture.frontend.probing import Context
from memsim.sources.capture.frontend.tree import Node

_DEPENDENT = -3  # CXTypeLayoutError_Dependent (clang-c/Index.h): it has a size once its template is instantiated
_ALLOCATING = {f"cudaMalloc{kind}" for kind in ("", "Managed", "Pitch", "Host", "Async")} | {"cudaHostAlloc"}
_CASTS = (CursorKind.CSTYLE_CAST_EXPR, CursorKind.CXX_REINTERPRET_CAST_EXPR)


def is_allocation(node: Node) -> bool:
    return node.kind == CursorKind.CALL_EXPR and node.cursor.spelling in _ALLOCATING


def keep_type(context: Context, call: Node) -> None:
    """``cudaMalloc((void**)&p, n)`` becomes ``cudaMalloc(&p, n)``: a template of the runtime's, and of CUDA's own."""
    for argument in call.children[1:2]:
        cast = argument.inner
        if cast.kind not in _CASTS or not cast.children:
            continue
        pointer = cast.children[-1]
        if _points_to_object_pointer(pointer):
            context.edits[cast.file].remove(cast.start, pointer.start)
            context.edits[cast.file].remove(pointer.end, cast.end)


def _points_to_object_pointer(node: Node) -> bool:
    """Whether an expression's type is ``T**``, with a T that has a size."""
    outer = node.cursor.type.get_canonical()
    inner = outer.get_pointee().get_canonical()
    size = inner.get_pointee().get_size()
    return outer.kind == inner.kind == TypeKind.POINTER and (size > 0 or size == _DEPENDENT)
