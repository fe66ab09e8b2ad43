"""Workloads: a kernel, and how to build its launch and data from parameters."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from memsim.sources.describe.failures import located
from memsim.sources.describe.memory import array_of
from memsim.support.errors import InputError
from memsim.trace.schema import LaunchShape


@dataclass(frozen=True)
class Launch:
    """A kernel with everything it is launched with.

    Attributes:
        kernel: a function ``kernel(t, ...)`` of the arguments' names.
        grid, block: blocks and threads a block, one number or up to three.
        arguments: by parameter of the kernel: arrays (changed in place by the kernel), numbers, :class:`Constant`,
            :class:`Texture`.
        registers: of a thread, as the compiler reports them; they limit the blocks resident on an SM.
        shared_bytes: of a block, in addition to what the kernel declares with ``t.shared``.
        fast_math: the program is compiled with ``--use_fast_math``, or written with intrinsics such as ``__sinf``: its
            functions of single precision are few instructions.
        residencies: default block sample in multiples of the threads resident on the whole GPU; None: as large as it
            takes to turn over the last-level cache (Baghsorkhi 2012, section 3.1).
        expected: computes what the kernel leaves in its arrays once every block has run, for tests.
    """

    kernel: Callable[..., None]
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    arguments: Mapping[str, Any]
    registers: int = 32
    shared_bytes: int = 0
    fast_math: bool = False
    residencies: float | None = None
    expected: Callable[[], Mapping[str, np.ndarray]] | None = field(default=None, repr=False)

    @property
    def shape(self) -> LaunchShape:
        """Grid and block with three extents.

        Raises:
            ValueError: an extent is not a positive whole number.
        """
        return LaunchShape(
            _extents("grid", self.grid),
            _extents("block", self.block),
            registers=self.registers,
            shared_bytes=self.shared_bytes,
        )

    def check_arguments(self) -> None:
        """Raise TypeError or ValueError unless the kernel takes these arguments and the arrays hold numbers."""
        inspect.signature(self.kernel).bind(None, **self.arguments)
        for name, value in self.arguments.items():
            values = array_of(value)
            if isinstance(values, np.ndarray) and (values.dtype.kind not in "biuf" or values.dtype.itemsize > 8):
                raise TypeError(f"array {name} has dtype {values.dtype}; kernels have bools, integers and floats")
            if isinstance(values, np.ndarray) and not values.flags.c_contiguous:
                raise ValueError(f"array {name} is not contiguous; pass np.ascontiguousarray({name})")


@dataclass(frozen=True)
class Workload:
    """What ``@workload`` makes of a function that builds a Launch from parameters with defaults.

    Attributes:
        name, builder: the function.
        shown: the file's name in traces and messages.
        choices: values that ``memsim explore`` tries, by parameter.
    """

    builder: Callable[..., Launch]
    shown: str
    choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.builder.__name__

    @property
    def about(self) -> str:
        """What its file says of itself."""
        return inspect.cleandoc(self.builder.__globals__.get("__doc__") or self.builder.__doc__ or "")

    @property
    def filename(self) -> str:
        """The file that defines the kernel, as Python knows it."""
        return self.builder.__code__.co_filename

    def show(self, filename: str) -> str:
        """How traces and messages name a source file."""
        return self.shown if filename == self.filename else Path(filename).name

    def parameters(self, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """All parameters: those given, converted from text where need be, and the others' defaults.

        Raises:
            InputError: an unknown parameter, or a value of another type; says what would be right.
        """
        signature, types = inspect.signature(self.builder), typing.get_type_hints(self.builder)
        for name in given or {}:
            if name not in signature.parameters:
                known = ", ".join(f"{p.name}={p.default}" for p in signature.parameters.values()) or "none"
                raise InputError(self.shown, name, f"is not a parameter of {self.name}; it has {known}")
        values = {name: parameter.default for name, parameter in signature.parameters.items()}
        values |= {name: self._converted(name, value, types[name]) for name, value in (given or {}).items()}
        return values

    def described(self) -> list[tuple[str, Any, str]]:
        """Each parameter's name, default, and what a value of it is."""
        types = typing.get_type_hints(self.builder)
        found = inspect.signature(self.builder).parameters.items()
        return [(name, parameter.default, _what(types[name])) for name, parameter in found]

    def _converted(self, name: str, value: Any, kind: Any) -> Any:
        choices = typing.get_args(kind) if typing.get_origin(kind) is Literal else None
        if choices:
            match = [choice for choice in choices if value == choice or str(value) == str(choice)]
            if not match:
                raise InputError(self.shown, name, f"is {value!r}; give one of {', '.join(map(str, choices))}")
            return match[0]
        try:
            if kind is bool and not isinstance(value, bool):
                return {"true": True, "false": False, "1": True, "0": False}[str(value).lower()]
            if kind is int and isinstance(value, float) and value != int(value):
                raise ValueError
            return kind(value)
        except (KeyError, ValueError, TypeError, OverflowError):
            raise InputError(self.shown, name, f"is {value!r}; give {_A[kind]}") from None

    def build(self, parameters: Mapping[str, Any]) -> Launch:
        """The launch for a full set of parameters.

        Raises:
            InputError: the builder fails, or does not build a possible launch; names the file and the line.
        """
        with located(self.show, self.filename, self.builder.__code__.co_firstlineno):
            launch = self.builder(**parameters)
            if not isinstance(launch, Launch):
                raise TypeError(f"{self.name} returned {type(launch).__name__}; return a memsim.sources.Launch")
            assert launch.shape
            launch.check_arguments()
        return launch


