"""Old names that still work: of fields, until version 1.2, and in files and JSON documents."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

RENAMED_FIELDS: dict[str, dict[str, str]] = {
    "Load": {"place": "location", "x_parts": "x_terms"},
    "ResultComparison": {"whole": "whole_kernel"},
    "Row": {"place": "location", "there": "second_location"},
}
"""Class -> old name of a field -> new name."""

OLD_COLUMNS = {
    "instructions/off_path": "instructions/beside",
    "instructions/compute_run": "instructions/gap",
    "instructions/instruction_mix": "instructions/mix",
    "instruction_mixes/critical_": "mixes/chain_",
    "instruction_mixes/": "mixes/",
}
"""Dataset of a trace, or how its name begins -> the same in older files: before schema 1.11 (`off_path`) and 1.13."""

OLD_RESULT_KEYS = {
    "executed": {"gap_instructions": "compute_instructions"},
    "until": {"asked": "requested"},
}
"""Object in a result's ``about`` -> old key -> new key, from result schema 1.8 on."""

OLD_JSON_KEYS = {
    "result": {"whole": "whole_kernel"},
    "until": {"asked": "requested"},
    "finding": {
        "place": "location",
        "excess": "attributable_share",
        "cost": "bounded_share",
        "bound": "upper_bound",
    },
    "profiled kernel": {"place": "location", "bound": "upper_bound", "repair": "replayed"},
    "compared load": {"place": "location", "there": "second_location"},
}
"""Object of JSON documents -> old key -> new key. Documents have both until version 2.0."""


def old_column(name: str) -> str:
    """The name of a trace's dataset in older files.

    >>> old_column("instruction_mixes/critical_fp32"), old_column("addresses")
    ('mixes/chain_fp32', 'addresses')
    """
    for new, old in OLD_COLUMNS.items():
        if name.startswith(new):
            return old + name.removeprefix(new)
    return name


def with_old_keys(kind: str, found: dict[str, Any]) -> dict[str, Any]:
    """A JSON object of a kind in OLD_JSON_KEYS, with its values under old keys, too.

    >>> with_old_keys("result", {"whole_kernel": True})
    {'whole_kernel': True, 'whole': True}
    """
    return found | {old: found[new] for old, new in OLD_JSON_KEYS[kind].items() if new in found}


def old_fields(owner: str) -> Callable[[Any, str], Any]:
    """The ``__getattr__`` of a class, which finds fields that had other names before."""

    def find(self: Any, name: str) -> Any:
        new = RENAMED_FIELDS[owner].get(name)
        if new is None:
            raise AttributeError(f"{owner!r} object has no attribute {name!r}")
        warnings.warn(f"{owner}.{name} is now {new}", DeprecationWarning, stacklevel=2)
        return getattr(self, new)

    return find
