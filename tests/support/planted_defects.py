"""Ten defects, each planted into a program by changing one line: what is changed, and where it costs."""

from __future__ import annotations

from dataclasses import dataclass

from places import DATA

PROGRAM = DATA / "check" / "kernels.cu"


@dataclass(frozen=True)
class PlantedDefect:
    """A defect.

    Attributes:
        name: what it is.
        kernel: that it makes worse.
        before, after: text of the program, and what takes its place.
        costs: a part of the line on which it costs, in the changed program.
        figure: that must be reported.
    """

    name: str
    kernel: str
    before: str
    after: str
    costs: str
    figure: str

    def lines(self, text: str) -> tuple[str, int]:
        """The changed program, and the number of the line on which the defect costs."""
        assert text.count(self.before) == 1, self.name
        changed = text.replace(self.before, self.after)
        found = [number for number, line in enumerate(changed.splitlines(), 1) if self.costs in line]
        assert len(found) == 1, (self.name, found)
        return changed, found[0]


DEFECTS = (
    PlantedDefect("scattered loads", "scale", "value = in[i];\n  float extra", "value = in[8 * i];\n  float extra",
                  "in[8 * i]", "sectors_per_request"),
    PlantedDefect("misaligned loads", "scale", "value = in[i];\n  float extra", "value = in[i + 1];\n  float extra",
                  "in[i + 1]", "sectors_per_request"),
    PlantedDefect("scattered stores", "scale", "  out[i] = 2.0f", "  out[4 * i] = 2.0f", "out[4 * i]",
                  "sectors_per_request"),
    PlantedDefect("another array is read", "scale", "extra = 0.0f;", "extra = more[i];", "more[i]", "dram_bytes"),
    PlantedDefect("rows are not padded", "turn", "tile[32][33]", "tile[32][32]", "tile[threadIdx.x][threadIdx.y]",
                  "bank_conflicts"),
    PlantedDefect("conflicting stores", "turn", "  tile[threadIdx.y][threadIdx.x] =",
                  "  tile[0][(threadIdx.x * 32 + threadIdx.y) % 1024] =", "% 1024]", "bank_conflicts"),
    PlantedDefect("much shared memory", "total", "parts[256]", "parts[12 * 1024]", "void total", "occupancy"),
    PlantedDefect("an atomic per thread", "total", "  if (threadIdx.x == 0)\n    atomicAdd(sum, parts[0]);",
                  "  atomicAdd(sum + threadIdx.x % 4,\n    mine);", "atomicAdd(sum + threadIdx.x", "time"),
    PlantedDefect("weights of each thread", "weigh", "weights[k];", "weights[4 * i + k];", "weights[4 * i",
                  "sectors_per_request"),
    PlantedDefect("more arithmetic", "weigh", "k < 4; k++)\n    value = value * 0.5f",
                  "k < 4; k++)\n    for (int j = 0; j < 60; j++) value = __sinf(value) * 0.5f", "void weigh", "time"),
)  # fmt: skip
