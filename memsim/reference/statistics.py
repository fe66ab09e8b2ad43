"""What the model counts, by static memory operation (op), level, event and unit, in the names of the result files."""

from __future__ import annotations

from collections import Counter, defaultdict


class Statistics:
    """Counters and latencies of one replay.

    Attributes:
        counts: (op, level, event, unit) -> number; level ``l1``, ``l2`` or ``dram``; event: access kind and where its
            data were (``read_hit``); unit ``transactions`` or ``sectors``.
        latencies: op -> cycles of each of its load transactions, from lookup to data.
        instruction_latencies: op -> cycles of each warp instruction, from the first lookup to the last data.
        translations: (op, event) -> number of TLB lookups.
        transactions: transactions replayed.
        dram_requests: (line, sector mask) of every request to DRAM, in order.
    """

    def __init__(self) -> None:
        self.counts: Counter[tuple[int, str, str, str]] = Counter()
        self.latencies: dict[int, list[int]] = defaultdict(list)
        self.instruction_latencies: dict[int, list[int]] = defaultdict(list)
        self.translations: Counter[tuple[int, str]] = Counter()
        self.transactions = 0
        self.dram_requests: list[tuple[int, int]] = []

    def count(self, op: int, level: str, event: str, sectors: dict[str, int]) -> None:
        """Count one transaction under the event of its worst sector, and its sectors each under their own event."""
        self.counts[op, level, event, "transactions"] += 1
        for name, number in sectors.items():
            self.counts[op, level, name, "sectors"] += number
