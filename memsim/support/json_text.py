"""JSON texts in HDF5 files, written with fixed length and read with nobody vouching for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py

from memsim.support import hdf5
from memsim.support.errors import InputError
from memsim.support.text import all_printable


def write_text(group: h5py.Group, name: str, value: Any) -> None:
    """Write a value as JSON text."""
    (text,) = texts = hdf5.fixed_texts([json.dumps(value)])
    group.create_dataset(name, data=text, dtype=texts.dtype)


def read_text(path: str | Path, file: h5py.File, name: str) -> Any:
    """The value of a JSON text, with every text in it printable.

    Raises:
        InputError: it is missing, or is none.
    """
    text = hdf5.as_text(hdf5.dataset(path, file, name, None, ())[()])
    try:
        return all_printable(json.loads(text or "", parse_constant=_refuse_constant))
    except (ValueError, RecursionError):
        raise InputError(path, name, "is not JSON text; the file is damaged") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")  # Python's reader takes NaN and Infinity
