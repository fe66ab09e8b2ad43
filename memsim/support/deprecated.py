"""Names that still work for one release, and what takes their place."""

from __future__ import annotations

DEPRECATED = {
    "capture --stop": "has no effect: the program ends as soon as the trace is complete; --to-end runs it to its end",
    "capture(stop=)": "has no effect: the program ends as soon as the trace is complete; to_end=True runs it on",
}
"""By name, what to say to someone who uses it. They go in version 0.2."""


def deprecation(name: str) -> str:
    """The line about a name that is going to be removed.

    >>> deprecation("capture --stop").partition(":")[0]
    'capture --stop is deprecated and has no effect'
    """
    return f"{name} is deprecated and {DEPRECATED[name]}"
