"""Modules that a process has loaded: their kernels, variables and initial values."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from memsim.capture.arena import ProcessMemory
from memsim.capture.device_functions import with_device_functions
from memsim.capture.dumped_ptx import dumped_ptx
from memsim.capture.fatbin import OnlyMachineCode, cubins_of, ptx_of
from memsim.capture.link import linked
from memsim.capture.names import shown_names
from memsim.capture.outline import Outline, outline
from memsim.capture.protocol import FunctionInfo, VariableInfo
from memsim.gpu.config import GPU
from memsim.sources.ptx.launch import parameter_offsets
from memsim.sources.ptx.module import Function, Module, PtxVariable, function_address
from memsim.sources.ptx.ptxas import Needs
from memsim.sources.ptx.text import parse
from memsim.sources.sass.assemble import needs_of, target
from memsim.sources.sass.choice import kernel_for
from memsim.sources.sass.declarations import declarations
from memsim.sources.sass.kernel import SassKernel

_MAX_THREADS = re.compile(r"\.(?:maxntid|reqntid)\s+([\d\s,]+)")
_FILE = re.compile(r'^\s*\.file\s+\d+\s+"([^"]*)"', re.MULTILINE)
MOST_AHEAD = 4  # kernels of a module that are assembled before they are launched
UNKNOWN_REGISTERS = 0  # in the reply to LOAD_MODULE: the client asks when the program does


@dataclass
class LoadedModule:
    """A module as a program loaded it.

    Attributes:
        number: its handle.
        outline: of its PTX, several linked into one.
        skeleton: parsed without the functions' bodies.
        kernels: names of its entries, in the order of the reply to LOAD_MODULE.
        variables: in global and constant memory, likewise.
        shown: what traces call each kernel.
        variable_addresses: addresses of the variables, once they are placed.
    """

    number: int
    outline: Outline
    skeleton: Module
    kernels: list[str]
    variables: list[PtxVariable]
    shown: dict[str, str]
    variable_addresses: dict[str, int] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)

    def text_of(self, kernel: str) -> str:
        """The PTX of one kernel and what it uses."""
        if kernel not in self._texts:
            self._texts[kernel] = self.outline.reduced(kernel)
        return self._texts[kernel]

    def place(self, addresses: Sequence[int], memory: ProcessMemory) -> None:
        """Write the variables' initial values where the process has made room for them."""
        self.variable_addresses = dict(zip((one.name for one in self.variables), addresses, strict=False))
        for one in self.variables:
            if one.name in self.variable_addresses and one.bytes:
                room = memory.array_at(self.variable_addresses[one.name], one.bytes)
                room[:] = 0
                room[: len(one.values)] = one.values[: one.bytes]
                self._write_addresses(one, room)
        memory.add_constants(self.variable_addresses[one.name] for one in self.variables if one.space == "const")

    def _write_addresses(self, variable: PtxVariable, room: np.ndarray) -> None:
        for offset, name, added in variable.addresses:
            if name in self.variable_addresses:
                value = self.variable_addresses[name] + added
            elif name in self.outline.functions:
                value = function_address(name)
            else:
                continue
            room[offset : offset + 8] = np.array([value], np.uint64).view(np.uint8)


def _with_short_paths(text: str, folder: str) -> str:
    """A PTX text that names the source files in a folder as seen from there, so that traces fit any machine.

    >>> _with_short_paths('.file 1 "/home/me/app/inc/a.cuh"', "/home/me/app/")
    '.file 1 "inc/a.cuh"'
    """
    return _FILE.sub(lambda one: one[0].replace(folder, "", 1) if one[1].startswith(folder) else one[0], text)


