"""Where the lanes of a warp stand in the program, and which of them go on next: compiled.

A lane's position is that of its next word: the calls it is in, outermost first, then the site; positions are compared
lexicographically, barriers come last. The lanes at the smallest position go on together. That is the order in which a
warp with reconvergence at the end of every branch and loop executes structured code, in which sites are numbered as the
source is evaluated. A latch, the mark at the end of a loop's iteration, is a position too: lanes wait there until all
others wait as well or have left the loop, and then go back to smaller positions.
"""

from __future__ import annotations

import numpy as np

from memsim.support.compiled import inlined, loop

WARP_SIZE = 32
TAG_SHIFT, TAG_MASK = 48, 0xFFFF
LATCH, CALL, RETURN, BARRIER = 0xFF00, 0xFF01, 0xFF02, 0xFF03  # tags of words that are marks

# The key of a position holds its outermost four sites, 16 bits each, as an unsigned number whose top bit is flipped, so
# that it can be compared as a signed one. Only equal keys of lanes inside four or more calls need a look at the rest.
KEY_SITES, SITE_BITS = 4, 16
NOWHERE = -(2**63)
ENDED_KEY = 2**63 - 1
BARRIER_KEY = ENDED_KEY - 1

# What compiled functions return.
DONE, TOO_DEEP, TOO_MANY_OPS, BAD_BLOCK, BAD_WORD, STARVED = range(6)

LANE = np.dtype(
    [
        ("at", "i8"),  # index of the next word
        ("stop", "i8"),  # index after the last one
        ("more", "i8"),  # whether its words go on after that, elsewhere
        ("key", "i8"),
        ("outer", "i8"),  # the part of the key that calls make
        ("depth", "i8"),  # calls that it is in
        ("site", "i8"),
    ]
)


@inlined
def settle(words, lane, calls, position, site_of):
    """Pass a lane's calls and returns and set its key to that of the next word.

    Where that is not to be had, or calls go too deep, it can be done again from there when that has changed.

    Args:
        words: i8 [n].
        lane: LANE [n_lanes + 1].
        calls: i8 [n_lanes + 1, deepest], sites of the calls that each lane is in.
        position: of the lane, in ``lane``.
        site_of: i4 [variants], 0 for a variant that was not announced.
    """
    here = lane[position]
    at = here["at"]
    while at < here["stop"]:
        word = words[at]
        tag = (word >> TAG_SHIFT) & TAG_MASK
        site = word & TAG_MASK
        if tag < LATCH:
            site = np.int64(site_of[tag]) if tag < len(site_of) else 0
            if site == 0:
                return BAD_WORD
        elif tag == CALL:
            if here["depth"] == calls.shape[1]:
                here["at"] = at
                return TOO_DEEP
            calls[position, here["depth"]] = site
            here["outer"] ^= shifted(site, here["depth"])
            here["depth"] += 1
            at += 1
            continue
        elif tag == RETURN:
            if here["depth"] == 0:
                return BAD_WORD
            here["depth"] -= 1
            here["outer"] ^= shifted(calls[position, here["depth"]], here["depth"])
            at += 1
            continue
        elif tag > BARRIER:
            return BAD_WORD
        here["at"], here["site"] = at, site
        here["key"] = BARRIER_KEY if tag == BARRIER else here["outer"] ^ shifted(site, here["depth"])
        return DONE
    here["at"], here["key"] = at, ENDED_KEY
    return STARVED if here["more"] else DONE


@inlined
def shifted(site, depth):
    """A site's part of a key."""
    return site << (SITE_BITS * (KEY_SITES - 1 - depth)) if depth < KEY_SITES else np.int64(0)


@inlined
def next_group(lane, calls, n_lanes, group):
    """Put the lanes at the smallest position into ``group`` i8 [n_lanes], ascending; how many they are."""
    key = lane[0]["key"]
    for i in range(1, n_lanes):
        key = min(key, lane[i]["key"])
    if key == ENDED_KEY:
        return np.int64(0)
    count, deep = np.int64(0), False
    for i in range(n_lanes):
        if lane[i]["key"] == key:
            group[count] = i
            deep |= lane[i]["depth"] >= KEY_SITES
            count += 1
    if not deep or key == BARRIER_KEY:
        return count
    first = group[0]
    for i in range(1, count):
        if compare(lane, calls, group[i], first) < 0:
            first = group[i]
    kept = np.int64(0)
    for i in range(count):
        if compare(lane, calls, group[i], first) == 0:
            group[kept] = group[i]
            kept += 1
    return kept


@loop
def compare(lane, calls, i, j):
    """-1, 0 or 1 as lane i's position, which is no barrier, is before, at or after lane j's."""
    depth_i, depth_j = lane[i]["depth"], lane[j]["depth"]
    for level in range(max(depth_i, depth_j) + 1):
        of_i = calls[i, level] if level < depth_i else lane[i]["site"] if level == depth_i else 0
        of_j = calls[j, level] if level < depth_j else lane[j]["site"] if level == depth_j else 0
        if of_i != of_j:
            return -1 if of_i < of_j else 1
    return 0


@inlined
def note(lane, calls, source, target):
    """Keep a copy of a lane's position in another row."""
    lane[target] = lane[source]
    for level in range(lane[source]["depth"]):
        calls[target, level] = calls[source, level]
