"""Settings of packages that are made when they are imported, where no environment variable can make them."""

import copy
import ctypes
import functools
import glob
import mmap
import os
import re
import sys
import warnings

OLDEST_TRITON, NEWEST_TRITON = (3, 4), (3, 9)
OLDEST_TORCH, NEWEST_TORCH = (2, 6), (2, 13)
_VERSION = re.compile(r"^__version__\b[^=\n]*=\s*['\"](\d+)\.(\d+)([^'\"]*)['\"]", re.MULTILINE)


def refuse(package, path, oldest, newest):
    """End the program with one line where a package's release is not one that memsim supports.

    Args:
        path: of the file that sets the package's ``__version__``.
        oldest, newest: supported releases, as (major, minor).
    """
    try:
        with open(path) as file:
            found = _VERSION.search(file.read())
    except OSError:
        return
    if found and not oldest <= (int(found[1]), int(found[2])) <= newest:
        range_ = "%d.%d to %d.%d" % (*oldest, *newest)
        sys.exit("memsim: %s %s.%s%s is not supported; install %s %s" % (package, *found.groups(), package, range_))


def prepare_triton(spec):
    """Name Triton's own ``ptxas`` to memsim's wrapper, which runs it and adds the PTX to its output."""
    refuse("Triton", spec.origin or "", OLDEST_TRITON, NEWEST_TRITON)
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


def set_numba(module):
    """Numba's kernels keep line numbers, as with ``lineinfo=True``, which leaves their code as it is."""
    jit = module.jit

    @functools.wraps(jit)
    def with_lines(*arguments, **named):
        debug = named.get("debug")
        if not (module.config.CUDA_DEBUGINFO_DEFAULT if debug is None else debug):  # else it has lines already
            named.setdefault("lineinfo", True)
        return jit(*arguments, **named)

    module.jit = with_lines
    # The empty libnvJitLink makes Numba link with the driver, as it should; Numba would warn of it in each program.
    warnings.filterwarnings("ignore", "libnvJitLink", RuntimeWarning)
    # It generates the kernels of vectorized functions, so they have no file.
    warnings.filterwarnings("ignore", "Could not find source for function: <function __")


def set_cupy(module):
    """Raw kernels of CuPy keep line numbers, those of the Python file in which their source stands."""
    program = getattr(module, "_NVRTCProgram", None)
    if program is None:
        return
    begin, compile_ = program.__init__, program.compile

    def init(self, src, *arguments, **named):
        place = _place_of(src if isinstance(src, str) else src.decode())
        self.has_lines = place is not None
        begin(self, '#line %d "%s"\n%s' % (*place, src) if self.has_lines else src, *arguments, **named)

    def compile(self, options=(), *arguments, **named):
        known = not {"-lineinfo", "--generate-line-info"}.isdisjoint(options)
        more = ("-lineinfo",) if self.has_lines and not known else ()
        return compile_(self, (*options, *more), *arguments, **named)

    program.__init__, program.compile = init, compile


def set_core(module):
    """Programs of cuda.core keep line numbers, those of the Python file in which their source stands."""
    # A newer NVRTC is no problem: memsim reads its PTX.
    warnings.filterwarnings("ignore", "The CUDA driver version is older than the backend version", RuntimeWarning)

    class Program(module.Program):
        __doc__ = module.Program.__doc__

        def __init__(self, code, code_type, options=None):
            place = _place_of(code) if isinstance(code, str) and code_type.lower() == "c++" else None
            if place is not None:
                code = '#line %d "%s"\n%s' % (*place, code)
                options = module.ProgramOptions() if options is None else copy.copy(options)
                if getattr(options, "lineinfo", True) is None:
                    options.lineinfo = True
            super().__init__(code, code_type, options)

    module.Program = Program


def _place_of(source):
    """Line and path of a text in one of the program's own modules; None: it stands in none of them."""
    installed = tuple(os.path.realpath(one) + os.sep for one in {sys.prefix, sys.base_prefix})
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if not isinstance(path, str) or not path.endswith(".py") or os.path.realpath(path).startswith(installed):
            continue
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError):
            continue
        at = text.find(source)
        if at >= 0 and source.strip():
            return text.count("\n", 0, at) + 1, os.path.abspath(path)
    return None


def prepare_warp(spec):
    """End the program where Warp's library has NVIDIA's static runtime inside, as that of the wheel has."""
    library = os.path.join(os.path.dirname(spec.origin or ""), "bin", "warp.so")
    if not os.path.exists(library):
        return
    with open(library, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data.find(b"\0libcudart.so.") < 0:
            sys.exit(
                "memsim: this Warp has NVIDIA's CUDA runtime inside, which needs NVIDIA's driver; "
                "build Warp from source with build_lib.py --use-dynamic-cuda"
            )


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
