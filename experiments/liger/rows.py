"""The measured rows, the bytes that they move, and the null model: these bytes over the rate of a large copy."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

MEASURED = Path(__file__).with_name("measured.csv")
# GB/s of large copies. H100: KernelBench's published times (ScalingIntelligence/KernelBench). A100: 90 % of
# 2039 GB/s, as there on both H100s. RTX 3090: 89 % of 936 GB/s, as there on an RTX A6000, which has the same chip.
COPY_RATES = {"a100": 1835, "h100": 3010, "rtx3090": 833}
_TOKENS, _HIDDEN, _HEADS, _KEY_HEADS = 2048, 8192, 32, 8  # of rope's benchmarks


@dataclass(frozen=True)
class Row:
    """One measured time.

    Attributes:
        gpu: preset.
        kernel: a key of ``CALLS`` in launches.py.
        size: columns, hidden size or tokens.
        microseconds: the median of ``do_bench``.
    """

    gpu: str
    kernel: str
    size: int
    microseconds: float

    @property
    def moved_bytes(self) -> int:
        """Bytes of the inputs and outputs, each once.

        >>> Row("h100", "layer_norm", 1024, 18.8).moved_bytes
        33554432
        """
        if self.kernel.startswith("rope"):
            hidden, tokens = (self.size, _TOKENS) if self.kernel == "rope, hidden size" else (_HIDDEN, self.size)
            return 2 * 2 * tokens * hidden // _HEADS * (_HEADS + _KEY_HEADS)
        rows, word = {
            "layer_norm": (4096, 4),
            "rms_norm": (2048, 2),
            "softmax, float32": (2048, 4),
            "softmax, bfloat16": (2048, 2),
        }[self.kernel]
        return 2 * rows * word * self.size

    @property
    def null(self) -> float:
        """Microseconds of the null model."""
        return self.moved_bytes / COPY_RATES[self.gpu] / 1000


def measured() -> list[Row]:
    """All rows, in the file's order.

    >>> len(measured())
    36
    """
    with MEASURED.open(encoding="utf-8", newline="") as lines:
        return [Row(row["gpu"], row["kernel"], int(row["size"]), float(row["us"])) for row in csv.DictReader(lines)]
