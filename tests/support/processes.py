"""Processes that tests start to interrupt them, and those that others started, by their ids."""

import signal
import time
from pathlib import Path


def _heed_interrupts():
    """As a shell's child does: pytest-xdist's workers ignore SIGINT, and what they start would too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


LISTENING = dict(start_new_session=True, preexec_fn=_heed_interrupts)


def are_gone(processes):
    """Whether they end in ten seconds."""
    for _ in range(100):
        if not any(map(_is_alive, processes)):
            return True
        time.sleep(0.1)
    return False


def _is_alive(process):
    try:
        return "State:\tZ" not in Path("/proc", str(process), "status").read_text()  # zombies stay in some containers
    except OSError:
        return False
