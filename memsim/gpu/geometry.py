"""What rules of several parts of a GPU ask for: powers of two, and slices that hold whole lines."""

from __future__ import annotations

from collections.abc import Iterator

Problem = tuple[str, str]  # field, what is wrong and what would be right


def power_of_two(n: int) -> bool:
    """Whether a number is a positive power of two."""
    return n > 0 and n & (n - 1) == 0


def interleave_problems(field: str, size: int, line_bytes: int) -> Iterator[Problem]:
    """What is wrong with the consecutive bytes per slice of a cache."""
    if size % line_bytes:
        yield field, f"is {size}; give a multiple of l1.line_bytes = {line_bytes}"
