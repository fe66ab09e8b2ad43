"""Packs random programs for a GPU: cubins of many programs each, their inputs, and what runs them."""

from __future__ import annotations

import json
import lzma
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.silicon.random_programs import control_flow, device, typed, wide
from memsim.gpu.presets import load_gpu
from memsim.sources.sass.assemble import assemble
from memsim.support.errors import InputError

BATCH = 50  # programs of a cubin
INPUTS = 40  # different inputs; a program takes that of its seed, modulo this number
_HEAD = ".version 8.7\n.target sm_{}\n.address_size 64\n"
_CONTROL_THREADS, _CONTROL_BLOCKS = 48, 2


@dataclass(frozen=True)
class Kind:
    """A kind of random programs.

    Attributes:
        text: the PTX of a seed, with an entry ``program`` whose one parameter is the address of its words.
        words: what its words hold at first, from a seed.
        blocks, threads: of its launch.
    """

    text: Callable[[int], str]
    words: Callable[[int], np.ndarray]
    blocks: int
    threads: int


def _control_words(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 32, control_flow.WORDS, np.uint32)


# What is least known comes first, should a GPU have too little time.
KINDS = {
    "form": Kind(lambda seed: wide.FormProgram(seed).text, typed.words_of, 1, typed.THREADS),
    "wide": Kind(lambda seed: wide.WideProgram(seed).text, typed.words_of, 1, typed.THREADS),
    "typed": Kind(lambda seed: typed.TypedProgram(seed).text, typed.words_of, 1, typed.THREADS),
    "control": Kind(
        lambda seed: control_flow.Program(seed, _CONTROL_THREADS, clear_shared=True).text,
        _control_words,
        _CONTROL_BLOCKS,
        _CONTROL_THREADS,
    ),
}


def named(kind: str, seed: int) -> str:
    """What a message calls a program: kind and seed, and of a program of one form the form."""
    form = wide.ALONE[seed % len(wide.ALONE)][0].replace("\n", " ") if kind == "form" else ""
    return f"{kind} {seed}" + (f" ({form})" if form else "")


def module_text(kind: Kind, seeds: Iterable[int], capability: int) -> str:
    """PTX with an entry ``program_SEED`` of each seed."""
    return _HEAD.format(capability) + "\n".join(entry_text(kind, seed, f"program_{seed}") for seed in seeds)


def entry_text(kind: Kind, seed: int, name: str) -> str:
    """A program's entry, without what stands before it in a module."""
    text = kind.text(seed)
    return text[text.index(".visible .entry") :].replace(".entry program(", f".entry {name}(", 1)


def write(folder: Path, seeds: dict[str, range], gpu: str, *, as_ptx: bool = False) -> None:
    """Write programs, inputs and ``device.py`` into a folder.

    Args:
        seeds: by kind (:data:`KINDS`).
        gpu: the preset whose architecture the code is for.
        as_ptx: leave assembling to the driver.

    Raises:
        InputError: ptxas is missing, or refuses a program.
    """
    folder.mkdir(parents=True, exist_ok=True)
    capability, batches = load_gpu(gpu).architecture_number, []
    for name, wanted in seeds.items():
        kind = KINDS[name]
        for first in range(wanted.start, wanted.stop, BATCH):
            group = list(range(first, min(first + BATCH, wanted.stop)))
            batch = {"name": f"{name}_{first}", "kind": name, "seeds": group, "blocks": kind.blocks,
                     "threads": kind.threads}  # fmt: skip
            text = module_text(kind, group, capability)
            image = text.encode() if as_ptx else cubin_of(text, capability, str(batch["name"]))
            (folder / f"{batch['name']}.xz").write_bytes(lzma.compress(image))
            batches.append(batch)
    words = {name: np.stack([KINDS[name].words(k) for k in range(INPUTS)]) for name in seeds}
    np.savez_compressed(folder / "words.npz", **words)
    (folder / "batches.json").write_text(json.dumps(batches))
    shutil.copy(device.__file__, folder / "device.py")


def cubin_of(text: str, capability: int, name: str) -> bytes:
    """Assemble a module; ``name`` is what an error calls it.

    Raises:
        InputError: ptxas is missing, or refuses it.
    """
    done = assemble(text, capability)
    if done.problem is not None:
        raise InputError("random programs", name, done.problem)
    return done.cubin
