"""A task: how candidates are launched, what they are to compute, and what is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from memsim.sources.ptx.launch import PtxLaunch
from memsim.sources.ptx.launch_file import extents, run_description
from memsim.support.errors import InputError

TOLERANCE = 1e-4
_NUMBERS, _STRUCTURES = "biufc", "V"  # kinds of NumPy's types


@dataclass(frozen=True)
class JudgeTask:
    """A task file, run.

    Attributes:
        path: of the file.
        kernel: the candidates' kernel; empty: their only one.
        grid, block: extents.
        shared_bytes: of dynamic shared memory.
        arguments: arrays and numbers by name, in the order of the kernel's parameters.
        expected: what arrays hold afterwards; of others nothing is checked.
        tolerance: of floating-point numbers, relative to the largest expected one.
        time_limit_us: a right candidate that takes longer is slow; None: none is.
    """

    path: Path
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    arguments: Mapping[str, Any]
    expected: Mapping[str, np.ndarray]
    tolerance: float = TOLERANCE
    time_limit_us: float | None = None


def read_task(path: Path) -> JudgeTask:
    """Run a task file: Python that sets ``grid``, ``block``, ``arguments`` and ``expected``.

    It may set ``kernel``, ``shared_bytes``, ``tolerance`` and ``time_limit_us``. ``expected`` is a dict of arrays,
    or of paths of ``.npy`` files, by argument; or a function of the arguments that returns one.

    Raises:
        InputError: the file fails, or a name is missing or makes no sense.
    """
    given = run_description(path)
    for name in ("grid", "block", "arguments", "expected"):
        if name not in given:
            raise InputError(path, name, "is not set; a task sets grid, block, arguments and expected")
    arguments = given["arguments"]
    if not isinstance(arguments, dict) or not arguments:
        raise InputError(path, "arguments", "is not a dict; give arrays and numbers by name, in the kernel's order")
    for name, value in arguments.items():
        if not isinstance(value, np.ndarray | np.number | np.bool_ | int | float):
            raise InputError(path, f"arguments[{name!r}]", f"is a {type(value).__name__}; give a number or an array")
        if isinstance(value, np.ndarray) and value.dtype.kind not in _NUMBERS + _STRUCTURES:
            raise InputError(path, f"arguments[{name!r}]", f"is an array of {value.dtype}; give one of numbers")
    kernel = given.get("kernel") or ""
    if not isinstance(kernel, str):
        raise InputError(path, "kernel", f"is {kernel!r}; give the kernel's name")
    shared_bytes = given.get("shared_bytes", 0)
    if isinstance(shared_bytes, bool) or not isinstance(shared_bytes, int | np.integer):
        raise InputError(path, "shared_bytes", f"is {shared_bytes!r}; give a whole number")
    grid, block = extents(path, given, "grid"), extents(path, given, "block")
    PtxLaunch("", kernel, grid, block, shared_bytes=int(shared_bytes), source=str(path)).check()
    limit = given.get("time_limit_us")
    return JudgeTask(
        path,
        kernel,
        grid,
        block,
        int(shared_bytes),
        arguments,
        _expected(path, given["expected"], arguments),
        _number(path, "tolerance", given.get("tolerance", TOLERANCE)),
        None if limit is None else _number(path, "time_limit_us", limit),
    )


def _number(path: Path, name: str, value: Any) -> float:
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not isfinite(value) or value < 0:
        raise InputError(path, name, f"is {value!r}; give a number of 0 or more")
    return float(value)


def _expected(path: Path, given: Any, arguments: Mapping[str, Any]) -> dict[str, np.ndarray]:
    if callable(given):
        copies = {name: np.copy(one) if isinstance(one, np.ndarray) else one for name, one in arguments.items()}
        try:
            given = given(copies)
        except Exception as error:
            raise InputError(path, "expected", f"fails: {type(error).__name__}: {error}") from error
    if not isinstance(given, dict) or not given:
        raise InputError(path, "expected", "is not a dict; give arrays by the argument's name, or a function")
    found = {}
    for name, value in given.items():
        try:
            array = np.load(path.parent / value, allow_pickle=False) if isinstance(value, str) else np.asarray(value)
        except (OSError, ValueError) as error:
            raise InputError(path, f"expected[{name!r}]", f"cannot be read: {error}") from None
        its = arguments.get(name)
        if not isinstance(its, np.ndarray) or its.size != array.size:
            raise InputError(path, f"expected[{name!r}]", "is no array argument of this size; give one per output")
        if array.dtype.kind not in _NUMBERS or its.dtype.kind not in _NUMBERS:
            problem = f"is an array of {array.dtype} for one of {its.dtype}; give numbers"
            raise InputError(path, f"expected[{name!r}]", problem)
        found[name] = array
    return found
