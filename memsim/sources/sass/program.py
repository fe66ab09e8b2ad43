"""From a kernel's machine code to what the machine runs."""

from __future__ import annotations

from memsim.sources.ptx.launch import Launch
from memsim.sources.ptx.layout import Layout
from memsim.sources.ptx.lowering.builder import COLUMNS
from memsim.sources.ptx.machine.codes import Micro
from memsim.sources.ptx.program import Program
from memsim.sources.sass.builder import SassBuilder, guard_of
from memsim.sources.sass.facts import SassFacts
from memsim.sources.sass.kernel import SassKernel, UnknownMachineCode
from memsim.sources.sass.lowering.control import at_address
from memsim.sources.sass.opcodes import lower
from memsim.sources.sass.origin import SassOrigin, user_position
from memsim.sources.sass.timing import CountedTiming, Timing

_BRINGS = (Micro.load, Micro.atomic, Micro.matrix_load)


def build_sass(
    launch: Launch, kernel: SassKernel, layout: Layout, *, tracing: bool, timing: Timing | None = None
) -> Program:
    """Lower a kernel's machine code.

    Args:
        tracing: charge instructions and wait for loads.
        timing: what tells both; None: counts by class, waits by scoreboard.

    Raises:
        UnknownMachineCode: naming what is unknown.
    """
    timing = timing or CountedTiming()
    builder = SassBuilder(launch.source, kernel, layout.symbols)
    for one in kernel.code:
        origin = SassOrigin(one, guard_of(one), user_position(one, is_toolkit))
        if tracing and one.labels:
            charge = timing.boundary()
            if builder.code:
                builder.start(one, origin, charge.segment, [])
                builder.flush()
        for label in (*one.labels, at_address(one.address)):
            builder.labels[label] = len(builder.code)
        first = len(builder.code)
        charge = timing.before(one) if tracing else None
        builder.start(one, origin, charge.segment if charge else -1, list(charge.uses) if charge else [])
        lower(builder)
        builder.flush()
        if len(builder.code) == first:
            builder.emit(Micro.nothing, guard=-1)
        if tracing and (name := timing.scoreboard(one)):
            _bring(builder, name, first)
    builder.emit(Micro.exit, guard=-1)
    code = builder.finish()
    facts = SassFacts(code, builder.lists) if tracing else None
    return Program(code, builder.origin, timing.segments, builder, "", True, facts)  # type: ignore[arg-type]


def _bring(builder: SassBuilder, scoreboard: str, first: int) -> None:
    """Have a scoreboard stand for the load of an instruction."""
    for row in builder.code[first:]:
        if row[0] in _BRINGS:
            fields = dict(zip(COLUMNS, row, strict=True))
            to = builder.lists[fields["list"]] if row[0] != Micro.atomic else fields["dst"]
            builder.emit(
                Micro.alias, list=builder.listed([builder.row(scoreboard), to]), count=1, guard=fields["guard"],
                negated=fields["negated"],
            )  # fmt: skip
            return


def is_toolkit(file: str) -> bool:
    """Whether a source is a header of the CUDA toolkit, whose lines a user does not know.

    >>> is_toolkit("/usr/local/cuda/targets/x86_64-linux/include/sm_20_intrinsics.hpp"), is_toolkit("app/k.cu")
    (True, False)
    """
    return "/targets/" in file and "/include/" in file or file.endswith(_HEADERS)


_HEADERS = (
    "_intrinsics.hpp", "device_atomic_functions.hpp", "device_functions.hpp", "cuda_fp16.hpp", "cuda_bf16.hpp",
    "math_functions.hpp", "vector_functions.hpp",
)  # fmt: skip


__all__ = ["UnknownMachineCode", "build_sass", "is_toolkit"]
