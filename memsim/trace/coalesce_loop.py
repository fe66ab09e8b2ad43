"""The compiled part of coalescing: warp instructions in, transactions on numbered lines out.

``LANES`` bounds everything a warp can do at once: 64 lanes, each of whose accesses may straddle two sectors. Groups of
lanes that are looked at together have 32 at most.
"""

from __future__ import annotations

import numpy as np

from memsim.jit.compiled import loop
from memsim.trace.coalescing_rules import ATOMIC, BANKS, BANKS_1X, BANKS_ATOMIC, DISTINCT, IN_ORDER
from memsim.trace.schema import EXPLICIT, NO_OP, WIDEST_WARP
from memsim.trace.transactions import NO_ANSWER

LANES = WIDEST_WARP
MOST_TRANSACTIONS = 2 * LANES  # of one instruction
EMPTY = -1  # no segment is negative

# Where the loop stands, between calls.
POSITION = np.dtype(
    [
        ("instruction", "<i8"),  # next one of the chunk
        ("address", "<i8"),  # next of the chunk's offsets
        ("transactions", "<i8"),  # written so far, to all buffers
        ("buffered", "<i8"),  # transactions in the buffers of this call
    ]
)

# The op's last instruction that was coalesced. Most that follow are the same, moved: so are their transactions.
TAKEN = np.dtype(
    [
        ("mask", "<i8"),  # 0: there is none yet
        ("base", "<i8"),
        ("stride", "<i8"),
        ("offset", "<i8"),  # of its addresses, among the chunk's
        ("n", "<i8"),  # active lanes
        ("lowest", "<i8"),  # address
        ("slots", "<i8"),
        ("wavefronts", "<i8"),  # of L1's data stage
        ("count", "<i8"),  # transactions
    ]
)

DONE, FULL, BELOW_ZERO = range(3)  # what a call returns

PARTIAL_SHIFT = 8  # a transaction's mask holds its sectors, and from this bit on those that a store covers in part
WORDS_SHIFT = 16  # from here on the words written of each of these, of the first four sectors
FULL_SECTOR = (1 << 32) - 1  # every byte of a sector

# Rows of the scratch array: what one warp instruction needs while it is coalesced.
LANE, ADDRESS = 0, 1  # the active lanes and their addresses
SEGMENT, TOUCHED = 2, 3  # segments found, and their touched sectors (or the serial pass); words of shared memory
BANK, LAST = 4, 5  # words found in each bank, and the latest of them
SEEN, INDEX = 6, 7  # a small hash table: the segment in a slot (or EMPTY), and its number
COVERED = 8  # bytes written of each segment's first sector, and of its other seven in the rows behind
SCRATCH_SHAPE = (16, 128)  # entries: 16 lanes of 16 misaligned bytes make 80 words; the table wants a power of two


@loop
def expand_lanes(mask, base, stride, offsets, first, scratch):
    """Write the active lanes and their addresses to `scratch`; return how many, or -1 when one lies below 0."""
    n = 0
    below = False
    start = 0
    for lane in range(LANES if mask >> 32 else 32):
        if mask >> lane & 1:
            if n == 0:
                start = lane
            address = base + (offsets[first + n] if stride == EXPLICIT else stride * (lane - start))
            below |= address < 0
            scratch[LANE, n] = lane
            scratch[ADDRESS, n] = address
            n += 1
    return -1 if below else n


@loop
def find_segments(begin, end, width, shift, scratch):
    """Segments the lanes begin..end touch, in order of first touch, each with its touched sectors; return how many."""
    n = 0
    last = scratch.shape[1] - 1
    for i in range(begin, end):
        address = scratch[ADDRESS, i]
        for sector in range(address >> 5, ((address + width - 1) >> 5) + 1):
            segment = sector >> shift
            bit = 1 << (sector & ((1 << shift) - 1))
            if n > 0 and scratch[SEGMENT, n - 1] == segment:  # neighbours mostly share, and need no table
                scratch[TOUCHED, n - 1] |= bit
                continue
            slot = segment & last
            while scratch[SEEN, slot] != EMPTY and scratch[SEEN, slot] != segment:
                slot = (slot + 1) & last
            if scratch[SEEN, slot] == segment:
                scratch[TOUCHED, scratch[INDEX, slot]] |= bit
            else:
                scratch[SEEN, slot] = segment
                scratch[INDEX, slot] = n
                scratch[SEGMENT, n] = segment
                scratch[TOUCHED, n] = bit
                n += 1
    for k in range(n):  # empty the table: walking its chains from each segment's own slot reaches every entry
        slot = scratch[SEGMENT, k] & last
        while scratch[SEEN, slot] != EMPTY:
            scratch[SEEN, slot] = EMPTY
            slot = (slot + 1) & last
    return n


