"""What kernels of a compiled call depend on besides data: types and shapes of tensors, and the values of all else.

A call whose key is known takes the kernels that are there, so what has no value to compare is refused.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from memsim.sources.ptx.launchers.torch_cuda import is_on_gpu
from memsim.support.errors import InputError

_BY_IDENTITY = (FunctionType, BuiltinFunctionType, MethodType, ModuleType, type)
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")  # in a repr: of an object, not of its value
_TENSORS = ("_parameters", "_buffers", "_modules")  # of a module: arguments of the compiled call, and modules below it


def described(value: Any, where: str) -> Hashable:
    """What values that take the same kernels have in common.

    Args:
        where: what an error names.

    Raises:
        InputError: an array of NumPy, or an object that does not tell its value.

    >>> described([1, 2.0], "f") == described([1, 2.0], "f"), described(1, "f") == described(True, "f")
    (True, False)
    """
    if hasattr(value, "untyped_storage"):
        return value.dtype, tuple(value.shape), value.stride(), is_on_gpu(value), value.requires_grad
    if isinstance(value, _BY_IDENTITY):
        return value
    if hasattr(value, "named_parameters"):  # a module as an argument, or in a list of another
        return value, value.training
    if isinstance(value, dict):
        pairs = ((described(key, where), described(of, where)) for key, of in value.items())
        return type(value), tuple(pairs)
    if isinstance(value, (list, tuple)):
        return type(value), tuple(described(one, where) for one in value)
    if isinstance(value, (set, frozenset)):
        return type(value), frozenset(described(one, where) for one in value)
    if is_dataclass(value):
        return type(value), tuple(described(getattr(value, one.name), where) for one in fields(value))
    return type(value), _told(value, where)


def state_of(module: Any, where: str) -> Hashable:
    """What a module and those below it are beside their tensors: types, ``training``, plain attributes.

    Raises:
        InputError: as :func:`described`, of an attribute, which it names.
    """
    return tuple(
        (name, type(one), attribute, described(value, f"{where}: {'.'.join(filter(None, (name, attribute)))}"))
        for name, one in module.named_modules()
        for attribute, value in sorted(vars(one).items())
        if attribute not in _TENSORS
    )


def _told(value: Any, where: str) -> str:
    """A value's text, which tells it whole."""
    told = repr(value)
    if hasattr(value, "__array_interface__") and value.shape:  # its text is abbreviated
        raise InputError("torch.compile", where, f"is or has a NumPy {type(value).__name__}; give a tensor")
    if _ADDRESS.search(told):
        kind = type(value).__name__
        raise InputError("torch.compile", where, f"is or has a {kind}, which tells no value; give numbers and tensors")
    return told
