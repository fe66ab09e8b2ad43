"""The programs, the kernel that is looked at in each, and their arguments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent / "cuda"
LIBRARY = Path(__file__).parents[2] / "traces" / "cuda"


@dataclass(frozen=True)
class Program:
    """A CUDA C++ file that checks its own result, and says so by its exit status.

    Attributes:
        file: the source.
        kernel: the one it launches with these arguments.
        arguments: for the GPU: sizes whose counters mean something (a kernel of 20 microseconds and more).
        small: arguments of a run that takes no time, for the tests.
    """

    file: Path
    kernel: str
    arguments: tuple[str, ...] = ()
    small: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.file.stem}.{self.kernel}"


PROGRAMS = [
    Program(HERE / "saxpy.cu", "saxpy", ("16777216",), ("4096",)),
    Program(HERE / "triad.cu", "triad", ("16777216",), ("4096",)),
    Program(HERE / "histogram.cu", "count", ("4194304",), ("4096",)),
    Program(HERE / "gather.cu", "gather", ("4194304", "1048576"), ("4096", "1000")),
    Program(HERE / "atax.cu", "times_transposed", ("4096", "16384"), ("32", "300")),
    Program(HERE / "conv2d.cu", "conv", ("4096", "8"), ("64", "8")),
    Program(HERE / "random_copy.cu", "copy", ("2048", "8", "32"), ("64", "8", "32")),
    Program(LIBRARY / "matmul.cu", "naive_product", ("1024", "naive"), ("64", "naive")),
    Program(LIBRARY / "matmul.cu", "tiled_product", ("1024", "tiled"), ("64", "tiled")),
    Program(LIBRARY / "reduction.cu", "block_sums", ("4194304",), ("4096",)),
    Program(LIBRARY / "spmv.cu", "csr", ("86016", "51"), ("512", "8")),
    Program(LIBRARY / "stencil.cu", "seven_point", ("512", "64"), ("32", "4")),
    Program(LIBRARY / "transpose.cu", "direct", ("4096", "naive"), ("64", "naive")),
]
CHASE, CHANNELS, EVENTS = HERE / "chase.cu", HERE / "channels.cu", HERE / "events.cu"
MECHANISMS, SGEMM = HERE / "mechanisms.cu", HERE / "sgemm.cu"
GROUPS = ("launches", "streams", "l2", "stores", "l1", "shared", "pipes", "dram", "more", "carve", "latency")
