"""Lets a program go on while its kernel waits for the host."""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass

from memsim.capture.protocol import RUNNING, MessageKind, Payload, send

PATIENCE_SECONDS = 10.0  # from the first time that the kernel waits
STEP_SECONDS = 0.002


@dataclass
class WaitForHost:
    """Answers the launch of a kernel that waits for the host, then gives the host time.

    Launches are answered when the kernel has ended, which is right unless the program does something for the kernel
    meanwhile: it sets a flag in managed or mapped memory, say.
    """

    connection: socket.socket
    has_begun: bool = False
    _since: float = 0.0

    def __call__(self) -> bool:
        """Let the host run for a moment; whether the kernel should wait on."""
        now = time.monotonic()
        if not self.has_begun:
            send(self.connection, MessageKind.launch, Payload().u64(0).text("").bytes, RUNNING)
            self.has_begun, self._since = True, now
        time.sleep(STEP_SECONDS)
        return now - self._since < PATIENCE_SECONDS
