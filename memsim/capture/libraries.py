"""Where memsim's CUDA libraries lie: in the installed package, else in the cache, built when they are needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from memsim.capture.library_build import BUILT, STAND_INS, CompilerError, LibraryBuilder, native_digest
from memsim.support.cache import build_once, cache_folder
from memsim.support.errors import InputError

# How options and file names begin that name a library.
_LINKED = re.compile(r"^(-l|--library=|lib)")


@cache
def library_folder(stand_ins: bool = False) -> Path:
    """The folder with memsim's CUDA libraries; where the installation has none of these sources, they are built, once.

    Args:
        stand_ins: with those for closed libraries, which few programs need and which take longer to build.

    Raises:
        InputError: g++ is missing or fails.
    """
    digest = native_digest()
    if (BUILT / digest).is_dir():
        return BUILT / digest
    core = build_once(cache_folder("libraries") / digest, lambda folder: _build(folder, LibraryBuilder.core))
    if not stand_ins:
        return core

    def build(folder: Path) -> None:
        for file in core.iterdir():
            (folder / file.name).symlink_to(file)
        _build(folder, LibraryBuilder.stand_ins)

    return build_once(core.with_name(f"{core.name}-all"), build)


def _build(folder: Path, build_into: Callable[[LibraryBuilder], None]) -> None:
    try:
        build_into(LibraryBuilder(folder, cache_folder("objects")))
    except CompilerError as error:
        raise InputError("g++", *error.args) from None


def needs_stand_ins(names: Iterable[str]) -> bool:
    """Whether linker options or names of shared libraries ask for a stand-in.

    >>> needs_stand_ins(["-lcublas"]), needs_stand_ins(["libcufft.so.12"]), needs_stand_ins(["-lm", "libcudart.so.13"])
    (True, True, False)
    """
    ours = {name.partition(".so")[0].removeprefix("lib") for one in STAND_INS.values() for name in one.sonames}
    return any(_LINKED.sub("", Path(name).name).partition(".")[0] in ours for name in names)
