"""Imports what Neutrino's probes saved of one launch: clocks and addresses by thread.

A file states neither what an access does nor how wide it is, so the user states it for each map. Lanes of a warp
that saved the same clock made the same access: a warp reads its SM's clock at once. Nothing shows what depends on
what, and every access waits for those before it in its warp.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from memsim.sources.imported.accelsim.convert import convert_text
from memsim.sources.imported.neutrino.trace_file import TraceFile, open_trace
from memsim.sources.imported.steps import Step
from memsim.sources.imported.text import Progress
from memsim.sources.outputs import trace_paths
from memsim.support.errors import InputError
from memsim.trace.reader import Trace
from memsim.trace.schema import Instructions

_WARP = 32
_LARGEST = 1 << 57
_OPCODES = {"load": "LDG.E", "store": "STG.E", "atomic": "ATOMG.E.ADD", "reduction": "RED.E.ADD", "copy": "LDGSTS.E"}
_WIDTHS = {1: ".U8", 2: ".U16", 4: "", 8: ".64", 16: ".128"}


@dataclass(frozen=True)
class Probe:
    """What the accesses of a map are: load, store, atomic, reduction or copy; bytes of a lane.

    >>> Probe.of("load:8")
    Probe(does='load', width=8)
    """

    does: str
    width: int

    @staticmethod
    def of(text: str) -> Probe:
        """A probe from its text.

        Raises:
            InputError: it is none.
        """
        found = re.fullmatch(r"(\w+):(\d{1,2})", text)
        if not found or found[1] not in _OPCODES or int(found[2]) not in _WIDTHS:
            problem = (
                f"is {text[:40]!r}; give KIND:BYTES with a kind of {', '.join(_OPCODES)} and 1, 2, 4, 8 or 16 bytes"
            )
            raise InputError("memsim import neutrino", "probe", problem)
        return Probe(found[1], int(found[2]))

    @property
    def opcode(self) -> str:
        return _OPCODES[self.does] + _WIDTHS[self.width]


def import_neutrino(
    source: str | Path, probes: Sequence[Probe], out: str | Path | None = None, progress: Progress | None = None
) -> list[Trace]:
    """Convert one launch's ``.bin`` of Neutrino to a trace file.

    Args:
        source: the file; its maps hold a clock and an address a record, as those of Neutrino's tool ``dmat``.
        probes: what the accesses of each map are, in the order of the maps.
        out: a folder, or a file that ends with ``.h5``; None: the current folder.
        progress: called with the blocks that are read, and all.

    Raises:
        InputError: anything in the file that is not as it must be; not one probe a map; no access at all; a place that
            cannot be written.
        OSError: the system does not let the file be read.
    """
    source = Path(source)
    file = open_trace(source)
    if len(probes) != len(file.maps):
        problem = f"are {len(probes)}, but the file has {len(file.maps)} maps; give --probe KIND:BYTES once for each"
        raise InputError(source, "probes", problem)
    if not any((one["address"] != 0).any() for one in file.maps):
        raise InputError(source, "file", "has no access; give a .bin of a probe that saves clocks and addresses")
    (path,) = trace_paths(out, [source.stem])
    return [convert_text(source, _text(file, probes, progress), path, instructions=Instructions.none)]


def _text(file: TraceFile, probes: Sequence[Probe], progress: Progress | None) -> Iterator[bytearray]:
    """The file as an Accel-Sim trace, a block of threads at a time."""
    grid, block = ("({},{},{})".format(*extents) for extents in (file.grid, file.block))
    head = f"-kernel name = {file.path.stem}\n-grid dim = {grid}\n-block dim = {block}\n-shmem = {file.shared_bytes}\n"
    yield bytearray(f"{head}-accelsim tracer version = 3\n#\n".encode())
    blocks, threads = file.maps[0].shape[:2]
    for number in range(blocks):
        x, y, z = np.unravel_index(number, file.grid, "F")
        text = f"#BEGIN_TB\nthread block = {x},{y},{z}\n"
        for warp in range(-(-threads // _WARP)):
            lanes = slice(_WARP * warp, _WARP * (warp + 1))
            lines = _lines(file, [one[number, lanes] for one in file.maps], probes)
            text += f"warp = {warp}\ninsts = {len(lines)}\n" + "".join(f"{line}\n" for line in lines)
        if progress:
            progress(number + 1, blocks)
        yield bytearray((text + "#END_TB\n").encode())


def _lines(file: TraceFile, maps: list[np.ndarray], probes: Sequence[Probe]) -> list[str]:
    """A warp's accesses in the order of their clocks.

    Args:
        file: for messages.
        maps: RECORD [lanes, records of a thread], of the warp.
        probes: what the maps' accesses are.
    """
    lane, at, which = (np.concatenate(columns) for columns in zip(*map(_used, maps, range(len(maps))), strict=True))
    used = np.concatenate([one[one["address"] != 0] for one in maps])
    if (used["address"] >= _LARGEST).any():
        raise InputError(file.path, "address", f"is {used['address'].max():#x}; addresses have 57 bits at most")
    order = np.lexsort((lane, at, which, used["clock"]))
    key = np.stack([used["clock"][order], which[order].astype(np.uint64)])
    starts = 1 + np.flatnonzero((key[:, 1:] != key[:, :-1]).any(axis=0))
    lines: list[str] = []
    for group in np.split(order, starts) if len(order) else []:
        number = int(which[group[0]])
        mask = sum(1 << int(each) for each in lane[group])
        where = "".join(f" {int(address):x}" for address in used["address"][group])
        step = Step(f"{16 * number:x}", mask, probes[number].opcode, (), (), f"{probes[number].width} 0{where}")
        lines += step.waiting_for_all()
    return lines


def _used(one: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lane, place in its thread and map of every record that was used."""
    lane, at = np.nonzero(one["address"])
    return lane, at, np.full(len(lane), number)
