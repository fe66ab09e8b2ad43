"""Modules of PTX, their kernels, launches and graphs of launches, as Warp asks its library for them."""

from __future__ import annotations

import ctypes
import itertools
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memsim.sources.ptx.launchers.capturing import Capturing
from memsim.sources.ptx.launchers.caught import Code, Extents, entries
from memsim.sources.ptx.launchers.host_memory import name_arrays, parameters_at
from memsim.sources.ptx.launchers.strings import parameter_names
from memsim.sources.ptx.launchers.warp.lines import authors_lines, files
from memsim.sources.ptx.launchers.warp.memory import DeviceMemory
from memsim.sources.ptx.origin import beside
from memsim.support.errors import InputError

_NAME = re.compile(r"(.+)_[0-9a-f]{8}_cuda_kernel_(forward|backward)")
_MOST_BLOCKS = (1 << 31) - 1
_MOST_THREADS = 1 << 24  # of a row of blocks of kernels without a loop over them; further blocks are other rows
_MOST_ROWS = 65535


class Launching:
    """Handles of modules, kernels and graphs are numbers.

    Args:
        capturing: what launches are handed to.
        memory: that kernels' arguments point into.
    """

    def __init__(self, capturing: Capturing, memory: DeviceMemory) -> None:
        self._capturing, self._memory = capturing, memory
        self._known: dict[int, Any] = {}
        self._numbers = itertools.count(1)

    def functions(self) -> dict[str, Callable[..., Any]]:
        """By their names in the library, without its prefix."""
        return {
            "cuda_load_module": lambda context, path: self._keep(_module(Path(path.decode()))),
            "cuda_get_kernel": lambda context, module, name: self._kernel(self._known[module], name.decode()),
            "cuda_launch_kernel": self._launch,
            "cuda_stream_is_capturing": lambda stream: int(self._memory.recorded is not None),
            "cuda_stream_get_capture_id": lambda stream: 1,
            "cuda_graph_begin_capture": self._begin,
            "cuda_graph_end_capture": self._end,
            "cuda_graph_create_exec": lambda context, stream, graph, made: _hand_out(made, graph.value),
            "cuda_graph_launch": lambda graph, stream: self._replay(graph.value),
        }

    def _keep(self, value: Any) -> int:
        number = next(self._numbers)
        self._known[number] = value
        return number

    def _kernel(self, module: tuple[str, str], entry: str) -> int | None:
        ptx, code = module
        if entry not in entries(ptx):
            return None
        found = _NAME.fullmatch(entry)
        name = entry if found is None else found[1] + ("_backward" if found[2] == "backward" else "")
        source = next((file for file in files(ptx).values() if file.endswith(".py")), f"{name}.cu")
        names = tuple(one.removeprefix("var_") for one in parameter_names(code, entry))
        return self._keep(Code(ptx, entry, name, os.path.relpath(source), names, beside(source)))

    def _launch(
        self, context: int, kernel: int, threads: int, most: int, block: int, loops: int, cluster: int, shared: int,
        parameters: Any, stream: Any, recording: Any,
    ) -> int:  # fmt: skip
        code: Code = self._known[kernel]
        values = parameters_at(code, ctypes.addressof(parameters))
        extents = _grid(-(-threads // block), block, most, bool(loops), cluster)

        def launch() -> None:
            name_arrays(self._capturing.memory, code, values)
            self._capturing.launch(code, values, extents, block, cluster=cluster, shared_bytes=shared)

        self._memory.do(launch)
        return 0

    def _begin(self, *_: Any) -> int:
        self._memory.recorded = []
        return 1

    def _end(self, context: int, stream: Any, made: Any) -> int:
        steps, self._memory.recorded = self._memory.recorded, None
        return _hand_out(made, self._keep(steps))

    def _replay(self, graph: int) -> int:
        for step in self._known[graph]:
            step()
        return 1


def _module(path: Path) -> tuple[str, str]:
    """A compiled module's PTX, with the lines of its authors, and the CUDA C++ that Warp wrote for it."""
    if path.suffix != ".ptx":
        raise InputError(path, "module", "is machine code; leave cuda_output to memsim")
    (code,) = (one.read_text() for one in path.parent.glob("*.cu"))
    return authors_lines(path.read_text()), code


def _grid(blocks: int, block: int, most: int, loops: bool, cluster: int) -> Extents:
    """Blocks of a launch, as Warp spreads them (1.19, ``wp_cuda_launch_kernel``): kernels that loop take one row.

    >>> _grid(5000, 256, 0, True, 1), _grid(5000, 256, 640, True, 1), _grid(70000, 256, 0, False, 1)
    ((5000, 1, 1), (640, 1, 1), (65536, 2, 1))
    """
    if loops:
        row = min(blocks, most or _MOST_BLOCKS)
        return max(row - row % cluster, 1), 1, 1
    row = min(blocks, max(_MOST_THREADS // block // cluster * cluster, cluster))
    rows = -(-blocks // row)
    return row, min(rows, _MOST_ROWS), -(-rows // _MOST_ROWS)


def _hand_out(made: Any, number: int) -> int:
    """Fill in a handle that the caller gave a place for."""
    ctypes.cast(made, ctypes.POINTER(ctypes.c_void_p))[0] = number
    return 1
