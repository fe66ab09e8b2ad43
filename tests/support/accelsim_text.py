"""Small Accel-Sim traces as text, for tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from memsim.sources.imported.accelsim.convert import convert
from memsim.trace.reader import Trace
from memsim.trace.schema import EXPLICIT, Chunk

SHARED_BASE, LOCAL_BASE = 0x7EFE_B000_0000, 0x7EFE_B200_0000
HEADER = {
    "kernel name": "_Z1kPi",
    "kernel id": 1,
    "grid dim": "(4,2,1)",
    "block dim": "(64,1,1)",
    "shmem": 128,
    "nregs": 20,
    "binary version": 70,
    "cuda stream id": 0,
    "shmem base_addr": f"0x{SHARED_BASE:016x}",
    "local mem base_addr": f"0x{LOCAL_BASE:016x}",
    "nvbit version": "1.5",
    "accelsim tracer version": 3,
}


def header(**changes) -> str:
    """The header's text; a key is given with underscores, None leaves it out."""
    keys = {key.replace(" ", "_"): key for key in HEADER}
    values = HEADER | {keys.get(key, key.replace("_", " ")): value for key, value in changes.items()}
    lines = [f"-{key} = {value}" for key, value in values.items() if value is not None]
    return "\n".join([*lines, "", "#traces format = PC mask ...", "", ""])


def block(*warps: list[str], at: str = "0,0,0", numbers: list[int] | None = None) -> str:
    """One block; its warps' instruction lines."""
    text = f"#BEGIN_TB\n\nthread block = {at}\n"
    for number, lines in zip(numbers or range(len(warps)), warps, strict=True):
        text += f"\nwarp = {number}\ninsts = {len(lines)}\n" + "".join(f"{line}\n" for line in lines)
    return text + "\n#END_TB\n\n"


def imported(folder: Path, text: str | bytes, name: str = "kernel-1.traceg") -> Trace:
    """The trace that such a file becomes."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return convert(path, folder / "out.h5")


def whole(trace: Trace) -> Chunk:
    """All of a small trace."""
    (chunk,) = trace.chunks()
    return chunk


def lanes(trace: Trace) -> list[tuple[str, dict[int, int]]]:
    """Of every access of a trace: the text of its op, and the address of each active lane."""
    found = []
    for chunk in trace.chunks():
        at = 0
        for op, mask, base, stride in zip(chunk.op, chunk.mask, chunk.base, chunk.stride, strict=True):
            active = [lane for lane in range(32) if int(mask) >> lane & 1]
            if stride == EXPLICIT:
                addresses = int(base) + chunk.addresses[at : at + len(active)].astype(np.int64)
                at += len(active)
            else:
                addresses = int(base) + int(stride) * (np.array(active, np.int64) - active[0]) if active else []
            if op < len(trace.ops):
                found.append((trace.ops[op].text, dict(zip(active, map(int, addresses), strict=True))))
    return found