class Modules:
    """Makes modules of images, and what is known of their kernels.

    Args:
        gpu: that the PTX is chosen and assembled for.
        dump_folder: a folder with PTX of images that have machine code only; None: there is none.
    """

    def __init__(self, gpu: GPU, dump_folder: Path | None = None) -> None:
        self.gpu = gpu
        self.dump_folder = dump_folder
        self._thread = ThreadPoolExecutor(1, "memsim-assembler")
        self._assembling: dict[tuple[str, str], Future[object]] = {}
        self._count = 0

    def load(self, image: bytes) -> LoadedModule:
        """Make a module of an image.

        Raises:
            ImageError: the image has no PTX, or is damaged.
            InputError: the PTX is not understood.
        """
        self._count += 1
        texts = with_device_functions(self._texts(image))
        found, skeleton = _parsed(_with_short_paths(linked(texts), os.path.join(os.getcwd(), "")))
        variables = [one for one in skeleton.variables.values() if one.space in ("global", "const") and not one.extern]
        kernels = found.kernels
        module = LoadedModule(self._count, found, skeleton, kernels, variables, shown_names(kernels))
        for kernel in kernels[:MOST_AHEAD]:
            self._assemble(module, kernel)
        return module

    def _texts(self, image: bytes) -> list[str]:
        """The PTX of an image, which may lie in a file next to it; else the declarations of its machine code."""
        gpu = self.gpu.architecture_number
        try:
            return ptx_of(image, gpu)
        except OnlyMachineCode:
            if self.dump_folder and (text := dumped_ptx(image, self.dump_folder)) is not None:
                return [text]
            if len(cubins := cubins_of(image, gpu)) != 1:  # several are the parts of a program that nobody has linked
                raise
            return [declarations(cubins[0])]

    def describe(self, module: LoadedModule) -> tuple[list[FunctionInfo], list[VariableInfo]]:
        """The reply to the client about a module; registers are not known yet."""
        managed = {name for name, one in module.outline.variables.items() if _is_managed(module, one.start, one.stop)}
        functions = [self._described(module, module.skeleton.functions[name]) for name in module.kernels]
        variables = [
            VariableInfo(one.name, one.bytes, one.align, int(one.space == "const"), one.name in managed)
            for one in module.variables
        ]
        return functions, variables

    def attributes(self, module: LoadedModule, kernel: str) -> FunctionInfo:
        """All attributes of a kernel, as the assembler reports them."""
        needs = self.needs(module, kernel)
        known = self._described(module, module.skeleton.functions[kernel])
        if isinstance(needs, str):
            return known
        values = {"registers": needs.registers, "static_shared": needs.shared_bytes}
        return FunctionInfo(**{**known.__dict__, **values})

    def needs(self, module: LoadedModule, kernel: str) -> Needs | str:
        """Registers and static shared memory of a kernel, or why nobody knows."""
        self._wait(module, kernel)
        return needs_of(module.text_of(kernel), kernel, self.gpu)

    def sass_kernel(self, module: LoadedModule, kernel: str) -> SassKernel | str:
        """A kernel as machine code that memsim can run, or why there is none."""
        self._wait(module, kernel)
        return kernel_for(module.text_of(kernel), kernel, self.gpu)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _assemble(self, module: LoadedModule, kernel: str) -> None:
        """Begin to assemble a kernel in the background."""
        key = module.text_of(kernel), kernel
        if key not in self._assembling:
            self._assembling[key] = self._thread.submit(kernel_for, *key, self.gpu)

    def _wait(self, module: LoadedModule, kernel: str) -> None:
        future = self._assembling.get((module.text_of(kernel), kernel))
        if future is not None:
            future.exception()

    def _described(self, module: LoadedModule, function: Function) -> FunctionInfo:
        item = module.outline.functions[function.name]
        header = module.outline.text[item.start : item.body]
        most = _MAX_THREADS.search(header)
        threads = int(np.prod([int(one) for one in most[1].split(",") if one.strip()])) if most else 1024
        version = int(re.sub(r"\D", "", target(module.outline.text)) or 0)
        starts = parameter_offsets(function.parameters)
        parameters = [(at, one.bytes) for at, one in zip(starts, function.parameters, strict=True)]
        return FunctionInfo(
            function.name, UNKNOWN_REGISTERS, 0, 0, 0, min(threads, 1024), version, self.gpu.architecture_number,
            function.block or (0, 0, 0), function.cluster or (0, 0, 0), parameters,
        )  # fmt: skip


@lru_cache(32)
def _parsed(text: str) -> tuple[Outline, Module]:
    """The outline and the skeleton of a text; programs load the same module again and again.

    Raises:
        InputError: the text is not understood.
    """
    found = outline(text)
    if not found.functions:
        return found, Module("PTX")
    return found, parse(found.skeleton(), "PTX")


def _is_managed(module: LoadedModule, start: int, stop: int) -> bool:
    return ".managed" in module.outline.text[start:stop]
