"""What the paper's section 6.1 says of each step from one version of a program to another, and whether ours agrees."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.cumapz2011.programs import PROGRAMS
from experiments.harness.readme import markdown
from memsim.gpu.config import GPU
from memsim.models.cumapz import Factors, estimate

UP, DOWN, SAME = "rises", "falls", "stays"
STAYS = 1.2  # times more or less that is still "barely changes"


@dataclass(frozen=True)
class Step:
    """One sentence of the text: from one version of a program to another, a factor rises, falls or stays."""

    program: str
    before: str
    after: str
    factor: str
    text: str


STEPS = (
    Step("Laplace", "[-1][-1]", "[-1][+0]", "bw_util", UP),
    Step("Laplace", "[+0][-1]", "[+0][+0]", "mpe", UP),
    Step("Laplace", "[+1][+0]", "[+1][+1]", "mpe", DOWN),
    Step("Wavelet", "1", "2", "mpe", UP),
    Step("Wavelet", "2", "3", "mpe", DOWN),
    Step("Wavelet", "2", "6", "data_reuse", DOWN),
    Step("Wavelet", "2", "6", "branch_eff", UP),
    Step("Wavelet", "1", "6", "lat_hiding", UP),
    Step("MatrixMul", "B", "A", "bw_util", UP),
    Step("MatrixMul", "B", "A", "mpe", UP),
    Step("MatrixMul", "A", "AB", "lat_hiding", UP),
    Step("MatrixMul", "AB", "AB_x", "lat_hiding", UP),
    Step("MatrixMul", "AB", "AB_x", "shm_eff", DOWN),
    Step("MatrixMul", "AB", "AB_y", "lat_hiding", UP),
    Step("MatrixMul", "AB", "AB_y", "shm_eff", SAME),
    Step("Transpose", "shared", "padded", "shm_eff", UP),
    Step("Transpose", "shared", "padded", "ch_skew", SAME),
    Step("Transpose", "padded", "diagonal", "ch_skew", DOWN),
    Step("Transpose", "diagonal", "diagonal, unpadded", "shm_eff", DOWN),
    Step("Transpose", "diagonal", "diagonal, unpadded", "mpe", DOWN),
    Step("Gaussian", "16", "2_x", "lat_hiding", UP),
    Step("Gaussian", "16", "2_x", "shm_eff", DOWN),
    Step("Gaussian", "2_x", "4_x", "bw_util", DOWN),
    Step("Gaussian", "16", "2_y", "lat_hiding", UP),
    Step("Gaussian", "2_y", "4_y", "lat_hiding", UP),
    Step("LUD", "16", "8_x", "lat_hiding", UP),
    Step("LUD", "16", "8_x", "shm_eff", DOWN),
    Step("LUD", "16", "8_x", "mpe", SAME),
    Step("LUD", "8_x", "4_x", "mpe", DOWN),
    Step("Hotspot", "original", "diagonal", "ch_skew", UP),
    Step("Hotspot", "original", "turned", "bw_util", DOWN),
    Step("Hotspot", "original", "turned", "shm_eff", DOWN),
    Step("Hotspot", "diagonal", "diagonal, turned", "mpe", DOWN),
    Step("BackProp", "original", "turned", "bw_util", DOWN),
    Step("BackProp", "original", "turned", "shm_eff", DOWN),
    Step("BackProp", "original", "turned", "mpe", DOWN),
)


def factors(gpu: GPU) -> dict[tuple[str, str], Factors]:
    """Of every version of every program."""
    return {
        (name, version): estimate(program, gpu)
        for name, versions in PROGRAMS.items()
        for version, program in versions().items()
    }


def direction(step: Step, found: dict[tuple[str, str], Factors]) -> str:
    """What ours does at a step."""
    before, after = (getattr(found[step.program, version], step.factor) for version in (step.before, step.after))
    if step.text == SAME and 1 / STAYS <= after / before <= STAYS:
        return SAME
    return UP if after > before else DOWN if after < before else SAME


def agreeing(found: dict[tuple[str, str], Factors]) -> int:
    """Steps at which ours does what the text says."""
    return sum(direction(step, found) == step.text for step in STEPS)


def table(found: dict[tuple[str, str], Factors]) -> str:
    """The steps, as Markdown."""
    rows = []
    for step in STEPS:
        before, after = (getattr(found[step.program, version], step.factor) for version in (step.before, step.after))
        ours = direction(step, found)
        verdict = ours if ours == step.text else f"**{ours}**"
        rows.append([step.program, f"{step.before} → {step.after}", step.factor, step.text, verdict,
                     f"{before:.3g}", f"{after:.3g}"])  # fmt: skip
    return markdown(["program", "step", "factor", "text", "memsim", "before", "after"], rows, left=5)
