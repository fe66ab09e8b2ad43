"""The results of all trials and their file: HDF5, schema ``memsim-result``.

::

    bytes 0 to 511  the seal: SHA-256 of the rest, in text (see support.seal)
    /            attributes: schema, version
    /about       JSON text (UTF-8, of fixed length), Trials.about
    /ops         JSON text, Trials.ops
    /arrays      JSON text, Trials.arrays
    /sources     JSON text, Trials.sources (from 1.5 on; not in the results within a study)
    /trials/*    one dataset an array of Trials, by its name; first axis: finished trials
    /component_counters  JSON text: section and name of each column of trials/components (from 1.10 on)
"""

from __future__ import annotations

import dataclasses
import re
from math import inf
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from memsim.gpu.components import COUNTERS, UNNAMED_COUNTERS
from memsim.gpu.pipes import PIPES
from memsim.gpu.translation import TRANSLATION
from memsim.hierarchy.block_sample import GROUPS
from memsim.hierarchy.conservation import broken_law
from memsim.montecarlo.trials import Trials
from memsim.profile.op_profile import OCTAVES, OpProfile
from memsim.support import hdf5
from memsim.support.deprecated import OLD_RESULT_KEYS
from memsim.support.errors import InputError
from memsim.support.hdf5 import read_text, write_text
from memsim.trace import source_text
from memsim.trace.schema import INSTRUCTION_CLASSES

SCHEMA = "memsim-result"
# 1.3: sealed (older files are refused), translation
# 1.4: about.gpu.launch, trials/full_until, dirty_sectors, blocks_done
# 1.5: sources; 1.6: about.executed.masked; 1.7: trials/components, about.sample, trials/group_*
# 1.8: about.executed.compute_instructions, about.until.requested; 1.9: more columns of trials/components
# 1.10: component_counters; 1.11: translation is in trials/components
VERSION = (1, 11)

# Arrays that older files lack -> the section of the GPU that is as old as they are.
_SINCE = {"components": "prefetcher"} | dict.fromkeys(("full_until", "dirty_sectors", "blocks_done"), "launch")
# Arrays to which versions add counters -> the axis at whose end these are.
_GROWING = {"counters": -2, "group_counters": -2, "components": -1}
_LIMIT_BYTES = 1 << 32  # of all arrays: 50,000 trials of a kernel with 20 loads; more is a damaged or hostile file
_TEXTS = ("about", "ops", "arrays")
# Field of a JSON text -> its type; what analysis and report read without asking.
_Fields = dict[str, type | tuple[type, ...]]
_OP_FIELDS: _Fields = {
    "kind": str, "space": str, "width": int, "array": int, "line": int, "column": int, "file": str, "text": str,
}  # fmt: skip
_ARRAY_FIELDS: _Fields = {"name": str, "base": int, "bytes": int, "element_bytes": int}
_PROFILE_FIELDS: _Fields = {
    name: list if name.endswith("_distances") else int for name in OpProfile.__dataclass_fields__
}
_PROFILE_DEFAULTS = {
    one.name: one.default for one in dataclasses.fields(OpProfile) if one.default is not dataclasses.MISSING
}
_EXECUTED_FIELDS: _Fields = dict.fromkeys(
    ("registers", "shared_bytes", "warps", "compute_instructions", "barriers", "masked"), int
)
_UNTIL_FIELDS: _Fields = {"width": (int, float), "convention": str, "reached": bool}
_ABOUT_FIELDS: _Fields = {
    "gpu_provenance": dict, "seed": int, "versions": dict, "created": str,
    "gpu.name": str, "gpu.compute_capability": str, "gpu.sm.clock_mhz": (int, float),
    "gpu.l1.hit_latency_cycles": int, "gpu.l2.hit_latency_cycles": int,
    "trace.digest": str, "trace.kernel": str, "trace.source": str, "trace.parameters": dict,
    "trace.grid": list, "trace.block": list, "trace.blocks": int, "trace.wave_blocks": int,
}  # fmt: skip


def save(path: str | Path, trials: Trials) -> None:
    """Write all of `trials` to `path`, whole or not at all.

    Raises:
        InputError: it cannot be written (no such folder, no permission, disk full).
    """
    with hdf5.written(path, SCHEMA, VERSION, durable=True) as file:
        write(file, trials)
        source_text.write(file, trials.sources)


def write(group: h5py.Group, trials: Trials) -> None:
    """Write `trials` into a file, or into a group of one."""
    for name in _TEXTS:
        write_text(group, name, getattr(trials, name))
    write_text(group, "component_counters", [".".join(one) for one in COUNTERS])
    for name in _columns(trials.about, len(trials.ops)):
        group.create_dataset(f"trials/{name}", data=getattr(trials, name), **hdf5.COMPRESSED)


