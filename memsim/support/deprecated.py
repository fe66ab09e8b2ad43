"""Names that still work for one minor version, and what takes their place: those that 1.0 renamed go in version 1.1."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

DEPRECATED = {
    "capture --stop": "has no effect: the program ends as soon as the trace is complete; --to-end runs it to its end",
    "capture(stop=)": "has no effect: the program ends as soon as the trace is complete; to_end=True runs it on",
}
"""By name of an option, what to say to someone who uses it."""

RENAMED: dict[str, dict[str, str]] = {
    "memsim.host": {"Program": "HostProgram", "Work": "KernelWork"},
    "memsim.measured": {"Beside": "ReportComparison", "Line": "MetricLine", "beside": "compare_with_report"},
    "memsim.models.cumapz": {"Fetch": "BufferFetch", "Program": "CumapzProgram", "Scratch": "ScratchReference"},
    "memsim.sources.ptx": {"Launch": "PtxLaunch", "Memory": "DeviceMemory"},
    "memsim.studies": {"Case": "StudyCase", "Study": "DesignStudy", "StudyResult": "StudyTrials"},
    "memsim.trace.schema": {"StaticOp": "StaticInstruction"},
    "memsim.why": {
        "Explained": "Bottlenecks",
        "Explanation": "Bottleneck",
        "explained": "has_profiles",
        "LEAST_EXCESS": "LEAST_SHARE",
        "explanations": "find_bottlenecks",
    },
}
"""Package -> old name of a class, function or constant -> new name. A class name is unique in memsim."""

RENAMED_FIELDS: dict[str, dict[str, str]] = {
    "Bottleneck": {"excess": "attributable_share", "bound": "upper_bound"},
    "Bottlenecks": {"causes": "bottlenecks"},
    "Chunk": {"gap": "compute_run", "mix": "instruction_mix"},
    "Finding": {
        "place": "location",
        "excess": "attributable_share",
        "cost": "bounded_share",
        "saves": "removed_work",
    },
    "Gain": {"bound": "upper_bound"},
    "LaunchGroup": {"places": "positions"},
    "Load": {"place": "location", "x_parts": "x_terms"},
    "Row": {"place": "location", "there": "second_location"},
    "ResultComparison": {"whole": "whole_kernel"},
    "State": {"kept": "restored"},
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
    "compared load": {"place": "location", "there": "second_location"},
}
"""Object of JSON documents -> old key -> new key. Documents have both until version 2.0."""


def deprecation(name: str) -> str:
    """The line about a name that is going to be removed.

    >>> deprecation("capture --stop").partition(":")[0]
    'capture --stop is deprecated and has no effect'
    """
    return f"{name} is deprecated and {DEPRECATED[name]}"


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


def old_names(package: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package, which finds what had other names before.

    >>> old_names("memsim.host")("Nothing")
    Traceback (most recent call last):
    AttributeError: module 'memsim.host' has no attribute 'Nothing'
    """

    def find(name: str) -> Any:
        new = RENAMED[package].get(name)
        if new is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        warnings.warn(f"{package}.{name} is now {new}", DeprecationWarning, stacklevel=2)
        return getattr(sys.modules[package], new)

    return find


def old_fields(owner: str) -> Callable[[Any, str], Any]:
    """The ``__getattr__`` of a class, which finds fields that had other names before."""

    def find(self: Any, name: str) -> Any:
        new = RENAMED_FIELDS[owner].get(name)
        if new is None:
            raise AttributeError(f"{owner!r} object has no attribute {name!r}")
        warnings.warn(f"{owner}.{name} is now {new}", DeprecationWarning, stacklevel=2)
        return getattr(self, new)

    return find
