"""A folder in which linkers find memsim's libraries, and a CUDA toolkit made of it and of the real one."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from memsim.capture.compilers import WRAPPER_MARK, Compiler, include_folders
from memsim.support.cache import build_once, cache_folder
from memsim.support.scratch import Scratch, leaving_in

_STATIC_RUNTIME = "libcudart_static.a"
_ANSWER = re.compile(r"^#\$ (TOP|INCLUDES|LIBRARIES)=(.*)$", re.MULTILINE)


def link_folder(compiler: Compiler, stand_ins: bool = False) -> Path:
    """The folder with memsim's libraries under the names that linkers look for, ``libcudart.so`` for ``-lcudart``.

    ``libcudart_static.a`` is there as well: a linker script that names the shared runtime.

    Args:
        compiler: the toolkit whose headers a program is compiled with: version 13 takes ``libcudart.so.13``.
        stand_ins: with those for closed libraries.
    """
    from memsim.capture.libraries import library_folder

    libraries, major = library_folder(stand_ins), compiler.version[0]

    def fill(folder: Path) -> None:
        for name, library in _chosen(libraries, major).items():
            (folder / f"{name}.so").symlink_to(library)
            (folder / library.name).symlink_to(library)
        runtime = folder / "libcudart.so"
        if runtime.exists():
            (folder / _STATIC_RUNTIME).write_text(f"INPUT({runtime.resolve()})\n")

    return build_once(cache_folder("link") / f"{libraries.name}-{major}", fill)


def toolkit_folder(compiler: Compiler) -> Path:
    """A CUDA toolkit for builds that look for one in a folder (``CUDA_PATH``): its nvcc is ``memsim nvcc``.

    Its libraries are memsim's, and the real toolkit's where memsim has none. Its headers are the real toolkit's, and
    those of wheels where it has none.
    """
    ours = link_folder(compiler, stand_ins=True)
    answers = _answers(compiler)
    wheels = [Path(one) for one in include_folders()]
    headers = [(str(one), sorted(os.listdir(one))) for one in wheels]
    state = repr((str(ours), str(compiler.path), sys.executable, sorted(answers.items()), headers))

    def fill(folder: Path) -> None:
        top = Path(answers.get("TOP", compiler.path.parents[1]))
        (folder / "bin").mkdir()
        _link_all(top / "bin", folder / "bin", without="nvcc")
        script = folder / "bin" / "nvcc"
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m memsim.capture.nvcc "$@"\n')
        script.chmod(0o755)
        (folder / "bin" / WRAPPER_MARK).touch()
        (folder / "include").mkdir()
        for named in (*_folders(answers.get("INCLUDES", ""), "-I"), *wheels):
            _link_all(named, folder / "include")
        if (top / "nvvm").exists():
            (folder / "nvvm").symlink_to(top / "nvvm")
        (folder / "lib64").mkdir()
        _link_all(ours, folder / "lib64")
        for named in _folders(answers.get("LIBRARIES", ""), "-L"):
            _link_all(named, folder / "lib64")
        (folder / "lib").symlink_to("lib64")

    return build_once(cache_folder("toolkits") / hashlib.sha256(state.encode()).hexdigest()[:20], fill)


def header_folder(compiler: Compiler) -> Path | None:
    """The folder with the toolkit's headers; None if nvcc does not name one."""
    return next(_folders(_answers(compiler).get("INCLUDES", ""), "-I"), None)


def _chosen(libraries: Path, major: int) -> dict[str, Path]:
    """The library for each name: of two versions the newer with a toolkit 13, the older with a toolkit 12."""
    versions: dict[str, dict[int, Path]] = {}
    for library in libraries.glob("lib*.so.*"):
        name, _, version = library.name.partition(".so.")
        if version.isdigit():
            versions.setdefault(name, {})[int(version)] = library
    return {name: found[max(found) if major > 12 else min(found)] for name, found in versions.items()}


def _answers(compiler: Compiler) -> dict[str, str]:
    """What nvcc says of its folders (``TOP``, ``INCLUDES``, ``LIBRARIES``)."""
    command = [str(compiler.path), "--dryrun", "-E", "-x", "cu", os.devnull]
    with Scratch() as scratch:
        output = subprocess.run(
            command, capture_output=True, text=True, errors="replace", env=leaving_in(scratch)
        ).stderr
    return {name: value.strip() for name, value in _ANSWER.findall(output)}


def _folders(options: str, option: str) -> Iterator[Path]:
    for one in shlex.split(options):
        if one.startswith(option) and (path := Path(one.removeprefix(option))).is_dir():
            yield path.resolve()


def _link_all(source: Path, target: Path, without: str = "") -> None:
    """Links to all that a folder has and the other has not."""
    for one in sorted(source.iterdir()) if source.is_dir() else ():
        link = target / one.name
        if one.name != without and not link.is_symlink():
            link.symlink_to(one.resolve())
