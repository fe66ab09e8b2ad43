"""The names of the arrays that a launch accesses: those of its parameters and of its module's variables."""

from __future__ import annotations

from memsim.capture.modules import LoadedModule
from memsim.capture.names import parameter_names
from memsim.sources.ptx.launch import PtxLaunch, parameter_bytes, parsed
from memsim.sources.ptx.mangled import variable_name
from memsim.sources.ptx.module import Function, PtxVariable
from memsim.sources.ptx.ptxas import kernel_name

_POINTER = 8


def array_names(module: LoadedModule, launch: PtxLaunch) -> list[tuple[int, str, int]]:
    """Address, name and bytes of an element of each array that a launch's arguments and variables give."""
    function = launch.function
    files = [path for name in launch.module.files.values() for path in launch.sources(name)]
    names = parameter_names(kernel_name(launch.kernel), len(function.parameters), files)
    found = _pointers(launch, function, names)
    for one in parsed(launch.ptx, launch.source).variables.values():
        if one.name in module.variable_addresses:
            found.append((module.variable_addresses[one.name], variable_name(one.name), _element_bytes(one)))
    return found


def _pointers(launch: PtxLaunch, function: Function, names: tuple[str, ...]) -> list[tuple[int, str, int]]:
    """The words of a launch's parameters that may be addresses, with the parameter's name."""
    data, found, at = parameter_bytes(launch, function), [], 0
    for name, one in zip(names, function.parameters, strict=True):
        at = -(-at // one.align) * one.align
        for word in range(0, one.bytes - _POINTER + 1, _POINTER):
            address = int.from_bytes(data[at + word : at + word + _POINTER], "little")
            label = name if one.bytes == _POINTER or word == 0 else f"{name}+{word}"
            found.append((address, label, 0))
        at += one.bytes
    return found


def _element_bytes(variable: PtxVariable) -> int:
    """Bytes of a variable's element; 0 where the compiler declares bytes, whatever lies in them."""
    return variable.element_bytes if variable.element_bytes > 1 else 0
