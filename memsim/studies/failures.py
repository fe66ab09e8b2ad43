"""Which failures are the machine's and not the trial's."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor, CancelledError

_LOST = ("KilledWorker", "FutureCancelledError", "FutureLostError")  # of distributed, which may not be installed


def is_lost_worker(error: BaseException) -> bool:
    """Whether a task failed because its worker went away, or found no memory, of which others may leave it more.

    >>> is_lost_worker(BrokenExecutor()), is_lost_worker(MemoryError()), is_lost_worker(ValueError())
    (True, True, False)
    """
    lost = BrokenExecutor | CancelledError | TimeoutError | MemoryError
    return isinstance(error, lost) or type(error).__name__ in _LOST
