"""The baseline file of ``memsim check``: programs, GPUs, the figures of their kernels, and how much these may grow."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memsim.gate.figures import AccessFigures, KernelFigures
from memsim.gpu.defaults import DEFAULT_GPU
from memsim.support.errors import InputError
from memsim.support.files import read_toml

FILE = "memsim-baseline.toml"
VERSION = 1
_LARGEST = 16 << 20
_HEAD = f"""\
# Figures of kernels, predicted by memsim. `memsim check` compares a change with them.
# `memsim check --update` writes this file anew, and keeps [allowed] and `allowed`; other comments are lost.
# time_us: microseconds per launch. sectors_per_request: of 32 bytes, per warp instruction to global memory.
# bank_conflicts: further passes per warp instruction to shared memory. dram_bytes, instructions: per launch.
version = {VERSION}
"""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Allowed(_Table):
    """How much a figure may grow before a check fails, as shares; of occupancy, how much it may shrink."""

    time: float = Field(0.05, ge=0)
    sectors_per_request: float = Field(0.02, ge=0)
    bank_conflicts: float = Field(0.02, ge=0)
    dram_bytes: float = Field(0.05, ge=0)
    occupancy: float = Field(0.02, ge=0)


class BaselineKernel(_Table):
    """One kernel on one GPU: the fields of figures.KernelFigures."""

    kernel: str
    gpu: str
    launches: int = Field(ge=1)
    time_us: float = Field(gt=0)
    sectors_per_request: float = Field(ge=0)
    bank_conflicts: float = Field(ge=0)
    dram_bytes: float = Field(ge=0)
    occupancy: float = Field(ge=0, le=1)
    instructions: float = Field(ge=0)
    registers: int = Field(ge=0)
    shared_bytes: int = Field(ge=0)
    code: str = ""
    allowed: dict[str, float] = {}
    accesses: list[AccessFigures] = []

    def figures(self) -> KernelFigures:
        """The figures, as measured ones are."""
        given = {name: getattr(self, name) for name in type(self).model_fields if name not in ("allowed", "accesses")}
        return KernelFigures(**given, accesses=tuple(self.accesses))


class BaselineProgram(_Table):
    """A program and how it is run; paths are relative to the baseline file."""

    files: list[str] = Field(min_length=1)
    arguments: list[str] = []
    gpus: list[str] = Field([DEFAULT_GPU], min_length=1)
    kernel: str | None = None
    blocks: str | None = None
    includes: list[str] = []
    definitions: list[str] = []
    libraries: list[str] = []
    standard: str = "c++17"
    compiler: str = ""
    kernels: list[BaselineKernel] = []

    def is_same(self, other: BaselineProgram) -> bool:
        """Whether both run the same files with the same arguments and macros."""
        return all(
            getattr(self, name) == getattr(other, name) for name in ("files", "arguments", "definitions", "kernel")
        )


class Baseline(_Table):
    """A whole baseline file."""

    version: int = VERSION
    allowed: Allowed = Allowed()
    programs: list[BaselineProgram] = []

    @classmethod
    def read(cls, path: Path) -> Baseline:
        """Read a file.

        Raises:
            InputError: it is missing, no TOML, of a newer version, or has wrong fields.
        """
        if not path.exists():
            problem = "does not exist; create it: memsim check --update app.cu --gpu a100"
            raise InputError(path, "baseline", problem)
        try:
            data = read_toml(path, _LARGEST, "a baseline")
            if isinstance(data.get("version"), int) and data["version"] > VERSION:
                raise InputError(
                    path, "version", f"is {data['version']}; this memsim reads {VERSION}; install a newer version"
                )
            found = cls.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"])) or "file"
            raise InputError(path, field, f"is invalid: {first['msg']}; `memsim check --update` rewrites it") from None
        for program in found.programs:
            for kernel in program.kernels:
                _check_allowed(path, kernel)
        return found

    def of(self, kernel: BaselineKernel) -> Allowed:
        """What is allowed of one kernel."""
        return self.allowed.model_copy(update=kernel.allowed)

    def text(self) -> str:
        """The file, in stable order."""
        allowed = _lines(self.allowed.model_dump())
        head = [_HEAD, "# By how much a figure may grow (occupancy: shrink) before the check fails: 0.05 is 5 %."]
        lines = [*head, "[allowed]", *allowed]
        for program in sorted(self.programs, key=lambda one: (one.files, one.arguments, one.definitions)):
            given = program.model_dump(exclude={"kernels"}, exclude_defaults=True)
            lines += ["", "[[programs]]", *_lines(given)]
            for kernel in sorted(program.kernels, key=lambda one: (one.kernel, one.gpu)):
                lines += ["", *_kernel(kernel)]
        return "\n".join(lines) + "\n"


def _check_allowed(path: Path, kernel: BaselineKernel) -> None:
    for name, value in kernel.allowed.items():
        if name not in Allowed.model_fields or value < 0:
            problem = f"of {kernel.kernel} has {name} = {value:g}; give shares of {', '.join(Allowed.model_fields)}"
            raise InputError(path, "allowed", problem)


def baseline_kernel(figures: KernelFigures, allowed: dict[str, float]) -> BaselineKernel:
    """Figures as a baseline holds them."""
    given = {name: value for name, value in vars(figures).items() if name != "accesses"}
    return BaselineKernel(**given, allowed=allowed, accesses=list(figures.accesses))


def _kernel(kernel: BaselineKernel) -> Iterator[str]:
    values = kernel.model_dump(exclude={"accesses"})
    if not kernel.allowed:
        del values["allowed"]
    yield "[[programs.kernels]]"
    yield from _lines(values)
    yield "accesses = ["
    for one in kernel.accesses:
        yield f"  {_value(asdict(one))},"
    yield "]"


def _lines(values: dict[str, Any]) -> list[str]:
    return [f"{name} = {_value(value)}" for name, value in values.items()]


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(_lines(value))} }}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
