"""Functions within loops, compiled as parts of the loop that is called, and not for themselves.

Numba makes of every function that compiled code calls a program of its own: two wrappers by which Python and C might
call it, optimized and translated to machine code with all that it calls, at every level anew. A loop of two hundred
functions, of which Python calls one, needs none of that: here a part is typed and lowered to LLVM's language only, and
the loop's own library takes in all parts, each once, and is optimized and translated as one.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.core.typed_passes import InlineOverloads, NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes

from memsim.jit.remembered_calls import remembered_calls


class _Library(JITCodeLibrary):
    """A loop's code, which takes in that of parts, and of their parts."""

    def add_linking_library(self, library: Any) -> None:
        units = library.units if isinstance(library, _Unit) else (library,)
        self._linking_libraries += [is_unit for is_unit in units if is_unit not in self._linking_libraries]

    def finalize(self) -> None:
        """Take in the parts and translate; callers first, for LLVM's linker leaves out what nobody has called yet."""
        self._linking_libraries.sort(key=lambda library: getattr(library, "number", 0), reverse=True)
        super().finalize()

    def _optimize_functions(self, module: Any) -> None:
        """Leave a function as it is: all are optimized together, once, and not for themselves at every level before."""
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Optimize in one pass. Numba's cheaper pass before it collects counts of references, which loops have none of:
        a quarter of the time that the loops of a capture take to compile (measured: 12.3 s, 9.1 s)."""
        codegen = self._codegen
        if hasattr(codegen, "_mpm_full"):  # before Numba 0.62
            codegen._mpm_full.run(self._final_module)
        else:
            passes, builder = codegen._module_pass_manager()
            passes.run(self._final_module, builder)


class _Unit(_Library):
    """A part's code, which waits for the loop that it is part of."""

    _numbers = count(1)

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.number = 0  # what a part calls has a lower one

    def finalize(self) -> None:
        """Nothing more is added to it."""
        self._raise_if_finalized()
        self._finalized = True

    @property
    def units(self) -> list[Any]:
        """Itself and all that it calls."""
        return [self, *self._linking_libraries]


class _Compiler(Compiler):
    """Numba's compiler of a loop; while it compiles one, of what that calls, parts."""

    depth = 0
    # What functions within functions, overloads that are inlined and expressions of whole arrays need; loops have none.
    _without = (InlineClosureLikes, InlineOverloads, NopythonRewrites)

    def define_pipelines(self) -> Any:
        """Numba's passes, but for those that look for what no loop has: a twelfth of the time."""
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes[:] = [one for one in pipeline.passes if one[0] not in self._without]
        return pipelines

    def compile_extra(self, function: Any) -> Any:
        """Compile; a part's result can be called by loops only."""
        state, is_unit = self.state, _Compiler.depth > 0
        state.library = (_Unit if is_unit else _Library)(state.targetctx.codegen(), function.__qualname__)
        if is_unit:
            state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = state.flags.no_compile = True
        else:
            state.library.enable_object_caching()
        with self._deeper():
            result = super().compile_extra(function)
        if is_unit:
            state.library.number = next(_Unit._numbers)
            result = result._replace(entry_point=object())  # what Numba knows it by
            state.targetctx.insert_user_function(result.entry_point, result.fndesc, [result.library])
        return result

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        """While a loop is compiled, without the collector of garbage: it finds none in a sixth of the time."""
        collects = gc.isenabled()
        gc.disable()
        _Compiler.depth += 1
        try:
            with remembered_calls():
                yield
        finally:
            _Compiler.depth -= 1
            if collects:
                gc.enable()


def being_compiled() -> bool:
    """Whether what is compiled now is part of a loop."""
    return _Compiler.depth > 0


class Loop(CPUDispatcher):
    """A function that Python calls, then a loop compiled whole, or that loops call, then parts of them."""

    def __init__(self, function: Any, options: dict[str, Any], loop_cache: Any) -> None:
        super().__init__(function, targetoptions={"nopython": True, **options}, pipeline_class=_Compiler)
        self._cache = loop_cache

    def add_overload(self, result: Any) -> None:
        """Keep what was compiled; Python can call it if it is not a part."""
        if isinstance(result.library, _Unit):
            self.overloads[tuple(result.signature.args)] = result
        else:
            super().add_overload(result)

    def compile(self, signature: Any) -> Any:
        """Compile for arguments of these types, once as a part, and once for Python."""
        arguments = tuple(normalize_signature(signature)[0])
        known = self.overloads.get(arguments)
        if isinstance(getattr(known, "library", None), _Unit) and not being_compiled():
            del self.overloads[arguments]
        with self._cache.compiling():
            return super().compile(signature)
