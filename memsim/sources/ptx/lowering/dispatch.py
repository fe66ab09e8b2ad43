"""Which family lowers an instruction."""

from __future__ import annotations

from memsim.sources.ptx.lowering.builder import Builder
from memsim.sources.ptx.lowering.compare import COMPARISONS
from memsim.sources.ptx.lowering.control import CONTROL
from memsim.sources.ptx.lowering.floats import FLOATING, arithmetic
from memsim.sources.ptx.lowering.integers import INTEGERS
from memsim.sources.ptx.lowering.memory import ADDRESSES, ATOMICS, LOADS, NOTHING, STORES
from memsim.sources.ptx.module import Instruction

_PLAIN = COMPARISONS | CONTROL | ADDRESSES | NOTHING
_VALUED = LOADS | STORES | ATOMICS
_ARITHMETIC = INTEGERS.keys() | FLOATING.keys()


def lower(b: Builder, one: Instruction, values: bool) -> None:
    """Lower one instruction.

    Args:
        values: whether what it computes, loads or stores matters; addresses always do.

    Raises:
        InputError: memsim does not know it; the line of the PTX is named.
    """
    if one.name in _VALUED:
        _VALUED[one.name](b, one, values)
    elif one.name in _PLAIN:
        _PLAIN[one.name](b, one)
    elif one.name in _ARITHMETIC:
        if values:
            arithmetic(b, one)
    else:
        raise b.error("is an instruction that memsim does not know")
