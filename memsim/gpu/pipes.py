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

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memsim.gpu.cores import Pipes

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
