"""Runs a Triton kernel by Triton's interpreter and tells what it accesses: pickles on standard input and output.

Asked is (file, kernel, grid, arguments, constants); answered a list of (block, line, whether it stores, array, numbers
of the tile's elements, mask). TRITON_INTERPRET=1 must be set.
"""

from __future__ import annotations

import importlib.util
import pickle
import sys

import numpy as np
from triton.runtime import interpreter


class HostArray:
    """An array as the interpreter takes it."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.dtype = array, str(array.dtype)

    def data_ptr(self) -> int:
        return self.array.ctypes.data


class Executor(interpreter.GridExecutor):
    """Takes arguments as they are: they lie on the host, and are no tensors of torch."""

    def _init_args_hst(self, args_dev, kwargs):
        return list(args_dev), dict(kwargs)

    def _restore_args_dev(self, *_):
        pass


class Notes:
    """Accesses as the interpreter makes them."""

    def __init__(self, file: str, grid, arrays: dict[str, np.ndarray]) -> None:
        self._file, self._grid, self._arrays = file, grid, arrays
        self.made: list[tuple] = []

    def noting(self, access, stores: bool):
        """An access of the interpreter's builder, noted and then made."""

        def note(pointers, *rest):
            self._note(stores, pointers.data, rest[1 if stores else 0].data)
            return access(pointers, *rest)

        return note

    def _note(self, stores: bool, pointers: np.ndarray, mask: np.ndarray) -> None:
        x, y, z = interpreter.interpreter_builder.grid_idx
        block = x + self._grid[0] * (y + self._grid[1] * z)
        for name, array in self._arrays.items():
            numbers = (pointers.astype(np.int64) - array.ctypes.data) // array.itemsize
            if mask.any() and numbers[mask].min() >= 0 and numbers[mask].max() < array.size:
                self.made.append((block, self._line(), stores, name, numbers, mask.copy()))
                return

    def _line(self) -> int:
        frame = sys._getframe()
        while frame.f_code.co_filename != self._file:
            frame = frame.f_back
        return frame.f_lineno


def main() -> None:
    file, name, grid, arguments, constants = pickle.load(sys.stdin.buffer)
    spec = importlib.util.spec_from_file_location("kernels", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel, builder = getattr(module, name), interpreter.interpreter_builder
    named = dict(zip(kernel.arg_names, arguments, strict=False))
    notes = Notes(file, grid, {key: value for key, value in named.items() if isinstance(value, np.ndarray)})
    builder.create_masked_load = notes.noting(builder.create_masked_load, False)
    builder.create_masked_store = notes.noting(builder.create_masked_store, True)
    hosted = [HostArray(value) if isinstance(value, np.ndarray) else value for value in arguments]
    Executor(kernel.rewrite(), kernel.arg_names, grid)(*hosted, **constants)
    sys.stdout.buffer.write(pickle.dumps(notes.made))


if __name__ == "__main__":
    main()
