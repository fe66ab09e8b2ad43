"""The kernels in two variants, of which one was measured, or is held, to be slower."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from experiments.harness.study import Aim, AtLeast, Within

ALL = ("a100", "h100", "rtx3080")
RATIO = Within(0.15)  # of a ratio of times that was measured on this GPU or one of its kind


@dataclass(frozen=True)
class Pair:
    """Two variants of one kernel.

    Attributes:
        what: the kernel, and which of its variants is above the other.
        slow, fast: the variants, by their names in launches.py.
        gpus: on which both are simulated.
        published: time of the slow over that of the fast; nan where none is known.
        source: where that stands, and of which GPU it is.
        aim: of our ratio.
    """

    what: str
    slow: str
    fast: str
    gpus: tuple[str, ...] = ALL
    published: float = math.nan
    source: str = ""
    aim: Aim = field(kw_only=True)


PAIRS = (
    Pair(
        "sums of columns, row-major / column-major",
        "sums of columns, row-major",
        "sums of columns, column-major",
        aim=AtLeast(1.1),
    ),
    Pair(
        "sums of rows, of a column less / aligned",
        "sums of rows, 2**16 - 1 columns",
        "sums of rows, 2**16 columns",
        published=3.38 / 2.69,
        source="pytorch/pytorch#119929, a GPU that moves 1.6 TB/s",
        aim=RATIO,
    ),
    Pair(
        "softmax, 1023 / 1024 columns",
        "softmax, 1023 columns",
        "softmax, 1024 columns",
        aim=AtLeast(1.1),
    ),
    Pair(
        "a tile's layout, lanes down the rows / along them",
        "scaled tiles, lanes down the rows",
        "scaled tiles, lanes along rows",
        published=1.35,
        source="pytorch/pytorch#120667: another kernel, its GPU is not named",
        aim=AtLeast(1.1),
    ),
    Pair(
        "matmul 4096, row by row / groups of 8",
        "matmul 4096, f16, row by row",
        "matmul 4096, f16, groups of 8",
        gpus=("a100",),
        published=245 / 220,
        source="Triton's matmul tutorial: 220 to 245 TFLOPS on A100, size not named",
        aim=RATIO,
    ),
    Pair(
        "matmul 2048, row by row / groups of 8",
        "matmul 2048, f32, row by row",
        "matmul 2048, f32, groups of 8",
        gpus=("rtx3080",),
        published=0.543 / 0.526,
        source="pytorch/pytorch#151705, RTX 3090",
        aim=RATIO,
    ),
    Pair(
        "matmul 1024, row by row / groups of 8",
        "matmul 1024, f32, row by row",
        "matmul 1024, f32, groups of 8",
        gpus=("rtx3080",),
        published=0.078 / 0.078,
        source="pytorch/pytorch#151705, RTX 3090",
        aim=RATIO,
    ),
    Pair(
        "atomics, 4 words a lane / 1",
        "atomics, 4 words a lane",
        "atomics, 1 word a lane",
        gpus=("gh200",),
        published=72.86 / 17.98,
        source="triton-lang/triton#10059, GH200: Gupdates/s of int32",
        aim=RATIO,
    ),
    Pair(
        "atomics, 8 words a lane / 1",
        "atomics, 8 words a lane",
        "atomics, 1 word a lane",
        gpus=("gh200",),
        published=72.86 / 9.72,
        source="triton-lang/triton#10059, GH200: Gupdates/s of int32",
        aim=RATIO,
    ),
)
