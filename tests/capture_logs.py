"""Logs of instrumented programs, written by hand for tests."""

import json
import struct

import numpy as np

from memsim.sources.capture.lane_log import HEADER, MessageKind

LATCH, CALL, RETURN, BARRIER = 0xFF00, 0xFF01, 0xFF02, 0xFF03


def access(variant, address):
    """The word of an access."""
    return variant << 48 | address


def latch(site):
    return LATCH << 48 | site


def call(site):
    return CALL << 48 | site


RETURNED, WAITED = RETURN << 48, BARRIER << 48


def message(kind, payload):
    return HEADER.pack(kind, 0, len(payload)) + payload


def launch(grid=(1, 1, 1), block=(32, 1, 1), kernel="k", index=0, **more):
    fields = dict(kernel=kernel, file="app.cu", line=1, index=index, grid=grid, block=block)
    return message(MessageKind.launch, json.dumps(fields | more).encode())


def array(name, base, size, space="global", element_bytes=4, **more):
    fields = dict(name=name, space=space, base=base, bytes=size, element_bytes=element_bytes)
    return message(MessageKind.array, json.dumps(fields | more).encode())


def free(base):
    return message(MessageKind.free, json.dumps({"base": base}).encode())


def variant(number, site, width=4):
    return message(MessageKind.variant, struct.pack("<III", number, site, width))


def block(number, threads, kind=MessageKind.block):
    """``threads``: the words of each thread of the block, in order."""
    offsets = np.cumsum([0, *map(len, threads)])
    words = [word for thread in threads for word in thread]
    return message(kind, np.array([number, len(threads), *offsets, *words], np.uint64).tobytes())


def part(number, threads):
    """The words that the threads of a block have at first, or after a part before."""
    return block(number, threads, MessageKind.part)


def records(*rows):
    """Records of a GPU: (block, warp, variant or mark, mask, space or site, addresses)."""
    words = []
    for number, warp, what, mask, last, addresses in rows:
        words += [number, warp | what << 16, mask, last, *(half for at in addresses for half in (at % 2**32, at >> 32))]
    return message(MessageKind.records, np.array(words, np.uint32).tobytes())


def end(index=0):
    return message(MessageKind.end, json.dumps({"index": index}).encode())
