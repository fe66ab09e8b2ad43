"""How many processes work at once where nobody says."""

from __future__ import annotations

import os
import platform

from memsim.support.errors import InputError

VARIABLE = "MEMSIM_JOBS"
"""Environment variable with the number of processes to use where no option and no argument gives it."""


def all_cores() -> int:
    """Cores that this process may use.

    >>> all_cores() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_jobs() -> int:
    """The number of worker processes where nobody gives it: ``MEMSIM_JOBS``, else all cores.

    Where processes cannot be forked (outside Linux) it is 1 without that variable: a new process would run a script
    again that has no main guard.

    Raises:
        InputError: the variable is no number of 1 or more.
    """
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return all_cores() if platform.system() == "Linux" else 1
    if not given.isdecimal() or int(given) < 1:
        raise InputError(VARIABLE, "jobs", f"is {given!r:.40}; give a number of processes, 1 or more")
    return int(given)


def chosen_jobs(jobs: int | None) -> int:
    """The number of processes that ``--jobs`` means: None is the default, 0 is one per core.

    >>> chosen_jobs(3), chosen_jobs(0) == all_cores()
    (3, True)
    """
    return default_jobs() if jobs is None else jobs or all_cores()
