"""Compares what a GPU left of random programs' words with what memsim's two machines leave."""

from __future__ import annotations

import json
import lzma
import tarfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from experiments.silicon.random_programs import device, package, typed
from memsim.sources.ptx import DeviceMemory, PtxLaunch, execute
from memsim.sources.sass.disassembly import disassemble
from memsim.sources.sass.elf import read_cubin
from memsim.sources.sass.kernel import SassKernel
from memsim.sources.sass.program import unknown_instructions
from memsim.support.errors import InputError


@dataclass
class Comparison:
    """What was found.

    Attributes:
        programs: how many were compared.
        fell_back: instructions that the SASS machine does not know, with the programs that have them.
        lines: one for each difference.
        differing: differing programs by pair of machines.
        equal: programs whose memory a GPU left as both, one or neither of the machines, bit by bit, by kind and which.
    """

    programs: int = 0
    fell_back: Counter[str] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)
    differing: Counter[str] = field(default_factory=Counter)
    equal: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __str__(self) -> str:
        parts = [*self.lines, f"{self.programs} programs compared"]
        parts += [f"{pair}: {number} programs differ" for pair, number in self.differing.items()]
        parts += [
            f"{kind}: the GPU's bits are those of {which}: {n}" for (kind, which), n in sorted(self.equal.items())
        ]
        parts += [f"not known, in {number} programs: {what}" for what, number in self.fell_back.most_common()]
        return "\n".join(parts)


def compare(folder: Path, results: Path, most: int | None = None, kinds: tuple[str, ...] = ()) -> Comparison:
    """Run the packed programs on both machines, and compare these and the results of a GPU.

    Args:
        folder: what :func:`package.write` wrote.
        results: with the tar files of a GPU's run; without any, the machines are compared with each other alone.
        most: programs of a kind; None: all.
        kinds: those to compare; none: all.
    """
    found, left = Comparison(), Counter({kind: most for kind in package.KINDS if most is not None})
    inputs, measured = np.load(folder / "words.npz"), read_results(results)
    for batch in json.loads((folder / "batches.json").read_text()):
        kind = batch["kind"]
        if (kinds and kind not in kinds) or (most is not None and left[kind] <= 0):
            continue
        left[kind] -= len(batch["seeds"])
        for seed, words in _machines(folder, batch, inputs[kind], found):
            if batch["name"] in measured and f"{batch['name']}/{seed}" not in measured.bad:
                words["gpu"] = measured.words(batch, seed, inputs[kind])
            _tell(found, kind, seed, words)
    return found


class Results(dict[str, bytes]):
    """Packed changes of words by batch, with the programs that failed on the GPU."""

    bad: frozenset[str] = frozenset()

    def words(self, batch: dict, seed: int, inputs: np.ndarray) -> np.ndarray:
        """What a program left."""
        number, words = batch["seeds"].index(seed), inputs[seed % len(inputs)]
        return device.unpack(self[batch["name"]], words)[number] ^ words


def read_results(folder: Path) -> Results:
    """Read the tar files of a GPU's run."""
    found = Results()
    for path in sorted(folder.glob("results_*.tar")):
        with tarfile.open(path) as file:
            for member in file.getmembers():
                data = file.extractfile(member)
                assert data is not None, member.name
                if member.name == "summary.json":
                    found.bad = frozenset(json.load(data)["bad"])
                else:
                    found[Path(member.name).stem] = data.read()
    return found


def _machines(
    folder: Path, batch: dict, inputs: np.ndarray, found: Comparison
) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """What each machine leaves of each program's words."""
    image = lzma.decompress((folder / f"{batch['name']}.xz").read_bytes())
    if image[:4] != b"\x7fELF":
        raise InputError("random programs", batch["name"], "is PTX; compare needs the cubins that ran")
    code, cubin = disassemble(image), read_cubin(image)
    kind = package.KINDS[batch["kind"]]
    for seed in batch["seeds"]:
        text = package.module_text(kind, [seed], cubin.architecture)
        entry, left = f"program_{seed}", {}
        try:
            left["ptx"] = run(text, entry, kind, inputs[seed % len(inputs)], None)
        except InputError as error:
            found.fell_back[f"PTX: {str(error).split(': ', 1)[-1]}"] += 1
        kernel = SassKernel(entry, tuple(code[entry]), cubin)
        problems = unknown_instructions(kernel)
        found.fell_back.update({problem.split(" has ")[0].split()[0] for problem in problems})
        if not problems:
            left["sass"] = run(text, entry, kind, inputs[seed % len(inputs)], kernel)
        yield seed, left


def run(text: str, entry: str, kind: package.Kind, words: np.ndarray, kernel: SassKernel | None) -> np.ndarray:
    """What a launch leaves of a program's words: of its PTX or, given, of its machine code."""
    memory, left = DeviceMemory(), words.copy()
    launch = PtxLaunch(text, entry, (kind.blocks, 1, 1), (kind.threads, 1, 1), [memory.add(left, "words")])
    execute(launch if kernel is None else replace(launch, sass=kernel), memory)
    return left


def _tell(found: Comparison, kind: str, seed: int, words: dict[str, np.ndarray]) -> None:
    found.programs += 1
    if "gpu" in words:
        same = [one for one in ("sass", "ptx") if one in words and (words[one] == words["gpu"]).all()]
        found.equal[kind, " and ".join(same) or "neither machine"] += 1
    for one, other in (("ptx", "sass"), ("gpu", "sass"), ("gpu", "ptx")):
        if one not in words or other not in words:
            continue
        strict = words[one] != words[other]
        differs = strict if kind == "control" else typed.differing(words[one], words[other])
        if not strict.any():
            continue
        pair = f"{one} and {other}" + ("" if differs.any() else ", in bits of a NaN alone")
        found.differing[pair] += 1
        if differs.any():
            found.lines.append(
                f"{package.named(kind, seed)}: {pair}: {_where(kind, differs, words[one], words[other])}"
            )


def _where(kind: str, differs: np.ndarray, one: np.ndarray, other: np.ndarray) -> str:
    first = tuple(np.argwhere(differs)[0].tolist())
    values = f"{int(differs.sum())} words, first {int(one[first]):#x} and {int(other[first]):#x}"
    if kind == "control":
        return f"word {first[0]}, {values}"
    registers = sorted({f"%{typed.KINDS[k]}{number}" for _, k, number in np.argwhere(differs).tolist()})
    return f"{' '.join(registers)} from thread {first[0]}, {values}"