def _what(kind: Any) -> str:
    choices = typing.get_args(kind) if typing.get_origin(kind) is Literal else ()
    return f"one of {', '.join(map(str, choices))}" if choices else _A[kind]


_A = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


@overload
def workload(builder: Callable[..., Launch]) -> Workload: ...
@overload
def workload(*, choices: Mapping[str, Any]) -> Callable[[Callable[..., Launch]], Workload]: ...
def workload(
    builder: Callable[..., Launch] | None = None, *, choices: Mapping[str, Any] | None = None
) -> Workload | Callable[[Callable[..., Launch]], Workload]:
    """Marks the function of a kernel file that builds the launch; its parameters are the workload's.

    Every parameter needs a default and a type: int, float, bool, str or a Literal of such.

    Args:
        choices: parameters that are left open, with the values that ``memsim explore`` tries; ``...`` stands for every
            value of a Literal or bool. A combination that cannot be is one for which the function raises ValueError.

    >>> @workload(choices={"block": (64, 128, 256), "by": ...})
    ... def scale(n: int = 1024, block: int = 128, by: Literal["rows", "columns"] = "rows") -> Launch:
    ...     def kernel(t, a):
    ...         a[t.global_id] = 2 * a[t.global_id]
    ...     return Launch(kernel, n // block, block, {"a": np.ones(n, np.float32)})
    >>> scale.parameters({"n": "256"})
    {'n': 256, 'block': 128, 'by': 'rows'}
    >>> scale.choices
    {'block': (64, 128, 256), 'by': ('rows', 'columns')}
    """
    if builder is None:
        return lambda function: _workload(function, choices or {})
    return _workload(builder, {})


def _workload(builder: Callable[..., Launch], choices: Mapping[str, Any]) -> Workload:
    types = typing.get_type_hints(builder)
    for parameter in inspect.signature(builder).parameters.values():
        kind = types.get(parameter.name)
        known = kind in _A or typing.get_origin(kind) is Literal
        if parameter.default is inspect.Parameter.empty or not known:
            raise TypeError(
                f"parameter {parameter.name} of {builder.__name__} needs a default and a type: int, float, bool, str "
                "or Literal"
            )
    made = Workload(builder, Path(builder.__code__.co_filename).name)
    return replace(made, choices={name: _values(made, name, values) for name, values in choices.items()})


def _values(made: Workload, name: str, values: Any) -> tuple[Any, ...]:
    """The values of a choice, checked as a user's are.

    Raises:
        TypeError: ``...`` for a type with no list of values, or nothing to choose from.
        InputError: an unknown parameter, or a value of another type.
    """
    if values is ...:
        kind = typing.get_type_hints(made.builder).get(name)
        values = (False, True) if kind is bool else typing.get_args(kind)
    if isinstance(values, str) or not values:
        raise TypeError(f"choice {name} of {made.name} needs its values, for example choices={{'{name}': (1, 2)}}")
    return tuple(made.parameters({name: value})[name] for value in values)


def _extents(name: str, value: int | tuple[int, ...]) -> tuple[int, int, int]:
    given = value if isinstance(value, tuple) else (value,)
    are_extents = all(isinstance(extent, (int, np.integer)) and extent >= 1 for extent in given)
    if not are_extents or not 1 <= len(given) <= 3:
        raise ValueError(f"{name} is {value}; give one to three positive whole numbers")
    x, y, z = (*map(int, given), 1, 1)[:3]
    return x, y, z
