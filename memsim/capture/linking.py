"""A folder in which linkers find memsim's libraries: ``-lcudart`` looks for ``libcudart.so``, without a version."""

from __future__ import annotations

import os
from pathlib import Path

from memsim.support.cache import cache_folder


def link_folder(major: int) -> Path:
    """The folder with memsim's libraries under the names that linkers look for.

    Args:
        major: version of the toolkit whose headers a program is compiled with: 13 takes ``libcudart.so.13``.
    """
    from memsim.capture.libraries import library_folder

    libraries = Path(library_folder())
    folder = cache_folder("link") / f"{libraries.name}-{major}"
    if folder.is_dir():
        return folder
    made = folder.with_name(f"{folder.name}.{os.getpid()}")
    made.mkdir(exist_ok=True)
    for name, library in _chosen(libraries, major).items():
        link = made / f"{name}.so"
        if not link.is_symlink():
            link.symlink_to(library)
    try:
        os.replace(made, folder)
    except OSError:  # another process was first
        for link in made.iterdir():
            link.unlink()
        made.rmdir()
    return folder


def _chosen(libraries: Path, major: int) -> dict[str, Path]:
    """The library for each name: of two versions the newer with a toolkit 13, the older with a toolkit 12."""
    versions: dict[str, dict[int, Path]] = {}
    for library in libraries.glob("lib*.so.*"):
        name, _, version = library.name.partition(".so.")
        if version.isdigit():
            versions.setdefault(name, {})[int(version)] = library
    return {name: found[max(found) if major > 12 else min(found)] for name, found in versions.items()}
