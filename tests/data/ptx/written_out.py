"""The shape of what torch.compile writes out (TORCH_LOGS=output_code), of relu(a + b), written by hand."""

import torch
from torch._C import _cuda_getCurrentRawStream as get_raw_stream
from torch._inductor.async_compile import AsyncCompile

empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda
async_compile = AsyncCompile()

relu_of_sum = async_compile.triton(
    "relu_of_sum",
    """
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.hints import DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton_heuristics.pointwise(
    size_hints={"x": 4096},
    filename=__file__,
    triton_meta={
        "signature": {
            "in_ptr0": "*fp32", "in_ptr1": "*fp32", "out_ptr0": "*fp32", "xnumel": "i32", "XBLOCK": "constexpr",
        },
        "device": DeviceProperties(
            type="cuda", index=0, multi_processor_count=84, cc=86, major=8, regs_per_multiprocessor=65536,
            max_threads_per_multi_processor=1536, warp_size=32,
        ),
        "constants": {},
        "configs": [{(k,): [["tt.divisibility", 16]] for k in range(4)}],
    },
    inductor_meta={
        "grid_type": "Grid1D", "autotune_hints": set(), "kernel_name": "relu_of_sum", "mutated_arg_names": [],
        "autotune_pointwise": True, "autotune_local_cache": True, "spill_threshold": 16,
    },
    min_elem_per_thread=0,
)
@triton.jit
def relu_of_sum(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK: tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    total = tl.load(in_ptr0 + xindex, xmask) + tl.load(in_ptr1 + xindex, xmask)
    tl.store(out_ptr0 + xindex, triton_helpers.maximum(total, 0.0), xmask)
""",
    device_str="cuda",
)
async_compile.wait(globals())
del async_compile


def call(args):
    a, b = args
    args.clear()
    with torch.cuda._DeviceGuard(0):
        torch.cuda.set_device(0)
        out = empty_strided_cuda((64, 64), (64, 1), torch.float32)
        relu_of_sum.run(a, b, out, 4096, stream=get_raw_stream(0))
        del a, b
    return (out,)


if __name__ == "__main__":
    a, b = (torch.randn(64, 64, device="cuda:0") for _ in range(2))
    (out,) = call([a, b])
    assert torch.equal(out, torch.relu(a + b))
