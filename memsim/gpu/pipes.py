"""The pipes of an SM: which of them execute a class of instructions, and how fast.

Of Volta and later, after the Kernel Profiling Guide of Nsight Compute (section on pipelines) and NVIDIA's description
in its Developer Forums (thread 302018):

- The ALU executes integer arithmetic without multiplications, logic, comparisons and selections (also of floats).
- The FMA pipe executes single precision and integer multiplications. From compute capability 8.6 on it consists of two
  halves, of which FMAHeavy alone multiplies integers.
- The XU executes special functions and conversions.

Half precision, double precision, branches, shuffles, the uniform data path and matrix instructions have pipes of their
own here. Not modelled: HFMA2 shares FMAHeavy (and on GA100 double precision shares the pipe of half precision).
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from memsim.gpu.section import Section

PIPES = ("alu", "fma", "fma_heavy", "fp16", "fp64", "xu", "branch", "shuffle", "uniform", "tensor")
# Class of instructions -> the pipes that one occupies, each with the field that says how many lanes it takes per cycle.
PIPES_OF: dict[str, tuple[tuple[str, str], ...]] = {
    "integer": (("alu", "integer_lanes"),),
    "multiply": (("fma", "fp32_lanes"), ("fma_heavy", "multiply_lanes")),
    "fp32": (("fma", "fp32_lanes"),),
    "half": (("fp16", "half_lanes"),),
    "fp64": (("fp64", "fp64_lanes"),),
    "special": (("xu", "special_lanes"),),
    "conversion": (("xu", "conversion_lanes"),),
    "control": (("branch", "control_lanes"),),
    "shuffle": (("shuffle", "shuffle_lanes"),),
    "uniform": (("uniform", "uniform_lanes"),),
}


def tensor_rate(pipes: Pipes, kind: str) -> int | None:
    """Multiply-accumulates per cycle and SM of one of memsim.trace.schema.TENSOR_TYPES; None if not limited."""
    stated = (getattr(pipes, f"{each}_macs") for each in (kind, kind.replace("_group", "")))
    return next((rate for rate in stated if rate is not None), None)


def _lanes(what: str) -> Any:
    return Field(
        None, ge=1, le=4096, description=f"results of {what} instructions per cycle and SM; none: limited by issue only"
    )


def _link(what: str, to: str = "one that uses its result") -> Any:
    return Field(None, ge=0, le=10**5, description=f"latency from {what} instruction to {to}")


def _macs(kind: str) -> Any:
    return Field(
        None, ge=1, le=2**20, description=f"multiply-accumulates of {kind} per cycle and SM on the tensor cores"
    )


class Pipes(Section):
    """Width and latency of each class of instructions (memsim.trace.schema) between memory instructions.

    The stall counts of machine code contain all fixed latencies. Of its instructions, only those of variable latency,
    which set a scoreboard, use the cycles here.

    The schedulers of an SM have equal shares of each. None: the class takes issue slots alone, and
    ``sm.instruction_cycles`` from one to the next on a chain. Without cycles of its own, a guard, an operand, a
    multiplication or a uniform instruction takes ``integer_cycles``, a branch ``control_cycles``. Multiplications
    occupy the FMA pipe, too: `fp32_lanes` limits both together.
    """

    integer_lanes: int | None = _lanes("integer")
    integer_cycles: int | None = _link("an integer")
    multiply_lanes: int | None = _lanes("integer multiplication")
    multiply_cycles: int | None = _link("an integer multiplication")
    fp32_lanes: int | None = _lanes("single-precision")
    fp32_cycles: int | None = _link("a single-precision")
    half_lanes: int | None = _lanes("half-precision (two to an instruction's lane)")
    half_cycles: int | None = _link("a half-precision")
    fp64_lanes: int | None = _lanes("double-precision")
    fp64_cycles: int | None = _link("a double-precision")
    special_lanes: int | None = _lanes("special-function")
    special_cycles: int | None = _link("a special-function")
    conversion_lanes: int | None = _lanes("conversion")
    conversion_cycles: int | None = _link("a conversion")
    control_lanes: int | None = _lanes("control (branches, reads of special registers)")
    control_cycles: int | None = _link("a control")
    shuffle_lanes: int | None = _lanes("shuffle")
    shuffle_cycles: int | None = _link("a shuffle")
    uniform_lanes: int | None = _lanes("uniform")
    uniform_cycles: int | None = _link("a uniform")
    guard_cycles: int | None = _link("a comparison", "one that its predicate decides on")
    operand_cycles: int | None = _link("an arithmetic", "an access that uses its result")
    branch_cycles: int | None = _link("a branch", "what runs next")
    resolve_cycles: int | None = Field(
        None,
        ge=0,
        le=10**3,
        description="machine code: cycles that a warp waits after a branch, in addition to its stall count; none: 0",
    )
    tensor_f16_macs: int | None = _macs("f16 and bf16")
    tensor_tf32_macs: int | None = _macs("tf32")
    tensor_i8_macs: int | None = _macs("8-bit integers")
    tensor_f8_macs: int | None = _macs("8-bit floats")
    tensor_f64_macs: int | None = _macs("f64")
    tensor_group_f16_macs: int | None = _macs("f16 and bf16 by wgmma (none: as other instructions)")
    tensor_group_tf32_macs: int | None = _macs("tf32 by wgmma (none: as other instructions)")
    tensor_group_i8_macs: int | None = _macs("8-bit integers by wgmma (none: as other instructions)")
    tensor_group_f8_macs: int | None = _macs("8-bit floats by wgmma (none: as other instructions)")
    tensor_cycles: int | None = _link("a matrix")
    register_cycles: int | None = _link("an instruction that reads a special register", "one that uses its value")
