"""The results of all trials and their file: HDF5, schema ``memsim-result``.

::

    /            attributes: schema, version
    /about       JSON text, Trials.about
    /ops         JSON text, Trials.ops
    /arrays      JSON text, Trials.arrays
    /trials/*    one dataset an array of Trials, by its name; first axis: finished trials
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from memsim.hierarchy.counters import LATENCY_BINS, Event, Level, Unit
from memsim.profile.ops import OpProfile
from memsim.profile.reuse import OCTAVES
from memsim.support import hdf5
from memsim.support.errors import InputError
from memsim.support.files import replacing, writing

SCHEMA = "memsim-result"
VERSION = (1, 2)  # 1.1: about.trace.wave_blocks; 1.2: about.executed, ops[].profile (that of 1.1 is left aside)

_LIMIT_BYTES = 1 << 32  # of one dataset: 100,000 trials of a kernel with 20 loads; more is a damaged or hostile file
_TEXTS = ("about", "ops", "arrays")
_OPS = -1  # in a shape below: static ops; _ROWS is one more, for what no static op caused
_ROWS = -2

# Array of Trials -> dtype and shape after the axis of trials.
_ARRAYS: dict[str, tuple[str, tuple[int, ...]]] = {
    "trial": ("<i8", ()),
    "counters": ("<i8", (_ROWS, len(Level), len(Event), len(Unit))),
    "cycles": ("<i8", ()),
    "latency_histogram": ("<i8", (_OPS, LATENCY_BINS)),
    "latency_sum": ("<i8", (_OPS,)),
    "latency_count": ("<i8", (_OPS,)),
    "instruction_latency_sum": ("<i8", (_OPS,)),
    "instruction_latency_count": ("<i8", (_OPS,)),
    "memory_histogram": ("<i8", (LATENCY_BINS,)),
    "memory_sum": ("<i8", ()),
    "memory_count": ("<i8", ()),
    "transactions": ("<i8", ()),
    "wall_seconds": ("<f8", ()),
    "compiled_seconds": ("<f8", ()),
}
# Field of a JSON text -> its type; what analysis and report read without asking.
_Fields = dict[str, type | tuple[type, ...]]
_OP_FIELDS: _Fields = {
    "kind": str, "space": str, "width": int, "array": int, "line": int, "column": int, "file": str, "text": str,
}  # fmt: skip
_ARRAY_FIELDS: _Fields = {"name": str, "base": int, "bytes": int, "element_bytes": int}
_PROFILE_FIELDS: _Fields = {
    name: list if name.endswith("_distances") else int for name in OpProfile.__dataclass_fields__
}
_EXECUTED_FIELDS: _Fields = dict.fromkeys(("registers", "shared_bytes", "warps", "gap_instructions", "barriers"), int)
_ABOUT_FIELDS: _Fields = {
    "gpu_provenance": dict, "seed": int, "versions": dict, "created": str,
    "gpu.name": str, "gpu.compute_capability": str, "gpu.sm.clock_mhz": (int, float),
    "gpu.l1.hit_latency_cycles": int, "gpu.l2.hit_latency_cycles": int,
    "trace.digest": str, "trace.kernel": str, "trace.source": str, "trace.parameters": dict,
    "trace.grid": list, "trace.block": list, "trace.blocks": int, "trace.wave_blocks": int,
}  # fmt: skip


@dataclass
class Trials:
    """Raw results, trial by trial. First axis: finished trials, in order of `trial`.

    Attributes:
        trial: i8 [t], number of the trial (its random draws depend on the seed and this alone).
        counters: i8 [t, n_ops + 1, levels, events, units], see hierarchy.counters.
        cycles: i8 [t], SM cycles from the first block's start to the last warp's end.
        latency_histogram: i8 [t, n_ops, LATENCY_BINS], observed latency of load (and atomic) transactions, cycles.
        latency_sum, latency_count: i8 [t, n_ops], of the same.
        instruction_latency_sum, instruction_latency_count: i8 [t, n_ops], of whole warp instructions (first
            transaction's lookup to last transaction's data).
        memory_histogram: i8 [t, LATENCY_BINS], the main-memory step's latencies (Baghsorkhi 2012, 3.2.3), load to use.
        memory_sum, memory_count: i8 [t].
        transactions: i8 [t], transactions replayed.
        wall_seconds, compiled_seconds: f8 [t], of the replay; compiled is the part inside compiled loops.
        about: gpu (dict, whole configuration), gpu_provenance (dict), seed, versions (dict), trace (dict: digest,
            kernel, source, parameters, grid, block, blocks: how many were traced, wave_blocks: how many the GPU holds
            at once, 0 if not known), executed (dict: registers, shared_bytes; of the traced warps, warps,
            gap_instructions, barriers, one a warp; missing in files before 1.2), created (ISO time).
        ops: list of dicts kind, space (names), width, array (index into arrays, or -1), line, column, file, text,
            profile (dict, see profile.ops.OpProfile; missing in files before 1.2).
        arrays: list of dicts name, base, bytes, element_bytes.
    """

    trial: np.ndarray
    counters: np.ndarray
    cycles: np.ndarray
    latency_histogram: np.ndarray
    latency_sum: np.ndarray
    latency_count: np.ndarray
    instruction_latency_sum: np.ndarray
    instruction_latency_count: np.ndarray
    memory_histogram: np.ndarray
    memory_sum: np.ndarray
    memory_count: np.ndarray
    transactions: np.ndarray
    wall_seconds: np.ndarray
    compiled_seconds: np.ndarray
    about: dict[str, Any] = field(default_factory=dict)
    ops: list[dict[str, Any]] = field(default_factory=list)
    arrays: list[dict[str, Any]] = field(default_factory=list)


def save(path: str | Path, trials: Trials) -> None:
    """Write all of `trials` to `path`, whole or not at all.

    Raises:
        InputError: it cannot be written (no such folder, no permission, disk full).
    """
    with writing(path), replacing(path) as temporary, hdf5.Sink(temporary) as sink:
        with h5py.File(sink, "w") as file:
            hdf5.stamp(file, SCHEMA, VERSION)
            for name in _TEXTS:
                file[name] = json.dumps(getattr(trials, name))
            for name, (dtype, shape) in _ARRAYS.items():
                values = np.asarray(getattr(trials, name), dtype)
                assert values.shape == (len(trials.trial), *_resolved(shape, len(trials.ops))), name
                file.create_dataset(f"trials/{name}", data=values, **hdf5.COMPRESSED)
        sink.check()


def load(path: str | Path) -> Trials:
    """Read a file of `save`.

    Raises:
        InputError: the file is damaged, of another schema or newer version, or holds impossible values.
    """
    with hdf5.opened(path, SCHEMA, VERSION) as file:
        texts: dict[str, Any] = {name: _text(path, file, name) for name in _TEXTS}
        _complete(texts["about"], texts["ops"])
        _check_texts(path, **texts)
        arrays: dict[str, Any] = {}
        for name, (dtype, tail) in _ARRAYS.items():
            shape = (len(arrays["trial"]) if arrays else None, *_resolved(tail, len(texts["ops"])))
            arrays[name] = hdf5.array(path, file, f"trials/{name}", dtype, shape, _LIMIT_BYTES)
    _check_values(path, arrays)
    return Trials(**arrays, **texts)


def _resolved(shape: tuple[int, ...], n_ops: int) -> tuple[int, ...]:
    return tuple({_OPS: n_ops, _ROWS: n_ops + 1}.get(length, length) for length in shape)


def _text(path: str | Path, file: h5py.File, name: str) -> Any:
    stored = hdf5.dataset(path, file, name, h5py.string_dtype(), ())
    try:
        return json.loads(stored.asstr()[()], parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise InputError(path, name, "is not JSON text; the file is damaged") from None


def _complete(about: Any, ops: Any) -> None:
    """What files of version 1.0 lack; the profiles of 1.1 tell too little."""
    if isinstance(about, dict) and isinstance(trace := about.get("trace"), dict):
        trace.setdefault("wave_blocks", 0)
    if isinstance(about, dict) and "executed" not in about and isinstance(ops, list):
        for op in ops:
            if isinstance(op, dict):
                op.pop("profile", None)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")  # Python's reader takes NaN and Infinity


def _check_texts(path: str | Path, about: Any, ops: Any, arrays: Any) -> None:
    _check_fields(path, "about", about, _ABOUT_FIELDS)
    if "executed" in about:
        _check_fields(path, "about.executed", about["executed"], _EXECUTED_FIELDS)
    gpu = about["gpu"]
    if not re.fullmatch(r"\d+\.\d", gpu["compute_capability"]) or gpu["sm"]["clock_mhz"] <= 0:
        raise InputError(path, "about.gpu", "holds an impossible compute capability or clock; the file is damaged")
    trace = about["trace"]
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
            wanted = " or ".join(option.__name__ for option in (kind if isinstance(kind, tuple) else (kind,)))
            raise InputError(path, f"{where}.{name}", f"is {value!r:.60}; it must be of type {wanted}")


def _check_values(path: str | Path, arrays: dict[str, np.ndarray]) -> None:
    if not len(arrays["trial"]):
        raise InputError(path, "trials/trial", "is empty; a result holds at least one finished trial")
    for name, values in arrays.items():
        if not (values >= 0).all():  # nan is not
            raise InputError(path, f"trials/{name}", "holds negative values; the file is damaged")
