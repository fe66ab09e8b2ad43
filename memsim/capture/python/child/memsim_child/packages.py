"""What packages are told when they are imported, where an environment variable cannot say it before."""

import contextlib
import ctypes
import glob
import os


def prepare_triton(spec):
    """Name Triton's own ``ptxas`` to memsim's wrapper, which runs it and adds the PTX to its output."""
    folder = os.path.join(os.path.dirname(spec.origin or ""), "backends", "nvidia", "bin")
    for tool in glob.glob(os.path.join(folder, "ptxas*")):
        name = os.path.basename(tool).upper().replace("-", "_")
        os.environ.setdefault("MEMSIM_" + name, tool)


def set_warp(config):
    """Warp hands PTX to the driver, compiled for the captured GPU, with line numbers."""
    from memsim_child import driver

    config.cuda_output = "ptx"
    config.ptx_target_arch = driver.attribute(75) * 10 + driver.attribute(76)
    config.lineinfo = True


def prepare_cute(spec):
    """CuTe DSL's runtime library, which its environment variable CUTE_DSL_LIBS names, has NVIDIA's runtime inside."""
    from memsim_child import static_runtime

    folders = [os.path.dirname(os.path.dirname(os.path.dirname(spec.origin or "")))]
    for path in glob.glob(os.path.join(folders[0], "*", "lib", "libcute_dsl_runtime.so")):
        if "/cu13/" in path:
            static_runtime.SHIMS_RUNTIME = 13
        static_runtime.redirect_shims(path)


def set_bindings(module):
    """The runtime of cuda.bindings is NVIDIA's static one; its functions become those of memsim's libcudart."""
    import importlib.metadata

    from memsim_child import static_runtime

    major = importlib.metadata.version("cuda-bindings").split(".")[0]
    static_runtime.replace_functions(module, ctypes.CDLL("libcudart.so.%s" % major))


def prepare_linking():
    """Let cuda.core and Numba-CUDA link with the driver, which keeps PTX.

    They take a libnvJitLink that is loaded already, and memsim's has no functions.
    """
    for name in ("libnvJitLink.so.13", "libnvJitLink.so.12"):
        with contextlib.suppress(OSError):
            ctypes.CDLL(name)
