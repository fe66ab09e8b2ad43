"""A Ctrl-C that comes while a finalizer runs, whose exception Python drops."""

from __future__ import annotations

import signal


class _Finalized:
    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def drop_interrupt() -> None:
    """Ctrl-C at the worst moment: KeyboardInterrupt is raised in a finalizer, and nobody gets it."""
    one = _Finalized()
    del one
