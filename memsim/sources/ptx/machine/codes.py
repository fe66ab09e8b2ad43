"""What the machine's loops and what is lowered to them agree on: numbers of micro-ops, columns of tables, statuses."""

from __future__ import annotations

from enum import IntEnum

from memsim.trace.schema import NO_WAIT

LANES = 32
ALL_LANES = (1 << LANES) - 1
FIELDS = 16  # int64 of one micro-op: two lines of the host's cache

# Columns of a micro-op. Operands are rows of the warp's registers; LIST and COUNT find more of them in `lists`. Of
# machine code N_USES is one of BY_CODE and RESULT_BY_CODE, USES the control code that `control_code` packs.
OP, DST, A, B, C, GUARD, NEGATED, MASK, SHIFT, X, Y, SEGMENT, USES, N_USES, LIST, COUNT = range(FIELDS)

# An instruction's first micro-op, and its accesses; the micro-op behind an access with a result.
BY_CODE, RESULT_BY_CODE = -1, -2


def control_code(waits: int, sets: int, stall: int, result: int = 0, products: int = NO_WAIT) -> int:
    """The log's record of a machine instruction, in one number (memsim.trace.schema).

    >>> from memsim.sources.ptx.machine.log import unpacked
    >>> unpacked(control_code(0b100001, 5, 13, 9, 2))
    (33, 5, 13, 9, 2)
    """
    return waits | sets << 6 | stall << 9 | result << 13 | products << 17


class Micro(IntEnum):
    """Micro-ops. Values are bit patterns, zero-extended to 64 bits; MASK cuts results to the instruction's width, SHIFT
    (64 less the width) extends signs."""

    # Integers: the loops' hot part.
    nop = 0  # charges its segment and checks its uses
    copy = 1  # a
    add = 2
    subtract = 3
    multiply = 4
    multiply_add = 5  # a * b + c
    bit_and = 6
    bit_or = 7
    bit_xor = 8
    bit_not = 9
    shift_left = 10  # X: the width
    shift_right = 11
    shift_right_signed = 12
    extend = 13  # a from SHIFT, to MASK
    multiply_signed = 14  # both extended by SHIFT
    multiply_add_signed = 15
    select = 16  # X: predicate
    minimum = 17
    maximum = 18
    minimum_signed = 19
    maximum_signed = 20
    shift_add = 21  # (a * b) >> X, both extended by SHIFT: high halves
    pair = 22  # a, and b above its 32 bits
    lookup = 23  # lop3 of a, b and c, X: the table
    # Comparisons: DST and Y are predicates (Y: its complement, -1: none), X says how to join with predicate C.
    equal = 24
    unequal = 25
    less = 26
    less_equal = 27
    less_signed = 28
    less_equal_signed = 29
    # Predicates: DST, A, B, C are predicates.
    predicate = 32  # X: the truth table of (a, b)
    # Control.
    branch = 40  # X: target
    branch_table = 41  # A: index, LIST: targets
    exit = 42
    barrier = 43  # A: number, B: threads (-1: all), X: kind, DST, C
    trap = 44
    # A: masks of lanes that meet here before they continue (BSYNC, WARPSYNC); X: they continue if those never come.
    converge = 45
    # What only some kernels do.
    integer = 50  # Y: one of Integer
    floating = 51  # Y: one of Float
    convert = 52
    load = 60
    store = 61
    atomic = 62
    matrix_load = 63
    matrix_store = 64
    copy_async = 65
    commit = 66
    wait_group = 67
    bulk = 68
    tensor = 69
    mbarrier = 70
    alias = 71  # LIST: pairs (to, from) of registers that wait for the same load
    shuffle = 80
    vote = 81
    match = 82
    reduce = 83
    elect = 84
    active = 85
    clock = 86
    leave = 87  # A: masks of lanes, which the active lanes leave (BREAK)
    mma = 90
    wgmma = 91
    cluster_barrier = 92
    texture = 94  # DST: what it does, A: handle, LIST: coordinates, then results; see machine/textures.py
    surface = 95
    host_call = 93  # X: which function, LIST and COUNT: its arguments, DST: its result


