"""What a program asks of the GPU, in the order of its calls: launches, copies, fills, and where its host waits."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from memsim.capture.protocol import Fields, ProtocolError

MOST = 20_000  # activities that are kept, the first ones
LAUNCH = "launch"


class ActivityKind(IntEnum):
    """Of a message; the names are those that files have."""

    to_gpu = 0
    to_host = 1
    on_gpu = 2
    fill = 3
    wait_stream = 4
    wait_device = 5


@dataclass
class Activities:
    """The activities of a program.

    Attributes:
        rows: kind, stream, and the bytes of a copy or fill; of a launch, its place among the captured ones.
        left_out: how many came after the first ``MOST``.
    """

    rows: list[tuple[str, int, int]] = field(default_factory=list)
    left_out: int = 0

    def add(self, kind: str, stream: int, value: int) -> None:
        """Report one."""
        if len(self.rows) < MOST:
            self.rows.append((kind, stream, value))
        else:
            self.left_out += 1

    def read(self, f: Fields) -> None:
        """Take a message.

        Raises:
            ProtocolError: it has another kind.
        """
        number = f.u32()
        if number not in list(ActivityKind):
            raise ProtocolError(f"there is no activity of kind {number}")
        self.add(ActivityKind(number).name, f.u64(), f.u64())
