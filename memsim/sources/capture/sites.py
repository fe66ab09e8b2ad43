"""What a probe's number stands for: the site table that the front end makes and the merge reads."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from memsim.trace.schema import Kind

LAST_SITE = 0xFEFF  # numbers above are marks of the log


class Role(IntEnum):
    """What a thread does when it comes by a site."""

    access = 0  # of memory
    latch = 1  # the end of a loop's iteration
    call = 2  # of a device function


@dataclass(frozen=True)
class Site:
    """One place in the source that the instrumented program reports.

    Attributes:
        id: 1 to LAST_SITE. Within a function the ids ascend in the order in which the places are evaluated, with a
            loop's latch after its body; those of one function are consecutive.
        role: access, latch or call.
        kind: of an access, else None. A read-modify-write such as ``a[i] += x`` is two sites, a load and a store.
        file, line, column: of the expression, from 1.
        text: the expression as the user wrote it.
        waits_for: ids of the loads and atomics whose value this site's address, or whether it is reached, depends on;
            transitively through variables, parameters and returned values, and rather too many than too few.
        address_from: of these, the ids of those whose value its address depends on.
        data_from: of a store, ids of the loads whose value it stores.
        gap: arithmetic instructions since the site before it, an estimate.
        unroll: of a latch, how many iterations of the loop the compiler puts before a back-edge; 0: there is none.
            None: the loop is counted, so it is the compiler's choice.

    >>> Site(1, Role.access, Kind.load, "app.cu", 3, 5, "a[i]").waits_for
    ()
    """

    id: int
    role: Role
    kind: Kind | None
    file: str
    line: int
    column: int
    text: str
    waits_for: tuple[int, ...] = ()
    address_from: tuple[int, ...] = ()
    data_from: tuple[int, ...] = ()
    gap: int = 0
    unroll: int | None = 1
