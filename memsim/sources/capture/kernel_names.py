"""Kernels by the names that their users call them: without namespaces and template arguments."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from memsim.support.errors import InputError


@dataclass(frozen=True)
class Kernels:
    """The kernels that a program's source defines, and those that it launches.

    Attributes:
        defined: names of those that the program defines, each once.
        launched: names in launches, each once; of a pointer to a function, or of a parameter, where that is launched.
        all_known: whether there are no other launches than those.
    """

    defined: tuple[str, ...]
    launched: tuple[str, ...]
    all_known: bool = True

    def check(self, wanted: str) -> None:
        """Refuse a kernel that will not be launched, whatever the program does.

        Raises:
            InputError: no launch in the source can be the wanted kernel's.
        """
        if wanted in self.launched or not self.all_known:
            return
        if wanted in self.defined:
            if set(self.launched) <= set(self.defined):  # else it may be what a pointer points to
                raise InputError("--kernel", wanted, f"is launched nowhere in the source; {self._launches()}")
            return
        near = get_close_matches(wanted, {*self.defined, *self.launched}, n=3)
        meant = f"; did you mean {' or '.join(near)}?" if near else ";"
        raise InputError("--kernel", wanted, f"is no kernel of the program{meant} {self._launches()}")

    def _launches(self) -> str:
        return f"launched are {', '.join(self.launched)}" if self.launched else "no kernel is launched there"


def bare_name(text: str) -> str:
    """The kernel's name in the text before a launch's angle brackets.

    >>> bare_name("ns::saxpy<float, 4>"), bare_name("& k")
    ('saxpy', 'k')
    """
    return text.partition("<")[0].split("::")[-1].strip(" \t\n&()")
