"""Calls of functions become their bodies, with registers, labels and local variables of their own.

Parameters of calls (PTX ISA 9.0, section 7.1) become registers, as compilers pass them; so what is passed must be
read in the same pieces in which it was written.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from memsim.sources.ptx.mangled import demangled
from memsim.sources.ptx.module import (
    Address,
    Function,
    Immediate,
    Instruction,
    Label,
    Module,
    Not,
    Operand,
    Register,
    Symbol,
    Vector,
    function_address,
)
from memsim.support.errors import InputError

MOST_DEPTH = 64  # of calls
MOST_INSTRUCTIONS = 1 << 20  # of a kernel with all it calls
PRINTF, MALLOC, FREE, ASSERT = range(4)
# Functions that the machine's caller carries out: number, types of the result and of the arguments.
HOST_CALLS = {
    "vprintf": (PRINTF, ("b32", "b64", "b64")),
    "malloc": (MALLOC, ("b64", "b64")),
    "free": (FREE, ("b64", "b64")),
    "__assertfail": (ASSERT, ("b64", "b64", "b64", "b32", "b64", "b64")),
}
_ENDING = ("__trap",)


def flattened(module: Module, kernel: Function) -> Function:
    """The kernel without calls.

    Raises:
        InputError: it calls what is not in the module, itself, or too much; the line of the call is named.
    """
    if not any(isinstance(one, Instruction) and one.name == "call" for one in kernel.body):
        return kernel
    inliner = _Inliner(module, replace(kernel, body=[], registers=dict(kernel.registers), variables={}, tables={}))
    inliner.add(kernel, _Names("", set()), depth=0)
    return inliner.inlined


@dataclass
class _Names:
    """How a copy of a function calls its own: everything gets a suffix, parameters become registers of the caller.

    Attributes:
        suffix: of registers, labels and variables.
        passed: names of variables in parameter space that are registers.
        parameters: the callee's names of what is passed, as the caller calls it.
        end: the label behind the body; empty in the kernel.
    """

    suffix: str
    passed: set[str]
    parameters: dict[str, str] = field(default_factory=dict)
    end: str = ""


# Functions by which kernels launch kernels, in libraries before and since CUDA 12.
_DEVICE_LAUNCHES = ("cudaLaunchDevice", "cudaGetParameterBuffer", "__cudaCDP2")


class _Inliner:
    def __init__(self, module: Module, inlined: Function) -> None:
        self._module, self.inlined = module, inlined
        self._copies = 0

    def add(self, function: Function, names: _Names, depth: int) -> None:
        """Append a function's body, with its calls, under its names."""
        if depth > MOST_DEPTH:
            problem = f"calls itself, or more than {MOST_DEPTH} functions deep, which memsim cannot run"
            raise InputError(self._module.where, function.name, problem)
        own = set(function.variables) | set(function.tables)
        own |= {one.name for one in function.body if isinstance(one, Label)}
        names.passed |= {name for name, one in function.variables.items() if one.space == "param"}
        for name, variable in function.variables.items():
            if variable.space != "param":
                new = self._name(name, names, own)
                self.inlined.variables[new] = replace(variable, name=new)
        for name, kind in function.registers.items():
            self.inlined.registers[name + names.suffix] = kind
        for name, labels in function.tables.items():
            self.inlined.tables[name + names.suffix] = [label + names.suffix for label in labels]
        for one in function.body:
            if isinstance(one, Label):
                self.inlined.body.append(replace(one, name=one.name + names.suffix))
            else:
                self._instruction(one, names, own, depth)
        if names.end:
            self.inlined.body.append(Label(names.end))

    @staticmethod
    def _name(name: str, names: _Names, own: set[str]) -> str:
        return name + names.suffix if name in own else name

    def _instruction(self, one: Instruction, names: _Names, own: set[str], depth: int) -> None:
        if len(self.inlined.body) > MOST_INSTRUCTIONS:
            raise self._error(one, f"makes the kernel larger than {MOST_INSTRUCTIONS} instructions")
        if one.name == "call":
            self._call(one, names, depth)
            return
        operands = tuple(self._renamed(operand, names, own) for operand in one.operands)
        guard = self._renamed(one.guard, names, own) if one.guard is not None else None
        assert guard is None or isinstance(guard, Register | Not)
        moved = replace(one, operands=operands, guard=guard)
        if one.name == "ret" and names.end:
            moved = replace(moved, opcode=("bra",), operands=(Symbol(names.end),))
        elif one.name in ("ld", "st") and one.has("param"):
            self.inlined.body += self._passed(moved, names)
            return
        self.inlined.body.append(moved)

    def _renamed(self, operand: Operand, names: _Names, own: set[str]) -> Operand:
        if isinstance(operand, Register):
            known = operand.name + names.suffix
            return Register(known) if known in self.inlined.registers else operand
        if isinstance(operand, Not):
            inner = self._renamed(operand.register, names, own)
            assert isinstance(inner, Register)
            return Not(inner)
        if isinstance(operand, Symbol):
            return Symbol(self._name(operand.name, names, own), operand.offset)
        if isinstance(operand, Vector):
            return Vector(tuple(self._renamed(part, names, own) for part in operand.elements))
        if isinstance(operand, Address):
            base = self._renamed(operand.base, names, own)
            if isinstance(operand.base, Symbol) and operand.base.name in names.passed | set(names.parameters):
                base = operand.base
            coordinates = tuple(self._renamed(part, names, own) for part in operand.coordinates)
            return Address(base, operand.offset, coordinates)  # type: ignore[arg-type]
        return operand

    def _passed(self, one: Instruction, names: _Names) -> list[Instruction]:
        """A load or store of a call's parameter, as a move of each element."""
        address, value = (one.operands[1], one.operands[0]) if one.name == "ld" else (one.operands[0], one.operands[1])
        assert isinstance(address, Address)
        name = getattr(address.base, "name", "")
        if name in names.parameters:
            holder = names.parameters[name]
        elif name in names.passed:
            holder = name + names.suffix
        else:
            return [one]
        values = value.elements if isinstance(value, Vector) else (value,)
        width = int("".join(filter(str.isdigit, one.type))) // 8
        moves = []
        for i, element in enumerate(values):
            register = f"{holder}@{address.offset + i * width}"
            self.inlined.registers.setdefault(register, f"b{8 * width}")
            operands = (element, Register(register)) if one.name == "ld" else (Register(register), element)
            moves.append(replace(one, opcode=("mov", f"b{8 * width}"), operands=operands))
        return moves

    def _call(self, one: Instruction, names: _Names, depth: int) -> None:
        """``call (results), function, (arguments)``."""
        operands = list(one.operands)
        results = Vector(())
        if isinstance(operands[0], Vector):
            results = operands[0]
            operands = operands[1:]
        target = operands.pop(0)
        arguments = operands[0] if operands and isinstance(operands[0], Vector) else Vector(())
        if isinstance(target, Register):
            self._indirect(one, target, (results, arguments), names, depth)
            return
        callee = self._module.functions.get(getattr(target, "name", ""))
        if callee is None or callee.declared_only:
            self._external(one, getattr(target, "name", "?"), results, arguments, names)
            return
        self._copies += 1
        suffix = f"^{self._copies}"
        inner = _Names(suffix, set(), end=f"end{suffix}")
        for declared, given in zip(
            [*callee.results, *callee.parameters], [*results.elements, *arguments.elements], strict=False
        ):
            holder = getattr(given, "name", "")
            if holder not in names.passed:
                raise self._error(one, "passes something that is not a parameter")
            inner.parameters[declared.name] = holder + names.suffix
        if one.guard is not None:
            guard = self._renamed(one.guard, names, set())
            other = guard.register if isinstance(guard, Not) else Not(guard)  # type: ignore[arg-type]
            skip = replace(one, opcode=("bra",), operands=(Symbol(inner.end),), guard=other)
            self.inlined.body.append(skip)
        self.add(callee, inner, depth + 1)

    def _indirect(
        self, one: Instruction, target: Register, passed: tuple[Vector, Vector], names: _Names, depth: int
    ) -> None:
        """A call through a pointer: each function whose address is taken is called by the lanes that mean it."""
        if one.guard is not None:
            raise self._error(one, "calls through a pointer under a predicate, which memsim does not support")
        results, arguments = passed
        pointer = self._renamed(target, names, set())
        for name in self._pointed_to():
            callee = self._module.functions[name]
            if len(callee.results) != len(results.elements) or len(callee.parameters) != len(arguments.elements):
                continue
            self._copies += 1
            meant = Register(f"meant^{self._copies}")
            self.inlined.registers[meant.name] = "pred"
            compared = (meant, pointer, Immediate(function_address(name)))
            self.inlined.body.append(replace(one, opcode=("setp", "eq", "s64"), operands=compared))
            call = (results, Symbol(name), arguments) if results.elements else (Symbol(name), arguments)
            self._call(replace(one, operands=call, guard=meant), names, depth)

    def _pointed_to(self) -> list[str]:
        """The functions whose addresses are taken, in code or by variables."""
        taken = {name for one in self._module.variables.values() for _, name, _ in one.addresses}
        for function in self._module.functions.values():
            for one in function.body:
                if isinstance(one, Instruction) and one.name != "call":
                    taken |= {operand.name for operand in one.operands if isinstance(operand, Symbol)}
        known = self._module.functions
        return [name for name, one in known.items() if name in taken and not one.entry and not one.declared_only]

    def _external(self, one: Instruction, name: str, results: Vector, arguments: Vector, names: _Names) -> None:
        """A function of CUDA's device runtime (CUDA C++ Programming Guide, "Formatted Output" and after it)."""
        if name in _ENDING:
            self.inlined.body.append(replace(one, opcode=("trap",), operands=()))
        elif name in HOST_CALLS:
            number, kinds = HOST_CALLS[name]
            given = [f"{getattr(part, 'name', '')}{names.suffix}@0" for part in arguments.elements]
            result = f"{getattr(results.elements[0], 'name', '')}{names.suffix}@0" if results.elements else "_"
            for register, kind in zip([result, *given], kinds, strict=False):
                if register != "_":
                    self.inlined.registers.setdefault(register, kind)
            guard = self._renamed(one.guard, names, set()) if one.guard is not None else None
            operands = (Register(result), Immediate(number), *map(Register, given))
            self.inlined.body.append(replace(one, opcode=("hostcall",), operands=operands, guard=guard))  # type: ignore[arg-type]
        elif name.startswith(_DEVICE_LAUNCHES):
            raise self._error(one, "launches kernels from the device (dynamic parallelism), which memsim does not run")
        else:
            raise self._error(one, f"needs {demangled(name)}, which no file defines; give all source files")

    def _error(self, one: Instruction, problem: str) -> InputError:
        return InputError(f"{self._module.where}:{one.line}", one.text, problem)
