"""One packed form of numbered arrays, for whatever keeps them: a numpy archive and its SHA-256."""

from __future__ import annotations

import io
from collections.abc import Mapping
from hashlib import sha256

import numpy as np


def packed(arrays: Mapping[str, np.ndarray]) -> tuple[bytes, bytes]:
    """The content of a row and its digest.

    >>> unpacked(*packed({"cycles": np.array([7])}))["cycles"].tolist()
    [7]
    """
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    content = buffer.getvalue()
    return content, sha256(content).digest()


def unpacked(content: object, digest: bytes) -> dict[str, np.ndarray] | None:
    """The arrays of a row; None of a damaged one."""
    if not isinstance(content, bytes) or sha256(content).digest() != digest:
        return None
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return dict(arrays)
