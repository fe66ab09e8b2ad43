"""Which versions of a kernel there are: the combinations of the choices that it declares, or that a user gives."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memsim.sources.describe import Workload
from memsim.support.errors import InputError

MOST = 10_000  # versions: a tenth of a second each

Chosen = dict[str, Any]  # by choice, the value of one version


def choices_of(
    workload: Workload, given: Mapping[str, Any], vary: Mapping[str, Sequence[Any]]
) -> dict[str, tuple[Any, ...]]:
    """The choices that are open, with their values.

    Args:
        given: parameters with one value, which close a choice.
        vary: parameters with several, instead of those declared.

    Raises:
        InputError: an unknown parameter or a bad value, no choice at all, or too many versions.

    >>> from memsim.sources import load_workload
    >>> choices_of(load_workload("transpose"), {}, {"n": ("512", "1024"), "variant": ("naive",)})
    {'variant': ('naive',), 'n': (512, 1024)}
    """
    for name in vary:
        if name in given:
            raise InputError(workload.shown, name, "is both given (-p) and varied (--vary); choose one")
        if not vary[name]:
            raise InputError(workload.shown, name, f"has no values; give --vary {name}=VALUE,VALUE")
    values = dict(workload.choices) | {
        name: tuple(dict.fromkeys(workload.parameters({name: value})[name] for value in vary[name])) for name in vary
    }
    open_ = {name: values[name] for name in values if name not in given}
    if not open_:
        right = "give --vary name=VALUE,VALUE, or declare some with @workload(choices=...)"
        raise InputError(workload.shown, "choices", f"are none; {right}")
    if (versions := math.prod(map(len, open_.values()))) > MOST:
        raise InputError(workload.shown, "choices", f"make {versions:,} versions; give at most {MOST:,}")
    return open_


def combinations(choices: Mapping[str, Sequence[Any]]) -> Iterator[Chosen]:
    """Every version, the last choice changing first.

    >>> list(combinations({"pad": (0, 1), "by": ("rows",)}))
    [{'pad': 0, 'by': 'rows'}, {'pad': 1, 'by': 'rows'}]
    """
    for values in itertools.product(*choices.values()):
        yield dict(zip(choices, values, strict=True))


def parse_vary(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Parse ``name=VALUE,VALUE`` arguments.

    >>> parse_vary(["padding=0,1"])
    {'padding': ('0', '1')}
    """
    parsed = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals:
            raise InputError("--vary", text, "has no values; give name=VALUE,VALUE, for example padding=0,1")
        parsed[name.strip()] = tuple(value.strip() for value in values.split(",") if value.strip())
    return parsed
