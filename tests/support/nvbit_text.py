"""What NVBit's mem_trace prints, in small, for tests."""

from __future__ import annotations

A = 0x7F00_0000_0000


def launch(number: int = 0, grid: str = "2,2,1", block: str = "40,1,1", kernel: str = "csr(int const*, float)") -> str:
    """A LAUNCH line."""
    return (
        f"MEMTRACE: CTX 0x000055d5c0a5e2d0 - LAUNCH - Kernel pc 0x00007fb5bb000000 - Kernel name {kernel} - "
        f"grid launch id {number} - grid size {grid} - block size {block} - nregs 18 - shmem 512 - cuda stream id 0\n"
    )


def line(addresses: list[int], opcode: str = "LDG.E.64", cta: str = "0,0,0", warp: int = 0, number: int = 0) -> str:
    """An access line; inactive lanes, and those that are not given, are 0."""
    printed = " ".join(f"0x{address:016x}" for address in addresses + [0] * (32 - len(addresses)))
    place = f"grid_launch_id {number} - CTA {cta} - warp {warp}"
    return f"MEMTRACE: CTX 0x000055d5c0a5e2d0 - {place} - {opcode} - {printed} \n"


LOG = (
    "------------- NVBit (NVidia Binary Instrumentation Tool v1.5.5) Loaded --------------\n"
    + launch()
    + line([A + 8 * lane for lane in range(32)])
    + line([A + 64, 0, A + 128, A], opcode="STG.E", cta="1,1,0", warp=1)
    + "a line of the program\n"
    + launch(1, kernel="k(int*)")
    + line([A], opcode="RED.E.ADD.STRONG.GPU", cta="1,0,0")
    + line([A + 4 * lane for lane in range(32)], number=1)
)
