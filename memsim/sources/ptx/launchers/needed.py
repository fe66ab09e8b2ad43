"""What a launcher needs and is not installed: one line that says how to get it."""

from __future__ import annotations

import importlib
import importlib.util
import traceback
from importlib import metadata
from types import ModuleType

from memsim.support.errors import InputError

# Languages whose launches are not caught, though their kernels are PTX, too, by modules.
NOT_CAUGHT = {"tilelang": "TileLang", "jax._src.pallas": "Pallas", "jax.experimental.pallas": "Pallas"}
_EXTRAS = {  # that bring the packages which programs import
    "triton": "triton", "numba_cuda": "numba-cuda", "warp": "warp", "torch": "torch", "cuda": "cuda-bindings",
    "cutlass": "cute",
}  # fmt: skip


def needed(module: str, extra: str) -> ModuleType:
    """Import a module of an extra.

    Raises:
        InputError: it is not installed.

    >>> needed("no_such_module", "triton")
    Traceback (most recent call last):
    ...
    memsim.support.errors.InputError: memsim: no_such_module is not installed; give it: pip install 'memsim[triton]'
    """
    if not is_installed(module):
        raise InputError("memsim", module, f"is not installed; give it: pip install 'memsim[{extra}]'")
    return importlib.import_module(module)


def check_version(package: str, known: str, extra: str) -> None:
    """Have a package be of the version whose names are stood in for.

    Raises:
        InputError: it is another.

    >>> check_version("numpy", "0.9", "triton")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    memsim.support.errors.InputError: memsim: numpy is of version ..., not 0.9; give it: pip install 'memsim[triton]'
    """
    try:
        found = metadata.version(package)
    except metadata.PackageNotFoundError:  # its folder lies there, and nobody installed it
        found = "unknown"
    if not f"{found}.".startswith(f"{known}."):
        raise InputError(
            "memsim", package, f"is of version {found}, not {known}; give it: pip install 'memsim[{extra}]'"
        )


def not_installed(error: ModuleNotFoundError, script: str) -> InputError | None:
    """What to install where a program's import failed; None: it is of nothing that memsim knows.

    >>> print(not_installed(ModuleNotFoundError(name="cuda.bindings"), "s.py"))
    s.py: cuda.bindings is not installed; give it: pip install 'memsim[cuda-bindings]'
    """
    extra = _EXTRAS.get((error.name or "").partition(".")[0])
    if extra is None:
        return None
    return InputError(script, error.name or "", f"is not installed; give it: pip install 'memsim[{extra}]'")


def not_caught(error: BaseException, script: str) -> InputError | None:
    """What to do where a program failed inside a language whose launches are not caught; None: it failed elsewhere."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        module = frame.f_globals.get("__name__") or ""
        language = next((name for start, name in NOT_CAUGHT.items() if f"{module}.".startswith(f"{start}.")), None)
        if language is not None:
            said = (str(error).splitlines() or [""])[0][:80]
            problem = f"failed ({type(error).__name__}: {said}); its kernels are not caught: give their PTX by --ptx"
            return InputError(script, language, problem)
    return None


def is_installed(module: str) -> bool:
    """Whether a module can be imported, without importing it."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # its package is not there
        return False
