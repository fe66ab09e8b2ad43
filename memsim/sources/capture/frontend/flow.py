"""Which loads a value, an address or a decision depends on.

Within a function, values are followed through variables in program order; across functions through symbols (the third
parameter of f, what f returns), which are resolved at the end, for all calls of f together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from memsim.sources.capture.frontend.declarations import Key
from memsim.sources.capture.sites import Role
from memsim.trace.schema import Kind


class Symbol(NamedTuple):
    """What a function gets or gives: ``param`` (by position), ``this``, ``control``, ``return``, ``out`` (stored)."""

    what: str
    function: Key
    position: int = 0


@dataclass(eq=False, slots=True)
class Draft:
    """A site before it is numbered."""

    role: Role
    kind: Kind | None
    file: str
    start: int
    end: int
    gap: int = 0
    unroll: int | None = 1
    callees: tuple[Key, ...] | None = ()  # of a call; None: whatever a pointer or a template parameter names
    waits_for: set[Dependency] = field(default_factory=set)
    address: set[Dependency] = field(default_factory=set)  # of these, what the address depends on
    data_from: set[Dependency] = field(default_factory=set)
    id: int = 0


class Decided(NamedTuple):
    """What decides whether a variable is given a value here: it must be there, and is not in the value."""

    by: Draft | Symbol


Dependency = Draft | Symbol | Decided
Deps = frozenset[Dependency]
NOTHING: Deps = frozenset()


def decided(control: Deps) -> Deps:
    """The dependence of a value on what decides that it is given."""
    return frozenset(one if isinstance(one, Decided) else Decided(one) for one in control)


class Facts:
    """What each symbol stands for."""

    def __init__(self) -> None:
        self._facts: dict[Symbol, set[Dependency]] = {}

    def add(self, symbol: Symbol, dependencies: Iterable[Dependency]) -> None:
        self._facts.setdefault(symbol, set()).update(dependencies)

    def sites(self, dependencies: Iterable[Dependency], decisions: bool = True) -> set[Draft]:
        """The sites behind dependencies, symbols followed to the end; without `decisions`, those of values alone."""
        found: set[Draft] = set()
        seen: set[Symbol] = set()
        waiting = list(dependencies)
        while waiting:
            one = waiting.pop()
            if isinstance(one, Draft):
                found.add(one)
            elif isinstance(one, Decided):
                waiting += [one.by] if decisions else []
            elif one not in seen:
                seen.add(one)
                waiting += self._facts.get(one, ())
        return found


class Values:
    """What every variable of a function depends on, at one point of it."""

    def __init__(self, known: dict[int, Deps] | None = None) -> None:
        self._known = dict(known or {})

    def get(self, variable: int | None) -> Deps:
        return self._known.get(variable, NOTHING) if variable is not None else NOTHING

    def set(self, variable: int, dependencies: Deps) -> None:
        self._known[variable] = dependencies

    def add(self, variable: int, dependencies: Deps) -> None:
        self._known[variable] = self.get(variable) | dependencies

    def copy(self) -> Values:
        return Values(self._known)

    def join(self, other: Values) -> Values:
        """What holds after either of two ways."""
        return Values({one: self.get(one) | other.get(one) for one in {*self._known, *other._known}})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Values) and self._known == other._known

    __hash__ = None  # type: ignore[assignment]  # it changes
