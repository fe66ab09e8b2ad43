"""Which family lowers an instruction."""

from __future__ import annotations

from memsim.sources.ptx.lowering.builder import Builder
from memsim.sources.ptx.lowering.bulk import CLUSTERS, lower_copy, lower_mbarrier
from memsim.sources.ptx.lowering.compare import COMPARISONS
from memsim.sources.ptx.lowering.control import CONTROL
from memsim.sources.ptx.lowering.floats import FLOATING, arithmetic
from memsim.sources.ptx.lowering.integers import INTEGERS
from memsim.sources.ptx.lowering.memory import ADDRESSES, ATOMICS, LOADS, STORES, WITHOUT_EFFECT
from memsim.sources.ptx.lowering.tensor_maps import lower_tensormap
from memsim.sources.ptx.lowering.tensors import lower_mma, lower_wgmma
from memsim.sources.ptx.lowering.textures import lower_fetch, lower_query, lower_surface
from memsim.sources.ptx.module import Instruction

_TEXTURES = {"tex": lower_fetch, "tld4": lower_fetch, "suld": lower_surface, "sust": lower_surface}
_PLAIN = COMPARISONS | CONTROL | ADDRESSES | WITHOUT_EFFECT | CLUSTERS | {"txq": lower_query, "suq": lower_query}
_VALUED = LOADS | STORES | ATOMICS | _TEXTURES | {"mbarrier": lower_mbarrier, "mma": lower_mma, "wgmma": lower_wgmma}
_VALUED |= {"tensormap": lower_tensormap}
_ARITHMETIC = INTEGERS.keys() | FLOATING.keys()


def lower(b: Builder, one: Instruction, values: bool) -> None:
    """Lower one instruction.

    Args:
        values: whether what it computes, loads or stores matters; addresses always do.

    Raises:
        InputError: memsim does not support it; the message names the line of the PTX.
    """
    if one.name == "cp" and one.has("bulk", "mbarrier"):
        lower_copy(b, one, values)
    elif one.name in _VALUED:
        _VALUED[one.name](b, one, values)
    elif one.name in _PLAIN:
        _PLAIN[one.name](b, one)
    elif one.name in _ARITHMETIC:
        if values:
            arithmetic(b, one)
    else:
        raise b.error("is an instruction that memsim does not support")
