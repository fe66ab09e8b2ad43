"""Candidates of four kernels, each right, wrong, slow, out of bounds and endless, in several wordings.

All are made from right ones by small edits whose outcome is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

VERDICTS = ("right", "wrong", "slow", "out of bounds", "endless")


@dataclass(frozen=True)
class KernelTask:
    """A task with a right candidate, and what each edit replaces in it.

    Attributes:
        name: of the kernel.
        task: text of the task file.
        right: text of a right candidate.
        edits: by verdict, (text, what takes its place) for each edit.
    """

    name: str
    task: str
    right: str
    edits: dict[str, tuple[tuple[str, str], ...]]

    def candidates(self, each: int) -> Iterator[tuple[str, str, str]]:
        """Name, text and verdict; `each` of a verdict, which differ in how values are named and blocks commented."""
        for verdict in VERDICTS:
            for number in range(each):
                text = self.right
                edits = self.edits.get(verdict, ())
                if edits:
                    before, after = edits[number % len(edits)]
                    assert text.count(before) == 1, (self.name, verdict, before)
                    text = text.replace(before, after)
                text = text.replace("value", f"value{number}")
                yield f"{self.name}-{verdict.replace(' ', '_')}-{number}", f"// {number}\n{text}", verdict


_HEAD = "import numpy as np\nrandom = np.random.default_rng(0)\n"

TASKS = (
    KernelTask(
        "scale",
        _HEAD + """
n = 1 << 14
kernel, grid, block, time_limit_us = "scale", n // 256, 256, 4.5
arguments = {"out": np.zeros(n, np.float32), "in": random.random(n, np.float32), "n": n}
expected = {"out": 2 * arguments["in"]}
""",
        """__global__ void scale(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = in[i];
  if (i < n) out[i] = 2.0f * value;
}
""",
        {
            "wrong": (("2.0f * value", "2.5f * value"), ("in[i]", "in[i ^ 1]"), ("out[i]", "out[i & ~1]")),
            "slow": (
                ("float value = in[i];", "float value = 0; for (int k = 0; k < 99; k++) "
                 "value += in[(i * 33 + 256 * k) % n]; "
                 "value = value > 1e30f ? value : in[i];"),
            ),
            "out of bounds": (("in[i]", "in[i + n]"), ("out[i]", "out[i - n]"), ("in[i]", "in[i + 1]")),
            "endless": (
                ("float value = in[i];", "float value = in[i]; while (value < 2) value *= 0.5f;"),
                ("if (i < n)", "for (volatile int k = 0; k >= 0;) k = 1; if (i < n)"),
            ),
        },
    ),
    KernelTask(
        "turn",
        _HEAD + """
n = 128
kernel, grid, block, time_limit_us = "turn", (4, 4), (32, 32), 4.5
arguments = {"out": np.zeros((n, n), np.float32), "in": random.random((n, n), np.float32)}
expected = lambda arguments: {"out": arguments["in"].T}
""",
        """__global__ void turn(float *out, const float *in) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  float value = in[y * 128 + x];
  tile[threadIdx.y][threadIdx.x] = value;
  __syncthreads();
  out[(blockIdx.x * 32 + threadIdx.y) * 128 + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
""",
        {
            "wrong": (
                ("tile[threadIdx.x][threadIdx.y]", "tile[threadIdx.y][threadIdx.x]"), ("= value;", "= -value;"),
            ),
            "slow": (
                ("__syncthreads();", "for (int k = 0; k < 4; k++) { __syncthreads(); "
                 "tile[threadIdx.y][threadIdx.x] += 0 * in[(x * 128 + y + k) % 16384]; } __syncthreads();"),
            ),
            "out of bounds": (("in[y * 128 + x]", "in[y * 129 + x]"), ("* 128 + blockIdx.y", "* 160 + blockIdx.y")),
            "endless": (("__syncthreads();", "__syncthreads(); while (tile[0][0] >= 0) __syncthreads();"),),
        },
    ),
    KernelTask(
        "total",
        _HEAD + """
n = 1 << 13
kernel, grid, block, time_limit_us = "total", n // 256, 256, 5.0
arguments = {"sums": np.zeros(n // 256, np.int32), "in": random.integers(-99, 99, n, np.int32)}
expected = {"sums": arguments["in"].reshape(-1, 256).sum(axis=1, dtype=np.int32)}
""",
        """__global__ void total(int *sums, const int *in) {
  __shared__ int parts[256];
  int value = in[blockIdx.x * 256 + threadIdx.x];
  parts[threadIdx.x] = value;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = parts[0];
}
""",
        {
            "wrong": (("half > 0", "half > 1"), ("half = 128", "half = 64"), ("+= parts", "-= parts")),
            "slow": (
                ("if (threadIdx.x == 0)", "int more = 0; for (int k = 0; k < 64; k++) "
                 "more += in[(threadIdx.x * 32 + k * 1031) % 8192]; if (more == 12345678) sums[0] = 0; "
                 "if (threadIdx.x == 0)"),
            ),
            "out of bounds": (("sums[blockIdx.x]", "sums[blockIdx.x * 256]"), ("in[blockIdx", "in[8 + blockIdx")),
            "endless": (("half /= 2", "half = (half + 1) / 2"),),
        },
    ),
    KernelTask(
        "product",
        _HEAD + """
n = 64
kernel, grid, block, time_limit_us = "product", (4, 4), (16, 16), 11.0
arguments = {"c": np.zeros((n, n), np.float32), "a": random.random((n, n), np.float32),
             "b": random.random((n, n), np.float32), "n": n}
expected = {"c": arguments["a"] @ arguments["b"]}
""",
        """__global__ void product(float *c, const float *a, const float *b, int n) {
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float value = 0;
  for (int k = 0; k < n; k++)
    value += a[row * n + k] * b[k * n + column];
  c[row * n + column] = value;
}
""",
        {
            "wrong": (("k = 0", "k = 1"), ("value = 0", "value = 1"), ("b[k * n + column]", "b[column * n + k]")),
            "slow": (("k < n; k++)", "k < n; k++) for (volatile int j = 0; j < 4; j = j + 1) if (j == 0)"),),
            "out of bounds": (("k < n", "k <= n"), ("c[row * n + column]", "c[row * 2 * n + column]")),
            "endless": (("k < n; k++", "k < n; k -= value > 1e30f ? 1 : 0"),),
        },
    ),
)  # fmt: skip
