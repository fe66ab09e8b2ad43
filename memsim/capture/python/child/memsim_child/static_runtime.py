"""Leads calls of a statically linked CUDA runtime to memsim's libcudart.

Some extension modules (CuPy's) have NVIDIA's runtime inside, which asks the driver for undocumented functions. They
keep the names of its functions in their symbol tables. Each such function gets a jump to the function of the same name
in libcudart.so. Then the module registers its kernels once more, as it did with NVIDIA's runtime when it was loaded.
"""

import ctypes
import mmap
import os
import struct

_JUMP = b"\xff\x25\x00\x00\x00\x00"  # jmp [rip + 0], the address follows
_FUNCTION = 2  # STT_FUNC
_SYMBOLS = (2, 11)  # sh_type: all symbols, those for other libraries
_REGISTER = "__sti____cudaRegisterAll"  # nvcc's function that registers the kernels of one source file
_OTHER_NAMES = {"_cudaLaunchKernelEx": "_cudaLaunchKernelExC"}  # the first is a template of a header
SHIMS_RUNTIME = 12  # CuTe DSL's
_libc = ctypes.CDLL(None, use_errno=True)


def redirect(path):
    """Lead the runtime of a loaded library to memsim's; a library without one stays as it is."""
    with open(path, "rb") as file:
        elf = file.read()
    functions = _functions(elf)
    version = next((offset for name, offset, _ in functions if name == "cudaRuntimeGetVersion"), None)
    if version is None:
        return
    first = _load_address(path)
    runtime = ctypes.CDLL("libcudart.so.%d" % _major(first + version))
    for name, offset, size in functions:
        target = getattr(runtime, name, None) if _is_runtime(name) else None
        if target is not None:
            _jump(first + offset, size, target)
    for offset in sorted({offset for name, offset, _ in functions if _REGISTER in name}):
        ctypes.CFUNCTYPE(None)(first + offset)()


def redirect_shims(path):
    """Lead functions ``_cudaX`` and ``_cuX`` of a library, which call CUDA's of the same name, to memsim's."""
    library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    with open(path, "rb") as file:
        functions = _functions(file.read())
    first = _load_address(library._name)
    runtime, driver = ctypes.CDLL("libcudart.so.%d" % SHIMS_RUNTIME), ctypes.CDLL("libcuda.so.1")
    for name, offset, size in functions:
        if name.startswith("_cu") and name[1:2].islower():
            name = _OTHER_NAMES.get(name, name)
            target = getattr(runtime, name[1:], None) or getattr(driver, name[1:], None)
            if target is not None:
                _jump(_behind(first + offset), 16, target)  # the library calls what is behind by itself, too
                _jump(first + offset, size, target)


def replace_functions(module, runtime):
    """Let a Cython module offer libcudart's functions in place of its own, which are NVIDIA's static runtime.

    Cython modules that use another module's C functions take their addresses from its table ``__pyx_capi__``, once,
    when they are imported. Functions that libcudart lacks stay as they are.

    Args:
        module: whose table is changed, ``cuda.bindings.cyruntime``.
        runtime: libcudart.
    """
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_void_p, [ctypes.py_object]
    api.PyCapsule_New.restype = ctypes.py_object
    api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    for name, capsule in module.__pyx_capi__.items():
        function = getattr(runtime, name, None) if _is_runtime(name) else None
        if function is not None:
            address = ctypes.cast(function, ctypes.c_void_p).value
            module.__pyx_capi__[name] = api.PyCapsule_New(address, api.PyCapsule_GetName(capsule), None)


def _behind(address):
    """Where a function that is a single jump leads; itself, if it is not."""
    code = ctypes.string_at(address, 5)
    return address + 5 + struct.unpack("<i", code[1:])[0] if code[:1] == b"\xe9" else address


def _jump(address, size, target):
    """Overwrite a function by a jump; compilers pad functions to 16 bytes."""
    room = -(-size // 16) * 16 if address % 16 == 0 else size
    if room >= len(_JUMP) + 8:
        _write(address, _JUMP + struct.pack("<Q", ctypes.cast(target, ctypes.c_void_p).value))


def _is_runtime(name):
    name = name[2:] if name.startswith("__cuda") else name  # what nvcc's code calls
    return name.startswith("cuda") and name[4:5].isupper()


def _major(address):
    """The version of the runtime that is inside, which it returns without a driver."""
    version = ctypes.c_int()
    ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int))(address)(ctypes.byref(version))
    return version.value // 1000 or 12


def _functions(elf):
    """(name, offset, size) of the functions in a 64-bit ELF file's symbol tables."""
    (table,) = struct.unpack_from("<Q", elf, 0x28)
    size, count = struct.unpack_from("<HH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQII", elf, table + k * size) for k in range(count)]
    found = []
    for _, kind, _, _, offset, length, link, _ in headers:
        if kind not in _SYMBOLS:
            continue
        names = headers[link][4]
        for at in range(offset, offset + length, 24):
            name, info, _, section, value, extent = struct.unpack_from("<IBBHQQ", elf, at)
            if info & 15 == _FUNCTION and section:
                text = elf[names + name : elf.index(b"\0", names + name)].decode("latin-1")
                found.append((text, value, extent))
    return found


def _load_address(path):
    """Where a library lies in memory; ``path`` may lead through links, as in many virtual environments."""
    real = os.path.realpath(path)
    with open("/proc/self/maps") as maps:
        for line in maps:
            if line.rstrip("\n").endswith(real):
                return int(line.split("-")[0], 16)
    raise OSError("%s is not loaded" % path)


def _write(address, code):
    """Overwrite machine code."""
    page = mmap.PAGESIZE
    begin = address // page * page
    length = address + len(code) - begin
    everything = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    if _libc.mprotect(ctypes.c_void_p(begin), ctypes.c_size_t(length), everything):
        raise OSError(ctypes.get_errno(), "mprotect")
    ctypes.memmove(address, code, len(code))
    _libc.mprotect(ctypes.c_void_p(begin), ctypes.c_size_t(length), mmap.PROT_READ | mmap.PROT_EXEC)
