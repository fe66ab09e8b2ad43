"""A program for the table of Triton's releases in docs/how_to/python_kernels.md: a tuner, a matrix product and timers.

pip install --no-deps --target FOLDER triton==3.4.0
PYTHONPATH=FOLDER MEMSIM_PYTHON=PYTHON memsim capture --to-end -o t.h5 experiments/python_programs/release.py
"""

import torch
import triton
import triton.language as tl


@triton.autotune([triton.Config({"BLOCK": block}) for block in (128, 256)], key=["n"])
@triton.jit
def add_one(x, y, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + o, tl.load(x + o, mask=o < n) + 1, mask=o < n)


@triton.jit
def multiply(a, b, c, N: tl.constexpr):
    o = tl.arange(0, N)
    at = o[:, None] * N + o[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))


def launch(x, y):
    """Add one, in as many blocks as the tuner's choice needs."""
    add_one[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())


x = torch.rand(5000, device="cuda")
y = torch.empty_like(x)
launch(x, y)
assert torch.equal(y, x + 1)
a, b = (torch.randn(32, 32, device="cuda", dtype=torch.float16) for _ in "ab")
c = torch.empty(32, 32, device="cuda")
multiply[(1,)](a, b, c, 32)
torch.testing.assert_close(c, a.float() @ b.float(), rtol=1e-3, atol=1e-3)
assert triton.testing.do_bench(lambda: launch(x, y)) > 0
assert triton.testing.do_bench(lambda: torch.mm(a, b)) == 0