def _columns(about: dict[str, Any], n_ops: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The arrays that a file has: those of groups only where blocks were sampled."""
    sampled = about.get("sample") is not None
    return {name: column for name, column in Trials.columns(n_ops).items() if sampled or not name.startswith("group_")}


def load(path: str | Path) -> Trials:
    """Read a file of `save`.

    Raises:
        InputError: the file is damaged, of another schema or newer version, or holds impossible values, or counters
            that do not add up (:mod:`memsim.hierarchy.conservation`).
    """
    with hdf5.opened(path, SCHEMA, VERSION) as file:
        trials = read(path, file)
        trials.sources = source_text.read(path, file)
        return trials


def read(path: str | Path, file: h5py.File, prefix: str = "") -> Trials:
    """Read what :func:`write` wrote.

    Args:
        path: what errors name.
        file: the open file.
        prefix: of the group, ending with a slash, or nothing.

    Raises:
        InputError: it is damaged, or holds impossible values, or counters that do not add up.
    """
    texts: dict[str, Any] = {name: read_text(path, file, prefix + name) for name in _TEXTS}
    _complete(texts["about"], texts["ops"])
    _check_texts(path, **texts)
    stored: dict[str, h5py.Dataset] = {}
    columns = _columns(texts["about"], n_ops := len(texts["ops"]))
    if hdf5.find(file, f"{prefix}trials/translation") is not None:
        columns["translation"] = ("<i8", (n_ops, len(TRANSLATION.counters)))  # before 1.11
    for name, (dtype, shape) in columns.items():
        if _SINCE.get(name, "name") not in texts["about"]["gpu"]:
            continue  # an older file
        lengths = [len(stored["counters"]) if stored else None, *shape]
        if name in _GROWING:
            lengths[_GROWING[name]] = None
        stored[name] = hdf5.dataset(path, file, f"{prefix}trials/{name}", dtype, tuple(lengths))
    hdf5.check_size(path, stored.values(), _LIMIT_BYTES)
    arrays: dict[str, Any] = {name: found[...] for name, found in stored.items()}
    if "components" in arrays:
        arrays["components"] = _component_columns(path, file, prefix, arrays["components"])
    for name, values in arrays.items():
        arrays[name] = _with_later_counters(path, name, values, columns[name][1])
    _check_values(path, arrays)
    if (lookups := arrays.pop("translation", None)) is not None:
        counts = arrays.setdefault("components", np.zeros((len(lookups), len(COUNTERS)), np.int64))
        counts[:, [section == "translation" for section, _ in COUNTERS]] = lookups.sum(axis=1)
    trials = Trials(**arrays, **texts)
    if broken := broken_law(trials, trials.about["gpu"]):
        raise InputError(path, "trials/counters", f"are inconsistent: {broken}; the file is damaged or was changed")
    return trials


def _with_later_counters(path: str | Path, name: str, values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """An array, with zeros for the counters that the version which wrote it did not have."""
    absent = [now - before for now, before in zip(shape, values.shape[1:], strict=True)]
    if any(count < 0 for count in absent):
        raise InputError(path, f"trials/{name}", "has counters of a newer memsim; install it")
    return np.pad(values, [(0, 0), *((0, count) for count in absent)]) if any(absent) else values


def _component_columns(path: str | Path, file: h5py.File, prefix: str, values: np.ndarray) -> np.ndarray:
    """The columns of `COUNTERS`, by the names that the file states; zeros for counters that it lacks.

    Counters that this version does not have are left out.
    """
    names: Any = [".".join(one) for one in UNNAMED_COUNTERS[: values.shape[1]]]
    if hdf5.find(file, where := f"{prefix}component_counters") is not None:
        names = read_text(path, file, where)
        if not isinstance(names, list) or len(set(map(str, names))) != values.shape[1]:
            raise InputError(path, where, "does not name each column of trials/components; the file is damaged")
    elif len(names) < values.shape[1]:
        raise InputError(path, f"{prefix}trials/components", "has counters of a newer memsim; install it")
    columns = {str(name): values[:, at] for at, name in enumerate(names)}
    absent = np.zeros(len(values), values.dtype)
    return np.stack([columns.get(".".join(one), absent) for one in COUNTERS], axis=1)


def _complete(about: Any, ops: Any) -> None:
    """Names and values as of this version, in the texts of an older file."""
    for name, keys in OLD_RESULT_KEYS.items():
        if isinstance(about, dict) and isinstance(found := about.get(name), dict):
            about[name] = {keys.get(key, key): value for key, value in found.items()}
    if isinstance(about, dict) and isinstance(executed := about.get("executed"), dict):
        executed.setdefault("masked", 0)
    for op in ops if isinstance(ops, list) else ():
        if isinstance(op, dict) and isinstance(profile := op.get("profile"), dict):
            op["profile"] = _PROFILE_DEFAULTS | profile


def _check_texts(path: str | Path, about: Any, ops: Any, arrays: Any) -> None:
    _check_fields(path, "about", about, _ABOUT_FIELDS)
    if "executed" in about:
        _check_fields(path, "about.executed", about["executed"], _EXECUTED_FIELDS)
        _check_pipes(path, about["executed"].get("pipe_cycles", {}))
    if about.get("until") is not None:
        _check_fields(path, "about.until", about["until"], _UNTIL_FIELDS)
    if about.get("sample") is not None:
        _check_sample(path, about)
    gpu = about["gpu"]
    if not re.fullmatch(r"\d+\.\d|gfx[0-9a-f]{3,4}", gpu["compute_capability"]) or not 0 < gpu["sm"]["clock_mhz"] < inf:
        raise InputError(path, "about.gpu", "holds an impossible compute capability or clock; the file is damaged")
    trace = about["trace"]
    if "path" in trace:
        _check_fields(path, "about.trace", trace, {"path": str})
    sizes = [*trace["grid"], trace["blocks"], trace["wave_blocks"] + 1]
    if not all(isinstance(size, int) and size > 0 for size in sizes):
        raise InputError(path, "about.trace", "holds an impossible number of blocks; the file is damaged")
    for name, rows, fields in (("ops", ops, _OP_FIELDS), ("arrays", arrays, _ARRAY_FIELDS)):
        if not isinstance(rows, list):
            raise InputError(path, name, "is not a list; the file is damaged")
        for number, row in enumerate(rows):
            _check_fields(path, f"{name}[{number}]", row, fields)
    for number, op in enumerate(ops):
        if not -1 <= op["array"] < len(arrays):
            raise InputError(path, f"ops[{number}].array", f"is {op['array']}; there are {len(arrays)} arrays")
        if "profile" in op:
            _check_profile(path, f"ops[{number}].profile", op["profile"])


def _check_sample(path: str | Path, about: dict[str, Any]) -> None:
    """Groups of blocks follow each other, and are as many blocks as were replayed."""
    _check_fields(path, "about.sample", about["sample"], {"groups": list, "traced": int})
    groups = about["sample"]["groups"]
    fits = 1 < len(groups) <= GROUPS and all(isinstance(one, list) and len(one) == 3 for one in groups)
    bounds = [bound for one in groups for bound in one] if fits else []
    rises = all(isinstance(bound, int) for bound in bounds) and bounds == sorted(bounds)
    blocks = sum(end - first for first, _, end in groups) if fits and rises else 0
    if not blocks or bounds[0] < 0 or bounds[-1] > about["sample"]["traced"] or blocks != about["trace"]["blocks"]:
        raise InputError(path, "about.sample.groups", "are not groups of the launch's blocks; the file is damaged")


def _check_pipes(path: str | Path, cycles: Any) -> None:
    """By pipe, cycles."""
    where = "about.executed.pipe_cycles"
    _check_fields(path, where, cycles, {})
    for name, value in cycles.items():
        if name not in PIPES and name not in INSTRUCTION_CLASSES:  # results from before trace schema 1.12 have classes
            raise InputError(path, f"{where}.{name}", f"is not known; pipes are {', '.join(PIPES)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < inf:
            raise InputError(path, f"{where}.{name}", f"is {value!r:.60}; give cycles, a number of 0 or more")


def _check_profile(path: str | Path, where: str, profile: Any) -> None:
    _check_fields(path, where, profile, _PROFILE_FIELDS)
    if unknown := profile.keys() - _PROFILE_FIELDS.keys():
        raise InputError(path, f"{where}.{min(unknown)}", "is not known; the file is damaged")
    for name, kind in _PROFILE_FIELDS.items():
        counts = profile[name] if kind is list else [profile[name]]
        if not all(isinstance(one, int) and one >= 0 for one in counts) or (kind is list and len(counts) != OCTAVES):
            raise InputError(path, f"{where}.{name}", "holds impossible counts; the file is damaged")


def _check_fields(path: str | Path, where: str, row: Any, fields: _Fields) -> None:
    if not isinstance(row, dict):
        raise InputError(path, where, "is not a JSON object; the file is damaged")
    for name, kind in fields.items():
        value: Any = row
        for part in name.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if not isinstance(value, kind):
            expected = " or ".join(option.__name__ for option in (kind if isinstance(kind, tuple) else (kind,)))
            raise InputError(path, f"{where}.{name}", f"is {value!r:.60}; it must be of type {expected}")


def _check_values(path: str | Path, arrays: dict[str, np.ndarray]) -> None:
    if not len(arrays["trial"]):
        raise InputError(path, "trials/trial", "is empty; a result holds at least one finished trial")
    for name, values in arrays.items():
        if not (values >= 0).all():  # nan is not
            raise InputError(path, f"trials/{name}", "holds negative values; the file is damaged")
    if (np.diff(arrays["trial"]) <= 0).any():
        raise InputError(path, "trials/trial", "must increase; the file is damaged")
