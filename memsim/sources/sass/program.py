"""From a kernel's machine code to what the machine runs."""

from __future__ import annotations

from functools import lru_cache

from memsim.sources.ptx.launch import PtxLaunch
from memsim.sources.ptx.layout import KernelLayout
from memsim.sources.ptx.machine.codes import Micro
from memsim.sources.ptx.program import LoweredKernel
from memsim.sources.sass.builder import SassBuilder, guard_of
from memsim.sources.sass.control_codes import ControlCodes
from memsim.sources.sass.facts import SassFacts
from memsim.sources.sass.kernel import SassKernel, UnknownMachineCode
from memsim.sources.sass.lowering.control import at_address
from memsim.sources.sass.opcodes import lower
from memsim.sources.sass.origin import SassOrigin, position_of
from memsim.sources.sass.slice import without_unneeded_values


def build_sass(
    launch: PtxLaunch, kernel: SassKernel, layout: KernelLayout, *, check: bool, tracing: bool, separate: bool = False
) -> LoweredKernel:
    """Lower a kernel's machine code; launches of one kernel share the result.

    Args:
        check: compute all values, not only what feeds addresses and branches.
        tracing: charge instructions, and wait as their control codes say.
        separate: as in :func:`without_unneeded_values`.

    Raises:
        UnknownMachineCode: naming what is unknown.
    """
    return _lowered(launch.source, kernel, tuple(layout.symbols.items()), check, tracing, separate)


@lru_cache(maxsize=64)
def _lowered(
    source: str, kernel: SassKernel, symbols: tuple[tuple[str, int], ...], check: bool, tracing: bool, separate: bool
) -> LoweredKernel:
    codes = ControlCodes()
    builder = SassBuilder(source, kernel, dict(symbols))
    for one in kernel.code:
        origin = SassOrigin(one, guard_of(one), position_of(one))
        if tracing and one.labels and builder.code:
            builder.start(one, origin, codes.at_label(), [])
            builder.flush()
        for label in (*one.labels, at_address(one.address)):
            builder.labels[label] = len(builder.code)
        first = len(builder.code)
        builder.start(one, origin, codes.before(one) if tracing else -1, [])
        if tracing:
            codes.follow(builder, one)
        lower(builder)
        builder.flush()
        if len(builder.code) == first:
            builder.emit(Micro.nop, guard=-1)
        if tracing:
            codes.after(builder, one, first)
    builder.emit(Micro.exit, guard=-1)
    code = builder.finish()
    facts = SassFacts(code, builder.lists) if tracing else None
    if check:
        return LoweredKernel(code, builder.origin, codes.segments, builder, True, facts)
    sliced = without_unneeded_values(builder, code, separate)
    return LoweredKernel(
        sliced.code, builder.origin, codes.segments, builder, sliced.by_data, facts, sliced.loads, sliced.skipped
    )


def unknown_instructions(kernel: SassKernel) -> list[str]:
    """What of a kernel's machine code cannot be run, a line for each instruction; nothing where all of it can."""
    builder = SassBuilder(kernel.name, kernel, dict.fromkeys((one.name for one in kernel.cubin.symbols), 0))
    found = []
    for one in kernel.code:
        try:
            builder.start(one, SassOrigin(one, guard_of(one), position_of(one)), -1, [])
            lower(builder)
        except UnknownMachineCode as problem:
            found.append(str(problem))
    return found


__all__ = ["UnknownMachineCode", "build_sass", "unknown_instructions"]
