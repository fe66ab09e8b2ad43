"""What the model counts, by static memory operation (op), level, event and unit, in the names of the result files."""

from __future__ import annotations

from collections import Counter, defaultdict


class Statistics:
    """Counters and latencies of one replay."""

    def __init__(self) -> None:
        # (op, level, event, unit), as in (3, "l1", "read_hit", "sectors"); the other unit is "transactions".
        self.counts: Counter[tuple[int, str, str, str]] = Counter()
        # Cycles of each load transaction of an op, from lookup to data, and of each of its instructions as a whole.
        self.latencies: dict[int, list[int]] = defaultdict(list)
        self.instruction_latencies: dict[int, list[int]] = defaultdict(list)
        self.translations: Counter[tuple[int, str]] = Counter()  # (op, event): TLB lookups
        self.components: Counter[tuple[str, str]] = Counter()  # (section, counter) of memsim.gpu.components
        self.transactions = 0
        self.dram_requests: list[tuple[int, int]] = []  # (line, sector mask), in order

    def count(self, op: int, level: str, event: str, sectors: dict[str, int]) -> None:
        """Count one transaction under the event of its worst sector, and its sectors each under their own event."""
        self.counts[op, level, event, "transactions"] += 1
        for name, number in sectors.items():
            self.counts[op, level, name, "sectors"] += number
