"""Why reading a trace's body stops, and what is wrong with a line, in the words that users read."""

from __future__ import annotations

# What a call of the compiled reader returns: why it stopped ...
TEXT_USED, ROWS_FULL, NEW_OPCODE, NEW_OP = range(4)
# ... or what is wrong with the line at hand.
(
    NESTED, NOT_OPEN, NO_BLOCK, BLOCK_ID, TWO_BLOCKS, WARP_ID, TWO_WARPS, COUNT, MISSING, SURPLUS, NO_WARP, PREFIX, PC,
    MASK, REGISTERS, OPCODE, MEM_WIDTH, MODE, ADDRESS, RUN, WORD, UNKNOWN, LOCAL, DESCENDS, BULK,
) = range(10, 35)  # fmt: skip

PROBLEMS: dict[int, tuple[str, str]] = {  # field, and what would be right
    NESTED: ("#BEGIN_TB", "is inside a thread block; end that block with #END_TB first"),
    NOT_OPEN: ("text", "is outside of thread blocks; begin one with #BEGIN_TB (is this a processed trace?)"),
    NO_BLOCK: ("thread block", "is not named; give 'thread block = x,y,z' after #BEGIN_TB"),
    BLOCK_ID: ("thread block", "must be 'thread block = x,y,z' with numbers inside the grid"),
    TWO_BLOCKS: ("thread block", "is named twice; begin the next one with #BEGIN_TB"),
    WARP_ID: ("warp", "must be 'warp = n' with a number below the warps of a block"),
    TWO_WARPS: ("warp", "appears twice in this thread block"),
    COUNT: ("insts", "must be 'insts = m', once after every 'warp = n'"),
    MISSING: ("insts", "is more than the number of instructions; give a complete file"),
    SURPLUS: ("insts", "is less than the number of instructions; give a file that was not changed"),
    NO_WARP: ("instruction", "must follow 'warp = n' and 'insts = m'"),
    PREFIX: ("instruction", "must begin with x y z warp (tracers before 3) or a source line, as the header says"),
    PC: ("PC", "must be a hexadecimal number of at most 10 digits"),
    MASK: ("mask", "must be a hexadecimal number of at most 32 bits"),
    REGISTERS: ("registers", "must be a count of at most 16 and as many names, R0 to R255"),
    OPCODE: ("opcode", "must begin with a capital letter"),
    MEM_WIDTH: ("mem_width", "must be a number of bytes, 0 without memory access"),
    MODE: ("address mode", "must be 0 (list), 1 (base and stride) or 2 (base and deltas)"),
    ADDRESS: ("addresses", "must fit the mask's lanes and the address mode, and lie between 0 and 2**57"),
    RUN: ("mask", "must be one run of lanes in address mode 1 (base and stride)"),
    WORD: ("text", "is none of #BEGIN_TB, thread block, warp, insts, #END_TB and an instruction"),
    UNKNOWN: ("opcode", "has addresses, but its effect on memory is unknown; please report it"),
    LOCAL: ("addresses", "of local memory must be below 2**24 or in the window at 'local mem base_addr'"),
    BULK: (
        "transfers",
        "must be a bulk copy's mbarrier, multicast, bytes, mode 3 or 4 and addresses, of 1 MiB at most",
    ),
    DESCENDS: ("warp", "must not be below the one before it in a block of more instructions than fit into memory"),
}
