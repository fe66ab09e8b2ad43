"""Which lane of which warp accesses which element, by Triton alone: its interpreter for tiles, TTGIR for lanes.

The interpreter runs a kernel's own Python on tiles and tells the pointers of every load and store; the blocked layout
of the same access in TTGIR says which thread holds which element of a tile. Two rules are added: registers of a thread
that hold the same element load it once, and of several threads that hold an element one stores it.
"""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

WARP = 32
# (line, array) -> of every block, warp and lane: how often it accesses each element, by the element's number.
Found = dict[tuple[int, str], dict[tuple[int, int, int], Counter[int]]]


@dataclass(frozen=True)
class Tile:
    """One access of one program: its line, the array, the numbers of the tile's elements, and which take part."""

    block: int
    line: int
    stores: bool
    array: str
    elements: np.ndarray
    mask: np.ndarray


def tiles(file: Path, kernel: str, grid, arguments, constants) -> list[Tile]:
    """All accesses of a launch, by the interpreter: in a process of its own, as it must be chosen before an import."""
    asked = pickle.dumps((str(file), kernel, grid, arguments, constants))
    child = [sys.executable, str(Path(__file__).with_name("triton_interpreted.py"))]
    environment = os.environ | {"TRITON_INTERPRET": "1"}
    return [
        Tile(*one)
        for one in pickle.loads(
            subprocess.run(child, input=asked, stdout=subprocess.PIPE, check=True, env=environment).stdout
        )
    ]


_ACCESS = re.compile(
    r"(tt\.load|tt\.store|ttg\.async_copy_global_to_local) .*?tensor<([\dx]+)x!tt\.ptr<\w+>, #(\w+)>.*loc\((#\w+)\)"
)
_LAYOUT = re.compile(r"^#(\w+) = #ttg\.blocked<\{(.*)\}>", re.MULTILINE)
_PLACE = re.compile(r'^(#loc\w*) = loc\((?:".*?"\()?(?:"[^"]*":(\d+):\d+|callsite\((#\w+)|(#\w+))', re.MULTILINE)


def layouts(ttgir: str) -> dict[int, list[tuple[tuple[int, ...], dict[str, list[int]]]]]:
    """By line: shape of the tile and its blocked layout, of every access that stands there."""
    blocked = {
        name: {key: [int(n) for n in value.split(",")] for key, value in re.findall(r"(\w+) = \[([\d, ]+)\]", body)}
        for name, body in _LAYOUT.findall(ttgir)
    }
    places = {name: (line, call or other) for name, line, call, other in _PLACE.findall(ttgir)}
    found: dict[int, list] = {}
    for _, shape, layout, place in _ACCESS.findall(ttgir):
        while not places[place][0]:
            place = places[place][1]
        one = (tuple(map(int, shape.split("x"))), blocked[layout])
        if one not in found.setdefault(int(places[place][0]), []):
            found[int(places[place][0])].append(one)
    return found


def holders(shape, layout) -> list[tuple[int, int, tuple[int, ...]]]:
    """(warp, lane, element) of every element that a thread holds, each once a thread, in the order of threads."""
    size, threads, warps, order = (layout[key] for key in ("sizePerThread", "threadsPerWarp", "warpsPerCTA", "order"))
    covered = [s * t * w for s, t, w in zip(size, threads, warps, strict=True)]
    repeats = [range(0, max(extent, cover), cover) for extent, cover in zip(shape, covered, strict=True)]
    found: dict[tuple[int, int, tuple[int, ...]], None] = {}
    for warp, lane in product(range(int(np.prod(warps))), range(WARP)):
        at_warp, at_lane = _unravel(warp, warps, order), _unravel(lane, threads, order)
        first = [s * (la + t * wa) for s, t, la, wa in zip(size, threads, at_lane, at_warp, strict=True)]
        for start in product(*repeats):
            for register in product(*map(range, size)):
                place = (f + s + r for f, s, r in zip(first, start, register, strict=True))
                found[warp, lane, tuple(p % extent for p, extent in zip(place, shape, strict=True))] = None
    return list(found)


def _unravel(number, extents, order):
    place = [0] * len(extents)
    for axis in order:
        number, place[axis] = divmod(number, extents[axis])
    return place


def accesses(file: Path, kernel: str, grid, arguments, constants, ttgir: str) -> Found:
    """What every lane accesses, of arrays named by the kernel's parameters; accesses of no layout are left out."""
    by_line = layouts(ttgir)
    found: Found = {}
    for tile in tiles(file, kernel, grid, arguments, constants):
        fitting = [one for one in by_line.get(tile.line, ()) if one[0] == tile.elements.shape]
        if not fitting:
            continue
        lanes = found.setdefault((tile.line, tile.array), {})
        for warp, lane, element in holders_of(*fitting[0], tile.stores):
            if tile.mask[element]:
                lanes.setdefault((tile.block, warp, lane), Counter())[int(tile.elements[element])] += 1
    return found


_KNOWN: dict[str, list] = {}


def holders_of(shape, layout, stores):
    """The holders that load or store: all of them load, the first of an element stores."""
    key = f"{shape} {layout} {stores}"
    if key not in _KNOWN:
        all_ = holders(shape, layout)
        first = {element: (warp, lane) for warp, lane, element in reversed(all_)}
        _KNOWN[key] = [(w, lane, e) for e, (w, lane) in first.items()] if stores else all_
    return _KNOWN[key]
