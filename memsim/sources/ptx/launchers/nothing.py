"""What a program asks of a device and memsim needs not do: streams, events, contexts, synchronization."""

from __future__ import annotations

from typing import Any


class Nothing:
    """Whatever is asked of it, it does nothing and returns itself; launches run one after another anyway.

    >>> stream = Nothing()
    >>> with stream.auto_synchronize() as inside:
    ...     inside.synchronize() is stream
    True
    """

    def __getattr__(self, name: str) -> Nothing:
        if name.startswith("__"):  # protocols that it does not have
            raise AttributeError(name)
        return self

    def __call__(self, *arguments: Any, **named: Any) -> Nothing:
        return self

    def __enter__(self) -> Nothing:
        return self

    def __exit__(self, *error: object) -> None:
        """An exception goes on."""

    def __int__(self) -> int:
        return 0