@loop
def add_partial_sectors(begin, end, width, n, shift, scratch):
    """Add to the touched sectors of `n` segments those that the lanes write in part, and the words written of these."""
    for k in range(n):
        scratch[TOUCHED, k] |= scratch[TOUCHED, k] << PARTIAL_SHIFT
        scratch[COVERED : COVERED + (1 << shift), k] = 0
    k = 0  # lanes meet the segments in their order, but for those that they share
    for i in range(begin, end):
        address = scratch[ADDRESS, i]
        for sector in range(address >> 5, ((address + width - 1) >> 5) + 1):
            while scratch[SEGMENT, k] != sector >> shift:
                k = k + 1 if k + 1 < n else 0
            within = sector & ((1 << shift) - 1)
            first, past = max(address - (sector << 5), 0), min(address + width - (sector << 5), 32)
            scratch[COVERED + within, k] |= (1 << past) - (1 << first)
            if scratch[COVERED + within, k] == FULL_SECTOR:
                scratch[TOUCHED, k] &= ~(1 << PARTIAL_SHIFT + within)
    for k in range(n):
        partial = scratch[TOUCHED, k] >> PARTIAL_SHIFT
        for within in range(min(4, 1 << shift)):
            if partial >> within & 1:
                scratch[TOUCHED, k] |= whole_words(scratch[COVERED + within, k]) << WORDS_SHIFT + 8 * within


@loop
def whole_words(covered):
    """The words of a sector, one bit each, of which a mask of bytes has all four."""
    both = covered & covered >> 1
    whole = both & both >> 2 & 0x11111111
    whole = (whole | whole >> 3) & 0x03030303
    whole = (whole | whole >> 6) & 0x000F000F
    return (whole | whole >> 12) & 0xFF


@loop
def find_atomics(begin, end, width, scratch):
    """One segment (a sector) a touched sector and serial pass; a lane's pass counts earlier lanes on its address."""
    n = 0
    for i in range(begin, end):
        address = scratch[ADDRESS, i]
        serial = 0
        for j in range(begin, i):
            serial += scratch[ADDRESS, j] == address
        for sector in range(address >> 5, ((address + width - 1) >> 5) + 1):
            k = n - 1
            while k >= 0 and (scratch[SEGMENT, k] != sector or scratch[TOUCHED, k] != serial):
                k -= 1
            if k < 0:
                scratch[SEGMENT, n] = sector
                scratch[TOUCHED, n] = serial
                n += 1
    for k in range(n):
        scratch[TOUCHED, k] = 1
    return n


@loop
def find_in_order(begin, end, width, scratch):
    """Sectors of the half-warp begin..end by the rule of 1.0 and 1.1; whole segments when in order, else by lane."""
    segment_bytes = min(16 * width, 128)
    half_base = scratch[ADDRESS, begin] - width * (scratch[LANE, begin] & 15)
    in_order = width >= 4 and half_base % segment_bytes == 0
    for i in range(begin, end):
        in_order &= scratch[ADDRESS, i] == half_base + width * (scratch[LANE, i] & 15)
    n = 0
    if in_order:
        for first in range(half_base, half_base + 16 * width, segment_bytes):
            scratch[SEGMENT, n] = first >> 5
            scratch[TOUCHED, n] = (1 << (segment_bytes >> 5)) - 1
            n += 1
        return n
    for i in range(begin, end):
        address = scratch[ADDRESS, i]
        for sector in range(address >> 5, ((address + width - 1) >> 5) + 1):
            scratch[SEGMENT, n] = sector
            scratch[TOUCHED, n] = 1
            n += 1
    return n


@loop
def count_passes(begin, end, width, banks, every_lane, scratch):
    """Passes of shared memory: the most distinct words (or lanes, for atomics) of one bank."""
    scratch[BANK] = 0
    n = 0
    most = 0
    for i in range(begin, end):
        address = scratch[ADDRESS, i]
        for word in range(address >> 2, ((address + width - 1) >> 2) + 1):
            bank = word & (banks - 1)
            known = False
            if not every_lane and scratch[BANK, bank] > 0:
                known = scratch[LAST, bank] == word
                k = n - 1
                while not known and k >= 0:
                    known = scratch[SEGMENT, k] == word
                    k -= 1
            if not known:
                scratch[BANK, bank] += 1
                scratch[LAST, bank] = word
                most = max(most, scratch[BANK, bank])
                if not every_lane:
                    scratch[SEGMENT, n] = word
                    n += 1
    return most


