"""Programs that use what CUDA 13 removed: members of device properties, functions, signatures, templates, C++14."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from memsim.capture.compilers import Compiler
from memsim.capture.linking import header_folder
from memsim.support.cache import build_once, cache_folder

_NAMES = Path(__file__).parent / "older_cuda.h"
_MEMBERS = (
    "clockRate", "deviceOverlap", "kernelExecTimeoutEnabled", "computeMode", "memoryClockRate", "maxTexture1DLinear",
    "singleToDoublePrecisionPerfRatio", "cooperativeMultiDeviceLaunch",
)  # fmt: skip
_RESERVED = re.compile(r"(struct __device_builtin__ cudaDeviceProp\b.*?\bint\s+reserved\[)(\d+)\];", re.DOTALL)
_REMOVED = re.compile(
    r'"cuda(Thread(Synchronize|Exit)|GetDeviceProperties_v2)"|"(struct )?cudaDeviceProp" has no member|cudaMemLocation'
    r"|cudaGraphEdgeData"
)
_REMOVED_TEMPLATES = re.compile(
    r'namespace "(cub" has no member .*"(Sum|Difference|Division|Min|Max|Inequality|Equality|\w+(In|Out)putIterator)"'
    r'|thrust" has no member .*"(un|bin)ary_function")'
)
_TEMPLATES = "-DMEMSIM_OLDER_CCCL"  # for older_cuda.h
_LATER_DIALECT = re.compile(r"requires at least C\+\+17")
_DIALECT = re.compile(r"(--?std=)(c|gnu)\+\+(03|11|14)")


def older_command(command: Sequence[str], message: str, compiler: Compiler) -> list[str] | None:
    """nvcc's command, changed so that it compiles what its message is about; None: there is nothing to change."""
    changed = list(command)
    if _LATER_DIALECT.search(message):
        changed = in_dialect_17(changed)
    added = [_TEMPLATES] if _REMOVED_TEMPLATES.search(message) else []
    if (added or _REMOVED.search(message)) and (headers := older_headers(compiler)) is not None:
        added.append(f"-I{headers}")
        changed[1:1] = [one for one in added if one not in command]
    return changed if changed != list(command) else None


def in_dialect_17(command: Sequence[str]) -> list[str]:
    """A command of nvcc with C++17 in the place of an older dialect: CUDA 13's Thrust and CUB need it.

    >>> in_dialect_17(["nvcc", "-std=c++14", "-std", "c++11", "-Xcompiler", "-std=gnu++14", "a.cu"])
    ['nvcc', '-std=c++17', '-std', 'c++17', '-Xcompiler', '-std=gnu++17', 'a.cu']
    """
    changed = [_DIALECT.sub(r"\1\2++17", one) for one in command]
    for at, one in enumerate(changed[:-1]):
        if one in ("-std", "--std"):
            changed[at + 1] = "c++17"
    return changed


def older_headers(compiler: Compiler) -> Path | None:
    """A folder whose ``cuda_runtime.h`` has them and includes the toolkit's; None: its CUDA is older, or unknown.

    The removed members take the place of reserved ones, so that the structure keeps its size.
    """
    headers = header_folder(compiler)
    if compiler.version[0] < 13 or headers is None:
        return None
    text, found = _RESERVED.subn(_with_members, (headers / "driver_types.h").read_text(), count=1)
    if not found:
        return None
    names = _NAMES.read_text()
    # crt/host_runtime.h, which the host's compiler reads, includes this file, and so the folder's driver_types.h.
    builtin_types = (headers / "builtin_types.h").read_text()

    def fill(folder: Path) -> None:
        (folder / "driver_types.h").write_text(text)
        (folder / "builtin_types.h").write_text(builtin_types)
        (folder / "cuda_runtime.h").write_text(names)

    return build_once(
        cache_folder("older-cuda") / hashlib.sha256((text + names + builtin_types).encode()).hexdigest()[:20], fill
    )


def _with_members(found: re.Match[str]) -> str:
    members = "".join(f"\n    int {name};" for name in _MEMBERS)
    return f"{found[1]}{int(found[2]) - len(_MEMBERS)}];{members}"
