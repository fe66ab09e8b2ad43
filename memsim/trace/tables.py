"""Reads a trace file's attributes and its tables of ops and arrays; all of it untrusted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import h5py
import numpy as np

from memsim.support import hdf5
from memsim.support.deprecated import old_column
from memsim.support.errors import InputError
from memsim.support.text import all_printable
from memsim.trace.schema import (
    INSTRUCTION_CLASSES,
    INSTRUCTION_DEFAULTS,
    ISSUED,
    MIX,
    MIX_DEFAULTS,
    MOST_MIXES,
    MOST_STALL,
    WIDEST_WARP,
    Instructions,
    Issue,
    KnownWaits,
    LaunchShape,
    OpKind,
    Space,
    instruction_columns,
)


def check_lengths(path: Path, file: h5py.File, launch: LaunchShape, lengths: Mapping[str, int]) -> None:
    """The index tables fit each other and the launch, and the columns each other, as far as lengths show.

    Args:
        lengths: of the tables that find blocks, warps, instructions and addresses (INDEX_COLUMNS).
    """
    n_blocks = lengths["blocks/id"]
    n_warps = n_blocks * launch.warps_per_block
    expected = {"blocks/first_warp": n_blocks, "warps/first_instruction": n_warps, "warps/first_address": n_warps}
    for name, count in expected.items():
        if lengths[name] != count + 1:
            of_what = f"{n_blocks} blocks of {launch.warps_per_block} warps"
            raise InputError(path, name, f"has {lengths[name]} entries; {of_what} need {count + 1}")
    n_rows = None
    for name, dtype in instruction_columns(launch.warp_size).items():
        full = stored_name(file, f"instructions/{name}")
        if name not in INSTRUCTION_DEFAULTS or hdf5.find(file, full) is not None:
            n_rows = len(hdf5.dataset(path, file, full, dtype, (n_rows,)))


def stored_name(file: h5py.File, name: str) -> str:
    """The name of a dataset in this file: the present one, or the one that older files have."""
    old = old_column(name)
    return name if hdf5.find(file, old) is None else old


def _attribute(path: Path, file: h5py.File, name: str, kind: type) -> Any:
    value = file.attrs.get(name)
    if not isinstance(value, kind):
        raise InputError(path, name, "is missing or of another type; give a complete trace")
    return value


def read_text(path: Path, file: h5py.File, name: str, absent: str | None = None) -> str:
    """An attribute that is text; `absent`, if that is given, where an older file has none."""
    text = hdf5.as_text(file.attrs.get(name, absent))
    if text is None:
        raise InputError(path, name, "is missing or of another type; give a complete trace")
    return text


def read_parameters(path: Path, text: str) -> dict[str, Any]:
    """What the workload was built from, of its JSON text."""
    try:
        parameters = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(path, "parameters", f"is not JSON ({error})") from error
    if not isinstance(parameters, dict):
        raise InputError(path, "parameters", "is not a JSON object")
    found: dict[str, Any] = all_printable(parameters)
    return found


def read_launch(path: Path, file: h5py.File) -> LaunchShape:
    """How the kernel was launched."""
    warp_size = _count(path, file, "warp_size")
    if not 1 <= warp_size <= WIDEST_WARP:
        raise InputError(path, "warp_size", f"is {warp_size}; memsim traces have warps of 1 to {WIDEST_WARP} lanes")
    return LaunchShape(
        _extents(path, file, "grid"),
        _extents(path, file, "block"),
        warp_size,
        _count(path, file, "registers"),
        _count(path, file, "shared_bytes"),
    )


def _extents(path: Path, file: h5py.File, name: str) -> tuple[int, int, int]:
    value = _attribute(path, file, name, np.ndarray)
    if value.shape != (3,) or value.dtype.kind not in "iu" or not ((value >= 1) & (value < 2**31)).all():
        raise InputError(path, name, f"is {value.tolist()}; it must be three whole numbers from 1 to 2147483647")
    return int(value[0]), int(value[1]), int(value[2])


def _count(path: Path, file: h5py.File, name: str) -> int:
    number = int(_attribute(path, file, name, np.integer))
    if number < 0:
        raise InputError(path, name, f"is {number}; it cannot be negative")
    return number


def read_issue(path: Path, file: h5py.File) -> Issue:
    """What is known of waits and mixes; in a file from before 1.4, neither."""
    if "dependence" not in file.attrs:
        return Issue()
    dependence = _named(path, file, "dependence", KnownWaits)
    instructions = _named(path, file, "instructions", Instructions)
    stored = {name: stored_name(file, f"instruction_mixes/{name}") for name in MIX.names or ()}
    length = len(hdf5.dataset(path, file, stored["count_integer"], "<u4", (None,)))
    if not 1 <= length <= MOST_MIXES:
        raise InputError(path, "instruction_mixes", f"has {length} rows; a trace has 1 to {MOST_MIXES}")
    mixes = np.zeros(length, MIX)
    for name, full in stored.items():
        if name not in MIX_DEFAULTS or hdf5.find(file, full) is not None:
            mixes[name] = hdf5.dataset(path, file, full, "<u4", (length,))[:]
    if mixes[0] != np.zeros((), MIX):
        raise InputError(
            path, "instruction_mixes", "must begin with a row of zeros, which stands for what is not known"
        )
    for each in INSTRUCTION_CLASSES:
        if (mixes[f"critical_{each}"] > mixes[f"count_{each}"]).any():
            raise InputError(path, f"instruction_mixes/critical_{each}", "must not be more than its count")
    issued = np.sum([mixes[name] for name in ISSUED], axis=0)
    for name in MIX_DEFAULTS:
        if name != "stall_cycles" and "tensor" not in name and (mixes[name] > issued).any():
            raise InputError(path, f"instruction_mixes/{name}", "must not be more than the instructions of its row")
    if (mixes["stall_cycles"] > MOST_STALL * issued).any():
        raise InputError(
            path,
            "instruction_mixes/stall_cycles",
            f"must not be more than {MOST_STALL} for each instruction of its row",
        )
    return Issue(dependence, instructions, mixes)


_Named = TypeVar("_Named", KnownWaits, Instructions)


def _named(path: Path, file: h5py.File, name: str, enum: type[_Named]) -> _Named:
    text = read_text(path, file, name)
    if text not in enum.__members__:
        raise InputError(path, name, f"is {text!r:.60}; known are {', '.join(enum.__members__)}")
    return enum(text)


def read_table(
    path: Path,
    file: h5py.File,
    group: str,
    columns: dict[str, str],
    most_rows: int,
    defaults: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Rows of a table that is stored as one dataset a column; columns with a default may be missing."""
    values: dict[str, list[Any]] = {}
    n_rows = None
    for name, dtype in columns.items():
        full = f"{group}/{name}"
        if defaults and name in defaults and hdf5.find(file, full) is None:
            values[name] = [defaults[name]] * (n_rows or 0)
            continue
        dataset = hdf5.dataset(path, file, full, None if dtype == "str" else dtype, (n_rows,))
        n_rows = len(dataset)
        if n_rows > most_rows:
            raise InputError(path, group, f"has {n_rows} rows; a trace has at most {most_rows}")
        values[name] = [hdf5.as_text(text) for text in dataset[:]] if dtype == "str" else dataset[:].tolist()
    for name in ("bypass_l1", "async_copy", "by_data"):
        if name in values:
            values[name] = [bool(value) for value in values[name]]
    for name, enum in (("kind", OpKind), ("space", Space)):
        if name in values:
            values[name] = [_member(path, f"{group}/{name}", enum, value) for value in values[name]]
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def _member(path: Path, field: str, enum: type[OpKind] | type[Space], value: int) -> OpKind | Space:
    if value not in enum.__members__.values():
        raise InputError(path, field, f"holds {value}; known are 0 to {len(enum) - 1}")
    return enum(value)
