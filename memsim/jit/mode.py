"""How loops are compiled: with memsim's extensions of Numba, with Numba as it comes, or not at all.

The extensions use internals of Numba, which a new release can change. Under ``MEMSIM_PLAIN_NUMBA=1`` loops use its
public interface alone: they take longer to compile, are slower, and are not kept on disk. Results are the same.
"""

from __future__ import annotations

import os

from numba import config

PLAIN_PYTHON = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]  # NUMBA_DISABLE_JIT=1
PLAIN_NUMBA = not PLAIN_PYTHON and os.environ.get("MEMSIM_PLAIN_NUMBA", "0") not in ("", "0")
EXTENDED = not PLAIN_PYTHON and not PLAIN_NUMBA
