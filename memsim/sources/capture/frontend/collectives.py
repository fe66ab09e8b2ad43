"""CUB's functions of blocks and warps that a program names: what they access has no probes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clang.cindex import Cursor, CursorKind, TranslationUnit

from memsim.sources.capture.frontend.parsing import is_system, lies_in, overloads
from memsim.sources.capture.frontend.source import SourceFile

_NAMING = (CursorKind.TEMPLATE_REF, CursorKind.DECL_REF_EXPR, CursorKind.OVERLOADED_DECL_REF)
_ACCESSING = re.compile(r"(Block|Warp)(Reduce|Scan|Load|Store|Exchange|RadixSort)|(Load|Store)Direct\w+")


def named_collectives(unit: TranslationUnit, files: Mapping[str, SourceFile]) -> list[str]:
    """Those that the given files name, however they came by the name, in order."""
    if not any("/cub/" in one.include.name for one in unit.get_includes()):
        return []
    found: dict[str, None] = {}
    for top in filter(lies_in(files), unit.cursor.get_children()):
        for cursor in top.walk_preorder():
            if cursor.kind in _NAMING and _is_collective(cursor):
                found[f"cub::{cursor.spelling}"] = None
    return list(found)


def _is_collective(cursor: Cursor) -> bool:
    if not _ACCESSING.fullmatch(cursor.spelling):
        return False
    named = cursor.referenced
    meant = [named] if named is not None and named.kind != CursorKind.OVERLOADED_DECL_REF else overloads(named)
    return any(is_system(one) and one.semantic_parent.spelling == "cub" for one in meant)