@loop
def count_passes_1x(begin, end, width, banks, scratch):
    """Passes of shared memory on 1.x: each serves one broadcast word to any number of lanes, else a lane a bank.

    Which word is broadcast is not specified; here it is that of the lowest lane that waits.
    """
    n = 0
    for i in range(begin, end):
        address = scratch[ADDRESS, i]
        for word in range(address >> 2, ((address + width - 1) >> 2) + 1):
            scratch[SEGMENT, n] = word
            n += 1
    passes = 0
    while n > 0:
        passes += 1
        scratch[BANK] = 0
        broadcast = scratch[SEGMENT, 0]
        scratch[BANK, broadcast & (banks - 1)] = 1
        waiting = 0
        for k in range(n):
            word = scratch[SEGMENT, k]
            if word == broadcast:
                continue
            if scratch[BANK, word & (banks - 1)] == 0:
                scratch[BANK, word & (banks - 1)] = 1
            else:
                scratch[SEGMENT, waiting] = word
                waiting += 1
        n = waiting
    return passes


@loop
def count_distinct(begin, end, scratch):
    """Count the distinct addresses."""
    n = 0
    for i in range(begin, end):
        j = begin
        while scratch[ADDRESS, j] != scratch[ADDRESS, i]:
            j += 1
        n += j == i
    return n


@loop
def count_slots(begin, end, rule, scratch):
    """Passes that one group of lanes takes in a memory without lines."""
    width, banks = np.int64(rule.width), 1 << np.int64(rule.shift)
    if rule.rule == DISTINCT:
        return count_distinct(begin, end, scratch)
    if rule.rule == BANKS_1X:
        return count_passes_1x(begin, end, width, banks, scratch)
    return count_passes(begin, end, width, banks, rule.rule == BANKS_ATOMIC, scratch)


@loop
def coalesce_instructions(chunk, offsets, rules, line_shift, tags, position, scratch, last, out, addresses, masks):
    """Coalesce instructions of a chunk from `position` on, until the chunk is done or a buffer is full.

    Args:
        chunk: (op, flags, compute_run, mask, base, stride, off_path), columns of the trace.
        offsets: of its explicit instructions' addresses.
        rules: RULE records by static instruction.
        line_shift: log2 of the sectors of an L1 line.
        tags: banks of L1's tags.
        position: POSITION [1], moved on.
        scratch: i8 of SCRATCH_SHAPE.
        last: (TAKEN records, their lines, their masks) by static instruction, of this chunk.
        out: INSTRUCTION records, one an instruction of the chunk.
        addresses, masks: buffers, written from 0: a transaction's line (its byte address by the line's bytes), and its
            sectors, those that a store covers in part once more from PARTIAL_SHIFT on, and their words written.

    Returns:
        DONE, FULL (call again with empty buffers) or BELOW_ZERO (an address is negative).
    """
    op, flags, compute_run, mask, base, stride, off_path = chunk
    position = position[0]
    for i in range(position.instruction, len(op)):
        if position.buffered + MOST_TRANSACTIONS > len(addresses):
            position.instruction = i
            return FULL
        record = out[i]
        record.first = position.transactions
        record.op = op[i]
        record.flags = flags[i]
        record.compute_run = compute_run[i]
        record.critical_path = compute_run[i] - off_path[i]
        record.answers = NO_ANSWER
        if op[i] == NO_OP:
            continue
        number = np.int64(op[i])
        rule, like = rules[number], last[0][number]
        record.kind = rule.kind
        record.answers = rule.answers
        record.flags |= rule.flags
        active, lowest, step = np.int64(mask[i]), np.int64(base[i]), np.int64(stride[i])
        if is_moved(like, active, lowest, step, offsets, position.address, rule.rule, line_shift):
            repeat(number, lowest, line_shift, last, position, addresses, masks)
        else:
            begin = position.buffered
            n = form_transactions(
                active, lowest, step, offsets, rule, line_shift, position, scratch, like, addresses, masks
            )
            if n < 0:
                position.instruction = i
                return BELOW_ZERO
            like.mask, like.base, like.stride, like.offset, like.n = active, lowest, step, position.address, n
            like.count = position.buffered - begin
            for k in range(like.count):
                last[1][number, k] = addresses[begin + k]
                last[2][number, k] = masks[begin + k]
        if step == EXPLICIT:
            position.address += like.n
        record.slots = like.slots
        record.count = position.transactions - record.first
        looked_up = tag_wavefronts(position.buffered - record.count, position.buffered, tags, addresses, scratch)
        record.wavefronts = max(looked_up, like.wavefronts)
    position.instruction = len(op)
    return DONE


@loop
def is_moved(like, mask, base, stride, offsets, offset, rule, line_shift):
    """Whether an instruction is `like` the op's last, moved so far that it takes the same passes or sectors of lines.

    Banks are words, and moving all words by one turns the banks round. Lines of a GPU's memory, and the segments of all
    rules, begin at multiples of 128 bytes or of the line.
    """
    moved = base - like.base
    unit = 4 if rule in (BANKS, BANKS_1X, BANKS_ATOMIC, DISTINCT) else max(128, 32 << line_shift)
    if like.mask != mask or like.stride != stride or moved & (unit - 1) or like.lowest + moved < 0:
        return False
    if stride == EXPLICIT:
        for k in range(like.n):
            if offsets[offset + k] != offsets[like.offset + k]:
                return False
    return True


