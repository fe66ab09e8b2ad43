"""Calls a function when a module is imported, before or after its code runs."""

import importlib.machinery
import sys


def _torch_c(module):
    from memsim_child import torch_c

    torch_c.complete(module)


def _torch_device(spec):
    from memsim_child import torch_c

    torch_c.load(spec)


def _torch_version(module):
    from memsim_child import torch_c

    torch_c.set_version(module)


def _torch_extensions(module):
    from memsim_child import torch_c

    torch_c.load_for_extensions(module)


def _triton_testing(module):
    from memsim_child import timing

    timing.take_triton(module)


def _triton_knobs(module):
    from memsim_child import tuning

    tuning.listen(module)


def _inductor_benchmarking(module):
    from memsim_child import timing

    timing.take_inductor(module)


def _inductor_tuner(module):
    from memsim_child import tuning

    tuning.take_inductor(module)


def _triton(spec):
    from memsim_child import packages

    packages.prepare_triton(spec)


def _cute(spec):
    from memsim_child import packages

    packages.prepare_cute(spec)


def _cupy_runtime(module):
    from memsim_child import static_runtime

    static_runtime.redirect(module.__file__)


def _bindings_runtime(module):
    from memsim_child import packages

    packages.set_bindings(module)


def _warp(spec):
    from memsim_child import packages

    packages.prepare_warp(spec)


def _cupy_compiler(module):
    from memsim_child import packages

    packages.set_cupy(module)


def _cuda_core(module):
    from memsim_child import packages

    packages.set_core(module)


def _numba_decorators(module):
    from memsim_child import packages

    packages.set_numba(module)


def _warp_build(module):
    from memsim_child import packages

    packages.set_warp(module)


BEFORE = {"triton": _triton, "torch._C": _torch_device, "cutlass": _cute, "warp": _warp}
AFTER = {
    "torch._C": _torch_c,
    "torch.version": _torch_version,
    "torch.utils.cpp_extension": _torch_extensions,
    "triton.testing": _triton_testing,
    "triton.knobs": _triton_knobs,
    "torch._inductor.runtime.benchmarking": _inductor_benchmarking,
    "torch._inductor.runtime.triton_heuristics": _inductor_tuner,
    "cuda.bindings.cyruntime": _bindings_runtime,
    "cuda.core": _cuda_core,
    "warp.config": _warp_build,
    "numba.cuda.decorators": _numba_decorators,
    "cupy.cuda.compiler": _cupy_compiler,
    "cupy_backends.cuda.api.runtime": _cupy_runtime,
    "cupy.cuda.cub": _cupy_runtime,
    "cupy.cuda.thrust": _cupy_runtime,
    "cupy.random._generator_api": _cupy_runtime,
    "cupy.cuda.jitify": _cupy_runtime,
}


class _Watcher:
    """A finder in front of the others that adds a call to the loaders of watched modules."""

    def __init__(self):
        self._requested = set()

    def find_spec(self, name, path=None, target=None):
        if (name not in AFTER and name not in BEFORE) or name in self._requested:
            return None
        self._requested.add(name)
        try:
            spec = self._other(name, path, target)
        finally:
            self._requested.discard(name)
        if spec is None or spec.loader is None:
            return spec
        if name in BEFORE:
            BEFORE[name](spec)
        if name in AFTER:
            _call_after(spec.loader, AFTER[name])
        return spec

    @staticmethod
    def _other(name, path, target):
        for finder in sys.meta_path:
            if not isinstance(finder, _Watcher) and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    return spec
        return None


def _call_after(loader, function):
    """Let a loader call ``function(module)`` once the module has run."""
    run = loader.exec_module

    def exec_module(module):
        run(module)
        function(module)

    loader.exec_module = exec_module


def start():
    """Begin to watch."""
    assert importlib.machinery  # kept imported: loaders need it at exit
    sys.meta_path.insert(0, _Watcher())
