"""What happened when: the spans that a profiler would draw."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """One activity.

    Attributes:
        row: where it is drawn: ``host``, or a stream's name.
        kind: ``call`` (the host's thread is busy), ``wait`` (it waits), ``to_gpu``, ``to_host``, ``kernel`` or
            ``faults``.
        name: of the copy, kernel or call.
        start, end: microseconds.
    """

    row: str
    kind: str
    name: str
    start: float
    end: float


@dataclass(frozen=True)
class Timeline:
    """All spans, in the order in which they ended.

    >>> Timeline((Span("s", "kernel", "a", 1.0, 3.0), Span("s", "kernel", "b", 2.0, 5.0))).busy("kernel")
    4.0
    """

    spans: tuple[Span, ...]

    @property
    def microseconds(self) -> float:
        """From 0 to the last end."""
        return max((span.end for span in self.spans), default=0.0)

    def of(self, kind: str) -> list[Span]:
        """Spans of one kind, by start."""
        return sorted((span for span in self.spans if span.kind == kind), key=lambda span: span.start)

    def busy(self, kind: str) -> float:
        """Microseconds in which at least one span of a kind is under way."""
        total, until = 0.0, 0.0
        for span in self.of(kind):
            total += max(0.0, span.end - max(span.start, until))
            until = max(until, span.end)
        return total
