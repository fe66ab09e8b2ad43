"""A streaming kernel as Accel-Sim's tracer would leave it, in each of the format's encodings of addresses.

The kernel is saxpy, y[i] = a x[i] + y[i], an element a thread: thirteen instructions of a Volta, of which two load and
one stores, four sectors of 32 bytes each.
"""

from __future__ import annotations

from pathlib import Path

THREADS, WARP, WIDTH = 256, 32, 4
X, Y = 0x7F00_0000_0000, 0x7F10_0000_0000
ENCODINGS = {"a list": 0, "base and stride": 1, "base and deltas": 2}
LANES_PER_BLOCK = 3 * THREADS
SECTORS_PER_BLOCK = LANES_PER_BLOCK * WIDTH // 32

_HEADER = """-kernel name = saxpy
-kernel id = 1
-grid dim = ({blocks},1,1)
-block dim = (256,1,1)
-shmem = 0
-nregs = 10
-binary version = 70
-cuda stream id = 0
-shmem base_addr = 0x00007f4000000000
-local mem base_addr = 0x00007f4002000000
-nvbit version = 1.5
-accelsim tracer version = 3

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]
"""
_WARP = """
warp = {warp}
insts = 13
0000 ffffffff 1 R1 MOV 1 R255 0 
0010 ffffffff 1 R4 S2R 0 0 
0020 ffffffff 1 R3 S2R 0 0 
0030 ffffffff 1 R4 IMAD 2 R4 R3 0 
0040 ffffffff 0 ISETP.GE.AND 1 R4 0 
0060 ffffffff 1 R5 MOV 1 R255 0 
0070 ffffffff 1 R2 IMAD.WIDE 2 R4 R5 0 
0080 ffffffff 1 R4 IMAD.WIDE 2 R4 R5 0 
0090 ffffffff 1 R2 LDG.E.SYS 1 R2 4 {x} 
00a0 ffffffff 1 R7 LDG.E.SYS 1 R4 4 {y} 
00b0 ffffffff 1 R7 FFMA 2 R2 R7 0 
00c0 ffffffff 0 STG.E.SYS 2 R4 R7 4 {y} 
00d0 ffffffff 0 EXIT 0 0 
"""  # noqa: W291


def write_streaming(path: Path, blocks: int, encoding: str) -> None:
    """Write the processed trace (tracer version 3) of so many blocks of 256 threads.

    Args:
        encoding: one of ENCODINGS.
    """
    mode = ENCODINGS[encoding]
    with open(path, "w") as file:
        file.write(_HEADER.format(blocks=blocks))
        for block in range(blocks):
            file.write(f"\n#BEGIN_TB\n\nthread block = {block},0,0\n")
            for warp in range(THREADS // WARP):
                first = (block * THREADS + warp * WARP) * WIDTH
                file.write(_WARP.format(warp=warp, x=_addresses(X + first, mode), y=_addresses(Y + first, mode)))
            file.write("\n#END_TB\n")


def _addresses(base: int, mode: int) -> str:
    if mode == ENCODINGS["a list"]:
        return "0 " + " ".join(f"0x{base + WIDTH * lane:x}" for lane in range(WARP))
    if mode == ENCODINGS["base and stride"]:
        return f"1 0x{base:x} {WIDTH}"
    return f"2 0x{base:x}" + f" {WIDTH}" * (WARP - 1)
