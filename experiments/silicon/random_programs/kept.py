"""A few programs in one file: their machine code, and what a GPU left of their words."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments.silicon.random_programs import compare, device, package
from memsim.gpu.presets import load_gpu
from memsim.sources.sass.disassembly import disassemble
from memsim.sources.sass.elf import read_cubin
from memsim.sources.sass.kernel import SassKernel


def keep(folder: Path, results: Path, seeds: dict[str, list[int]], gpu: str, target: Path) -> None:
    """Write programs that ran on a GPU into a file.

    Args:
        folder, results: as :func:`.compare.compare` takes them.
        seeds: by kind.
        gpu: the preset of that GPU.
        target: the file.
    """
    inputs, measured = np.load(folder / "words.npz"), compare.read_results(results)
    batches = json.loads((folder / "batches.json").read_text())
    with zipfile.ZipFile(target, "w", zipfile.ZIP_LZMA) as file:
        file.writestr("seeds.json", json.dumps(seeds))
        for name, wanted in seeds.items():
            text = package.module_text(package.KINDS[name], wanted, load_gpu(gpu).architecture_number)
            file.writestr(f"{name}.cubin", package.cubin_of(text, load_gpu(gpu).architecture_number, name))
            changes = []
            for seed in wanted:
                batch = next(one for one in batches if one["kind"] == name and seed in one["seeds"])
                words = inputs[name][seed % package.INPUTS]
                changes.append(measured.words(batch, seed, inputs[name]) ^ words)
            file.writestr(f"{name}.changes", device.pack(np.stack(changes)), zipfile.ZIP_STORED)


def run_kept(path: Path) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Run the machine code in such a file; gives each program's name, the GPU's words and those of memsim."""
    with zipfile.ZipFile(path) as file:
        for name, seeds in json.loads(file.read("seeds.json")).items():
            kind, image = package.KINDS[name], file.read(f"{name}.cubin")
            code, cubin = disassemble(image), read_cubin(image)
            changes = device.unpack(file.read(f"{name}.changes"), kind.words(0))
            for seed, changed in zip(seeds, changes, strict=True):
                entry, words = f"program_{seed}", kind.words(seed % package.INPUTS)
                kernel = SassKernel(entry, tuple(code[entry]), cubin)
                text = package.module_text(kind, [seed], cubin.architecture)
                yield package.named(name, seed), words ^ changed, compare.run(text, entry, kind, words, kernel)
