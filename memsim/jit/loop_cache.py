"""Where compiled loops are kept on disk: in a folder whose name is the digest of the sources that are part of them.

Numba looks only at the file of the function that was compiled, not at the files of the functions that are inlined in
it, and it knows a file by its time, which every fresh clone changes. A digest of all sources is right in both cases: a
loop is never older than its sources, and clones of one tree share what was compiled.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from llvmlite.binding import parse_assembly, parse_bitcode
from numba import config
from numba.core.caching import CompileResultCacheImpl, _CacheLocator
from numba.core.codegen import JITCodeLibrary

from memsim.support.cache import PACKAGE, cache_folder, keep_newest, source_digest
from memsim.support.errors import InputError

MOST_FOLDERS = 24  # of all rooms and trees together; one takes up to 20 MB
# Rooms with loops, and the rooms whose functions and constants these loops have within them.
BAKED_IN = {
    "trace": ("support", "jit", "trace"),
    "sources": ("support", "jit", "trace", "sources"),
    "hierarchy": ("support", "jit", "trace", "hierarchy"),
    "profile": ("support", "jit", "trace", "profile"),
    "models": ("support", "jit", "trace", "models"),
}


def digest(package: Path, room: str) -> str:
    """Hexadecimal digest of all sources that the loops of a room have within them.

    Args:
        package: the folder of memsim.
        room: one of :data:`BAKED_IN`.
    """
    return source_digest(package, BAKED_IN[room])


class _ByDigest(_CacheLocator):
    """Numba's interface to such folders; functions outside the package are kept as Numba keeps them."""

    def __init__(self, function: Any, source: Path) -> None:
        self._line = function.__code__.co_firstlineno
        self._path = _folder(source.parts[0]).joinpath(*source.with_suffix("").parts[1:])

    def get_cache_path(self) -> str:
        return str(self._path)

    def get_source_stamp(self) -> str:
        return ""  # the folder's name says it

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _ByDigest | None:
        path = Path(py_file)
        if not path.is_relative_to(PACKAGE) or path.relative_to(PACKAGE).parts[0] not in BAKED_IN:
            return None
        try:
            located = cls(py_func, path.relative_to(PACKAGE))
            located.ensure_cache_path()
        except (OSError, InputError):  # no folder can be written
            return None
        return located


@cache
def _folder(room: str) -> Path:
    """The folder of a room's loops; older trees' folders go when there are too many."""
    root = Path(config.CACHE_DIR) if config.CACHE_DIR else cache_folder("loops")  # type: ignore[attr-defined]
    folder = root / f"{room}-{digest(PACKAGE, room)}"
    if not folder.is_dir() and root.is_dir():
        keep_newest(root, MOST_FOLDERS - 1)
    return folder


class _LoadedLibrary(JITCodeLibrary):
    """A loop's code from disk, of which LLVM's language is parsed only where another loop takes it in."""

    bitcode: bytes

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            self._shared_module = parse_bitcode(self.bitcode)
        return self._shared_module


class LoopCacheImpl(CompileResultCacheImpl):
    """Numba's reading and writing of compiled functions, in our folders where they may be written.

    Numba parses LLVM's language of every function that it reads, to find which symbols the machine code defines: a
    tenth of the time of a small run. Here the symbols' names are stored.
    """

    _locator_classes = [_ByDigest, *CompileResultCacheImpl._locator_classes]

    def reduce(self, compiled: Any) -> tuple[Any, ...]:
        (name, kind, (machine_code, bitcode)), *others = super().reduce(compiled)
        module = compiled.library._get_module_for_linking()
        defined = [
            one.name for ones in (module.functions, module.global_variables) for one in ones if not one.is_declaration
        ]
        empty = parse_assembly("").as_bitcode()
        return (defined, bitcode), (name, kind, (machine_code, empty)), *others

    def rebuild(self, target_context: Any, stored: tuple[Any, ...]) -> Any:
        (defined, bitcode), *others = stored
        target_context.codegen()._engine._defined_symbols.update(defined)
        found = super().rebuild(target_context, others)
        found.library.__class__ = _LoadedLibrary
        found.library._shared_module, found.library.bitcode = None, bitcode
        return found


@contextmanager
def hold_lock(path: str | Path) -> Iterator[None]:
    """Hold a lock that other processes that would compile the same function wait for."""
    with ExitStack() as stack:
        with suppress(OSError):  # nobody shares a folder that cannot be written
            file = stack.enter_context(open(f"{path}.lock", "w"))
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
