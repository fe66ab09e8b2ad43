"""Headers for programs that use what CUDA 13 removed: members of device properties, functions, signatures."""

from __future__ import annotations

import hashlib
import re
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
)


def uses_older_cuda(error: str) -> bool:
    """Whether nvcc's message is about something that these headers bring back.

    >>> uses_older_cuda('class "cudaDeviceProp" has no member "clockRate"'), uses_older_cuda("expected a ;")
    (True, False)
    """
    return bool(_REMOVED.search(error))


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
