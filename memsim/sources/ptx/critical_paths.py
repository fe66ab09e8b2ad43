"""Chains of dependent instructions, and how long the assembler leaves from the last of them to what uses its result.

Results of fixed latency are not waited for by scoreboard: the assembler puts as many cycles between two instructions as
the first one's result needs to get to the second (stall counts: Jia et al., arXiv 1804.06826, section 2.1). To one more
arithmetic instruction that is a link of its class. To an access that finds its address or its data there it is longer,
and from a comparison to what its predicate decides on, a branch or an instruction under it, longer still
(tests/sources/ptx/test_sass_latencies.py reads it in machine code).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import total_ordering

from memsim.sources.function_counts import FP32, HALF, INTEGER, MULTIPLY, Becomes
from memsim.sources.ptx.effects import effects, registers_of
from memsim.sources.ptx.module import Instruction
from memsim.trace.schema import LINKS

GUARD, OPERAND, BRANCH = (LINKS.index(link) for link in ("guard", "operand", "branch"))
_FIXED = (INTEGER, FP32, HALF, MULTIPLY)  # classes whose results no scoreboard covers
# In links of arithmetic, to tell which of two chains is the longer one: Volta's 12 and 8 cycles to 4. From Ampere on an
# access takes 5, so that there a chain to one may stand for another that is up to 3 cycles longer.
_LENGTH = {GUARD: 3, OPERAND: 2}


@total_ordering
@dataclass(frozen=True)
class DependentInstructions:
    """Instructions that wait for each other.

    Attributes:
        links: by LINKS, how many of them there are.
        last: class of the last one, where its result has a fixed latency.
        matrix: matrix instructions among them, no links: their time is the compute run's (`sm.pipes.tensor_cycles`).
    """

    links: tuple[int, ...] = (0,) * len(LINKS)
    last: int | None = None
    matrix: int = 0

    @property
    def length(self) -> int:
        return self.matrix + sum(count * _LENGTH.get(k, 1) for k, count in enumerate(self.links))

    def __lt__(self, other: DependentInstructions) -> bool:
        return (self.length, self.links) < (other.length, other.links)

    def then(self, links: Becomes, matrix: int = 0) -> DependentInstructions:
        """The chain with what one more instruction becomes; what vanishes leaves it as it is.

        >>> DependentInstructions().then({INTEGER: 1}).then({FP32: 2}).links[:2]
        (1, 2)
        """
        classes = [k for k, count in links.items() if count]
        if not classes and not matrix:
            return self
        # Of instructions of several classes it is not known which is the last: they were counted without their order.
        known = len(classes) == 1 and classes[0] in _FIXED and not matrix
        total = tuple(have + links.get(k, 0) for k, have in enumerate(self.links))
        return DependentInstructions(total, classes[0] if known else None, self.matrix + matrix)

    def to(self, link: int) -> DependentInstructions:
        """The chain up to something that takes longer to get its last result.

        >>> chain = DependentInstructions().then({INTEGER: 2}).to(OPERAND)
        >>> chain.links[INTEGER], chain.links[OPERAND]
        (1, 1)
        """
        if self.last is None:
            return self
        return DependentInstructions(
            tuple(n + (k == link) - (k == self.last) for k, n in enumerate(self.links)), matrix=self.matrix
        )


def critical_path_to(one: Instruction, paths: Mapping[str, DependentInstructions]) -> DependentInstructions:
    """The longest chain that an instruction waits for.

    Args:
        paths: by the register that holds its last result.
    """
    guards = set(registers_of(one.guard)) if one.guard is not None else set()
    found = [DependentInstructions()]
    for name in effects(one).reads:
        if name in paths:
            path = paths[name]
            found.append(path.to(GUARD) if name in guards else path.to(OPERAND) if effects(one).memory else path)
    return max(found)