@loop
def repeat(number, base, line_shift, last, position, addresses, masks):
    """Write the transactions of the op's last instruction, moved to another base."""
    like = last[0][number]
    moved = (base - like.base) >> (5 + line_shift)
    for k in range(like.count):
        addresses[position.buffered + k] = last[1][number, k] + moved
        masks[position.buffered + k] = last[2][number, k]
    position.buffered += like.count
    position.transactions += like.count


@loop
def form_transactions(mask, base, stride, offsets, rule, line_shift, position, scratch, like, addresses, masks):
    """Coalesce one instruction, note passes and lowest address; active lanes, or -1 when an address is negative."""
    n = expand_lanes(mask, base, stride, offsets, position.address, scratch)
    if n < 0:
        return n
    slots = 0
    lanes = np.int64(rule.lanes)
    if rule.pairs and (in_pairs(n, 1, scratch) or in_pairs(n, 2, scratch)):
        lanes += 1
    end = 0
    while end < n:
        begin = end
        group = scratch[LANE, begin] >> lanes
        while end < n and scratch[LANE, end] >> lanes == group:
            end += 1
        if rule.rule in (BANKS, BANKS_1X, BANKS_ATOMIC, DISTINCT):
            slots += count_slots(begin, end, rule, scratch)
        else:
            emit_group(begin, end, rule, line_shift, position, scratch, addresses, masks)
    like.slots = slots
    like.wavefronts = data_wavefronts(n, rule, scratch)
    like.lowest = scratch[ADDRESS, 0]
    for k in range(1, n):
        like.lowest = min(like.lowest, scratch[ADDRESS, k])
    return n


@loop
def tag_wavefronts(begin, end, tags, lines, scratch):
    """Look-ups of the bank of tags that has most: a line's bank is the XOR of all groups of its number's bits."""
    if tags == 1 or end - begin <= 1:
        return end - begin
    bits = 1
    while 1 << bits < tags:
        bits += 1
    widest = bits
    while widest < 32:
        widest *= 2
    scratch[BANK] = 0
    most = 0
    for k in range(begin, end):
        folded, groups = np.int64(lines[k]), widest
        while groups >= bits:  # one half of the groups on the other, down to one
            folded ^= folded >> groups
            groups >>= 1
        bank = folded & (tags - 1)
        scratch[BANK, bank] += 1
        most = max(most, scratch[BANK, bank])
    return most


@loop
def data_wavefronts(n, rule, scratch):
    """Wavefronts of L1's data stage for `n` active lanes: passes over its banks, or cycles on the way out if more."""
    banks, passes, end = np.int64(rule.data_banks), 0, 0
    while banks and end < n:
        begin = end
        group = scratch[LANE, begin] >> rule.data_lanes
        while end < n and scratch[LANE, end] >> rule.data_lanes == group:
            end += 1
        passes += count_passes(begin, end, np.int64(rule.width), banks, False, scratch)
    if rule.out_bytes:
        passes = max(passes, (n * np.int64(rule.width) + rule.out_bytes - 1) // rule.out_bytes)
    return passes


@loop
def in_pairs(n, distance, scratch):
    """Whether active lanes whose numbers differ in the bit `distance` have the same address."""
    for i in range(n):
        for j in range(i + 1, min(i + 1 + distance, n)):
            paired = scratch[LANE, j] == scratch[LANE, i] ^ distance
            if paired and scratch[ADDRESS, j] != scratch[ADDRESS, i]:
                return False
    return True


@loop
def emit_group(begin, end, rule, line_shift, position, scratch, addresses, masks):
    """Write the transactions of one group of lanes to the buffers."""
    width = np.int64(rule.width)
    if rule.rule == ATOMIC:
        n = find_atomics(begin, end, width, scratch)
    elif rule.rule == IN_ORDER:
        n = find_in_order(begin, end, width, scratch)
    else:
        n = find_segments(begin, end, width, np.int64(rule.shift), scratch)
    if rule.partial:
        add_partial_sectors(begin, end, width, n, np.int64(rule.shift), scratch)
    for k in range(n):
        sector = scratch[SEGMENT, k] << rule.shift
        touched = scratch[TOUCHED, k] & ((1 << PARTIAL_SHIFT) - 1)
        requested = np.int64(rule.requested[touched]) | scratch[TOUCHED, k] ^ touched
        addresses[position.buffered] = sector >> line_shift
        masks[position.buffered] = requested << (sector & ((1 << line_shift) - 1))
        position.buffered += 1
        position.transactions += 1