class Integer(IntEnum):
    """Integer operations that are rare: one loop chooses among them."""

    divide = 0
    divide_signed = 1
    remainder = 2
    remainder_signed = 3
    high = 4  # of 64-bit products
    high_signed = 5
    popcount = 6
    leading_zeros = 7
    reverse = 8
    find = 9  # bfind
    find_signed = 10
    find_shift = 11
    find_shift_signed = 12
    extract = 13  # bfe
    extract_signed = 14
    insert = 15  # bfi
    permute = 16  # prmt, X: mode
    funnel_left = 17  # shf, X: clamp
    funnel_right = 18
    absolute = 19
    difference = 20  # sad
    difference_signed = 21
    saturated_add = 22
    saturated_subtract = 23
    dot = 24  # dp4a, X: signs
    dot_two = 25  # dp2a, X: signs, and 4 for the upper two bytes
    find_nth = 26  # fns
    packed_difference = 27  # vabsdiff2, vabsdiff4, X: 1 for signed parts, 2 for four of them, 4 for their sum
    multiply_24 = 28
    multiply_24_signed = 29
    mask = 30  # bmsk
    packed_add = 31
    packed_minimum = 32
    packed_maximum = 33
    packed_minimum_signed = 34
    packed_maximum_signed = 35


class Float(IntEnum):
    """Floating-point operations, all carried out in float64 and rounded once to the type."""

    add = 0
    subtract = 1
    multiply = 2
    fma = 3
    divide = 4
    minimum = 5
    maximum = 6
    negate = 7
    absolute = 8
    square_root = 9
    reciprocal = 10
    reciprocal_root = 11
    exponential = 12  # of 2
    logarithm = 13  # to 2
    sine = 14
    cosine = 15
    tangent_hyperbolic = 16
    copy_sign = 17
    test = 18  # testp, X: which
    compare = 19  # setp
    set = 20
    copy = 21
    sine_of_turns = 22  # MUFU.SIN: of a times 2 pi
    cosine_of_turns = 23


class Type(IntEnum):
    """How bits are read as numbers."""

    f32 = 0
    f64 = 1
    f16 = 2
    bf16 = 3
    f16x2 = 4
    bf16x2 = 5
    e4m3 = 6
    e5m2 = 7
    tf32 = 8
    unsigned = 9
    signed = 10
    f32x2 = 11


class WarpStatus(IntEnum):
    """Of a warp."""

    ready = 0
    at_barrier = 1
    yielded = 2  # it waits for what another warp does
    done = 3
    at_cluster_barrier = 4


class Stop(IntEnum):
    """Why the loop returned."""

    done = 0
    log_full = 1
    new_mix = 2
    outside = 3  # an access outside all regions
    endless = 4
    spinning = 5
    deadlock = 6
    divergent_barrier = 7  # divergent lanes of a warp wait at different barriers
    trapped = 8
    too_many_ops = 9
    misaligned = 10
    read_only = 11
    copies = 12
    unknown_tensor = 13
    host_call = 14  # a function of CUDA's device runtime
    paused = 15  # for nothing else than to hear signals; the next call continues


# Columns of a warp's record.
(N_GROUPS, STATUS, STEPS, NUMBER, BLOCK, MIX, NEXT, REPEATS, REPEATED, SPARE_MASK, BARRIER_DST, BARRIER_KIND,
 BARRIER_ID, COMMITTED, CLUSTER_PHASE, CLOCK, BROUGHT, FIRST_COPY, AWAITED, RAN, SWITCHED,
 PARKED, POLLED, OUTSTANDING, WAITING, SPINS, PRODUCTS, TURNS) = range(28)  # fmt: skip
WARP_FIELDS = 28
MOST_GROUPS = 64  # of asynchronous copies, committed and not yet waited for

# Windows of generic addresses (PTX ISA, "Generic Addressing"): where they lie is ours to choose.
SHARED_WINDOW, LOCAL_WINDOW, PARAMETER_WINDOW = 1 << 60, 1 << 61, 1 << 59
CONSTANT_WINDOW = 1 << 57  # of variables in constant memory as machine code addresses them
RANK_SHIFT = 24  # of a block's rank in shared::cluster addresses; 0 is the block itself, n + 1 is rank n
