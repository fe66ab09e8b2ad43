"""Variables in device memory: the runtime is told where they lie, and gives dynamic shared memory its place."""

from __future__ import annotations

import re
from functools import partial

from clang.cindex import Cursor, CursorKind, Type

from memsim.sources.capture.frontend.declarations import attributes, is_extern, is_static
from memsim.sources.capture.frontend.probing import PROBE, Context
from memsim.sources.capture.frontend.source import find
from memsim.sources.capture.frontend.tree import Node

_SHARED, _CONSTANT = CursorKind.CUDASHARED_ATTR, CursorKind.CUDACONSTANT_ATTR
_SPACES = (_SHARED, "shared"), (_CONSTANT, "constant")  # of variables, as the runtime names them
_STATIC = re.compile(r"\bstatic\b\s*")


def rewrite_local(context: Context, declaration: Node) -> None:
    """Register what a statement declares in shared memory, or in the device's for all threads (``static``).

    For nvcc nothing need be told.
    """
    here = declaration.file, declaration.start
    if context.gpu or here in context.rewritten:
        return
    context.rewritten.add(here)
    edits, text = context.edits[declaration.file], context.files[declaration.file].text
    for variable in (child for child in declaration.children if child.kind == CursorKind.VAR_DECL):
        if _SHARED not in attributes(variable.cursor):
            if is_static(variable.cursor):
                _tell(context, variable, declaration.end, "StaticLocal")
        elif is_extern(variable.cursor):
            edits.remove(declaration.start, declaration.end)
            name, element = variable.cursor.spelling, _element(variable.cursor)
            made = f'auto* {name} = {PROBE}dynamic_shared<{element}>("{name}");'
            edits.insert(declaration.end, partial(str, made))
        else:
            if found := _STATIC.search(text, declaration.start, variable.end):
                edits.remove(*found.span())
            told = f"{PROBE}Shared _memsim_s_{context.registered}({_described(variable.cursor)});"
            edits.insert(declaration.end, partial(str, told))
            context.registered += 1


def rewrite_global(context: Context, variable: Node) -> None:
    """Register a variable declared at namespace scope in device memory."""
    cursor = variable.cursor
    if context.gpu or cursor.semantic_parent.kind not in (CursorKind.TRANSLATION_UNIT, CursorKind.NAMESPACE):
        return
    edits, text = context.edits[variable.file], context.files[variable.file].text
    end = find(text, ";", variable.end) + 1
    if _SHARED in attributes(cursor) and (found := _STATIC.search(text, variable.start, variable.end)):
        edits.remove(*found.span())  # the runtime's __shared__ is static
    if _SHARED in attributes(cursor) and is_extern(cursor):
        name = cursor.spelling
        edits.remove(variable.start, end)
        made = f'static auto* const {name} = {PROBE}dynamic_shared<{_element(cursor)}>("{name}");'
        edits.insert(end, lambda: made)
    elif not is_extern(cursor):
        _tell(context, variable, end, "Symbol")


def _tell(context: Context, variable: Node, offset: int, what: str) -> None:
    """Have an object of the runtime's class `what` made at the offset, which tells of a variable."""
    space = next((name for attribute, name in _SPACES if attribute in attributes(variable.cursor)), "global_")
    told = f"static {PROBE}{what} _memsim_v_{context.registered}({_described(variable.cursor)}, {PROBE}{space});"
    context.edits[variable.file].insert(offset, lambda: told)
    context.registered += 1


def _described(variable: Cursor) -> str:
    name = variable.spelling
    return f'"{name}", (const void*)&{name}, sizeof({name}), sizeof({name}{"[0]" * _rank(variable.type)})'


def _element(variable: Cursor) -> str:
    return str(variable.type.get_array_element_type().spelling)


def _rank(of: Type) -> int:
    rank = 0
    while (element := of.get_array_element_type()).spelling:
        of, rank = element, rank + 1
    return rank
