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
    for library in sorted(libraries.glob("lib*.so*")):
        name, _, version = library.name.partition(".so.")
        if name == "libcudart" and version != str(major):
            continue
        link = made / f"{name.removesuffix('.so')}.so"
        if not link.is_symlink():
            link.symlink_to(library)
    try:
        os.replace(made, folder)
    except OSError:  # another process was first
        for link in made.iterdir():
            link.unlink()
        made.rmdir()
    return folder
