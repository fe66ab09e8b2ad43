"""Machine code without its PTX: a cubin as a PTX text that declares its kernels and carries the cubin in a comment.

What launches a kernel needs parameters and variables, which PTX declares. The bodies only name the variables: such a
text runs as machine code or not at all.
"""

from __future__ import annotations

import base64
import re

from memsim.sources.sass.elf import Cubin, ElfSymbol, read_cubin

_SPACES = {".nv.global": "global", ".nv.global.init": "global", ".nv.constant3": "const"}
_MOST_ALIGNED = 16  # bytes; PTX aligns no parameter further
_CARRIED = "// machine code: "
_CARRIED_LINE = re.compile(rf"^{_CARRIED}(\S+)$", re.MULTILINE)


def declarations(data: bytes, where: str = "cubin") -> str:
    """A PTX module that declares the kernels of a cubin and its variables with their contents.

    Parameters have the offsets and sizes that the cubin gives; it has neither their types nor their names.

    Raises:
        InputError: the cubin is damaged.
    """
    cubin = read_cubin(data, where)
    version = "8.7" if cubin.architecture >= 100 else "7.8"
    lines = [f".version {version}", f".target sm_{cubin.architecture}", ".address_size 64"]
    lines.append(_CARRIED + base64.b64encode(data).decode())
    variables = [(one, space) for section, space in _SPACES.items() for one in cubin.objects(section)]
    lines += [_variable(cubin, one, space) for one, space in variables]
    body = "".join(f" mov.u64 %rd1, {one.name};" for one, _ in variables)
    return "\n".join([*lines, *(_kernel(cubin, name, body) for name in cubin.kernels)]) + "\n"


def carried_cubin(ptx: str) -> bytes | None:
    """The cubin that a text of :func:`declarations` carries; None: the text is PTX of its own."""
    found = _CARRIED_LINE.search(ptx, 0) if _CARRIED in ptx else None
    return base64.b64decode(found[1]) if found else None


def _kernel(cubin: Cubin, name: str, body: str) -> str:
    first = cubin.first_parameter(name) - cubin.parameters(name)[0]
    parameters = (
        f".param .align {_alignment(offset - first)} .b8 {name}_param_{k}[{size}]"
        for k, (offset, size) in enumerate(cubin.each_parameter(name))
    )
    return f".visible .entry {name}({', '.join(parameters)}) {{ .reg .b64 %rd<2>;{body} ret; }}"


def _alignment(offset: int) -> int:
    """The largest alignment that an offset has: laying out parameters one after the other leads back to it."""
    return min(offset & -offset or _MOST_ALIGNED, _MOST_ALIGNED)


def _variable(cubin: Cubin, one: ElfSymbol, space: str) -> str:
    data = cubin.data(one.section)[one.value : one.value + one.size]
    contents = f" = {{{', '.join(map(str, data))}}}" if any(data) else ""
    return f".visible .{space} .align {_MOST_ALIGNED} .b8 {one.name}[{one.size}]{contents};"
