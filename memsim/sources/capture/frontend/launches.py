"""Kernel launches in host code: the angle brackets become a call of the runtime."""

from __future__ import annotations

import json

from clang.cindex import CursorKind

from memsim.sources.capture.frontend.declarations import configuration
from memsim.sources.capture.frontend.parsing import overloads
from memsim.sources.capture.frontend.probing import PROBE, Context
from memsim.sources.capture.frontend.source import find
from memsim.sources.capture.frontend.tree import Node

_PARAMETERS = (
    CursorKind.TEMPLATE_TYPE_PARAMETER,
    CursorKind.TEMPLATE_NON_TYPE_PARAMETER,
    CursorKind.TEMPLATE_TEMPLATE_PARAMETER,
)


def rewrite_launch(context: Context, node: Node) -> None:
    """``k<<<g, b, s, t>>>(x)`` becomes ``launcher("k", "file", line, g, b, s, t, k)(x)``."""
    file, edits = context.files[node.file], context.edits[node.file]
    brackets = configuration(node)
    assert brackets is not None
    kernel = file.text[node.start : brackets.start].strip()
    name = kernel.partition("<")[0].split("::")[-1].strip()
    where = json.dumps(str(file.path)), file.line_column(node.start)[0]
    given = _count(file.text, brackets.start + 3, brackets.end - 3)
    called = _deduced(kernel) if _leaves_open(node.children[0], kernel) else kernel
    edits.remove(node.start, brackets.start + 3)
    edits.insert(brackets.start + 3, lambda: f'{PROBE}launcher("{name}", {where[0]}, {where[1]}, ')
    edits.remove(brackets.end - 3, brackets.end)
    edits.insert(brackets.end, lambda: ", 0" * (4 - given) + f", {called})")


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


def _count(text: str, start: int, end: int) -> int:
    """How many expressions stand between commas."""
    count = 1
    while (comma := find(text, ",", start, end)) >= 0:
        count, start = count + 1, comma + 1
    return count


def _deduced(kernel: str) -> str:
    return f"[&](auto... memsim_a) {{ {kernel}(memsim_a...); }}"


def _leaves_open(callee: Node, kernel: str) -> bool:
    """Whether a kernel's template arguments are deduced from the launch's arguments, or its overload is."""
    written = 0
    if "<" in kernel:
        opening = kernel.index("<")
        written = _count_template(kernel[opening + 1 : kernel.rindex(">")])
    for one in callee.walk():
        candidates = list(overloads(one.cursor.referenced))
        if candidates:
            return len(candidates) > 1 or _parameters(candidates[0]) > written
        named = one.cursor.referenced
        if named is not None and named.kind == CursorKind.FUNCTION_DECL:
            return max(named.get_num_template_arguments(), 0) > written
    return False


def _count_template(arguments: str) -> int:
    """How many template arguments a list has; those in nested lists are not its own."""
    depth, count = 0, 1
    for character in arguments:
        depth += (character in "<([{") - (character in ">)]}")
        count += character == "," and depth == 0
    return count


def _parameters(template: object) -> int:
    return sum(child.kind in _PARAMETERS for child in template.get_children())  # type: ignore[attr-defined]
