"""A kernel as machine code: its instructions, and the cubin that they come from."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from memsim.sources.sass.disassembly import SassInstruction
from memsim.sources.sass.elf import Cubin
from memsim.sources.sass.phase_tests import tested_by

_CALLED = re.compile(r"`\((\$.*?)\)")


@dataclass(frozen=True, eq=False)
class SassKernel:
    """A kernel that can run as machine code.

    Attributes:
        name: mangled, as in the cubin.
        code: its instructions, with those of the functions that stand behind it.
        cubin: constants, memory and symbols.
    """

    name: str
    code: tuple[SassInstruction, ...]
    cubin: Cubin

    @property
    def has_copies(self) -> bool:
        """Whether it copies asynchronously, so that DEPBAR may wait for groups of copies."""
        return any(one.name == "LDGDEPBAR" for one in self.code)

    @cached_property
    def is_recursive(self) -> bool:
        """Whether a function may call itself, also through others: the cubin then states no size of the stack."""
        calls: dict[str, set[str]] = {}
        function = ""
        for one in self.code:
            function = next((label for label in one.labels if label.startswith("$")), function)
            if one.name == "CALL":
                calls.setdefault(function, set()).update(_CALLED.findall(one.operands))
        try:
            TopologicalSorter(calls).prepare()
        except CycleError:
            return True
        return False

    @cached_property
    def _phase_tests(self) -> dict[SassInstruction, SassInstruction]:
        if self.cubin.architecture >= 90 or not any("ARRIVE" in one.opcode for one in self.code):
            return {}
        loads = [(k, one) for k, one in enumerate(self.code) if one.name == "LDS"]
        return {one: test for k, one in loads if (test := tested_by(self.code, k)) is not None}

    @property
    def phase_loads(self) -> Collection[SassInstruction]:
        """Loads of words of mbarrier objects, whose phase a test looks at, before sm_90."""
        return self._phase_tests.keys()

    @cached_property
    def phase_tests(self) -> frozenset[SassInstruction]:
        """Those tests."""
        return frozenset(self._phase_tests.values())


class UnknownMachineCode(Exception):
    """Machine code that memsim cannot run; the message names what is unknown."""
