"""Torch without a GPU: tensors that stand for those on one, and kernels that torch.compile wrote out."""

import importlib.util
import math

import numpy as np
import pytest
from places import DATA

import memsim
from memsim.support.errors import InputError

torch = pytest.importorskip("torch", reason="torch is not installed (memsim[torch])")
needs_triton = pytest.mark.skipif(not importlib.util.find_spec("triton"), reason="triton is not installed")


@pytest.fixture(scope="module")
def captured():
    with memsim.capturing(gpu="h100") as captured:
        yield captured


def test_what_is_made_for_the_gpu_says_that_it_is_there(captured):
    x = torch.rand(3, 4, device="cuda")
    assert x.device == torch.device("cuda", 0) and x.is_cuda and x.get_device() == 0
    assert (
        (x + 1).is_cuda and x[1:].T.is_cuda and torch.empty_like(x).is_cuda and all(one.is_cuda for one in x.unbind())
    )
    host = torch.rand(3)
    assert not host.is_cuda and host.device.type == "cpu" and torch.ones(2, device=x.device).is_cuda
    assert torch.nn.Linear(4, 2, device="cuda").weight.is_cuda and torch.nn.Linear(4, 2).cuda().weight.is_cuda


def test_a_move_copies_and_an_array_that_is_there_is_itself(captured):
    host = torch.zeros(3)
    there = host.cuda()
    there += 1
    assert host.tolist() == [0, 0, 0] and not host.is_cuda and there.is_cuda
    assert there.to("cuda") is there and there.cuda() is there and host.cpu() is host
    back = there.cpu()
    there += 1
    assert back.tolist() == [1, 1, 1] and not back.is_cuda and not there.to("cpu", torch.float64).is_cuda
    assert host.to(there).is_cuda and host.to(there.device, torch.float16).dtype == torch.float16
    host.copy_(there)
    assert host.tolist() == [2, 2, 2] and not host.is_cuda, "in place, a tensor stays where it is"
    assert there.half().is_cuda and there.to(torch.int32).is_cuda


def test_a_generator_on_the_gpu_draws_there(captured):
    generator = torch.Generator(device="cuda").manual_seed(3)
    x = torch.rand(5, device="cuda", generator=generator)
    assert x.is_cuda and generator.device.type == "cuda" and isinstance(generator, torch.Generator)
    assert torch.equal(x.cpu(), torch.rand(5, generator=torch.Generator().manual_seed(3)))
    assert torch.Generator().device.type == "cpu"
    assert isinstance(torch.default_generator, torch.Generator) and not isinstance(x, torch.Generator)


@pytest.mark.parametrize("make", [torch.Tensor.to_sparse, torch.Tensor.to_sparse_csr])
def test_sparse_tensors_stay_on_the_host(captured, make):
    host = torch.eye(3)
    assert not make(host).is_cuda
    for there in (lambda: make(host).cuda(), lambda: make(host.cuda())):
        with pytest.raises(InputError, match=r"torch.sparse_\w+ is no layout on the GPU here; give kernels dense"):
            there()


def test_the_device_is_memsims_gpu_and_its_events_know_no_time(captured):
    assert torch.cuda.is_available() and torch.cuda.get_device_name() == "h100"
    assert torch.cuda.get_device_capability() == (9, 0)
    assert torch.cuda.get_device_properties(0).multi_processor_count == 132
    for ask in (torch.cuda.mem_get_info, lambda: torch.cuda.get_device_properties(0).total_memory):
        with pytest.raises(InputError, match="torch: (mem_get_info|total_memory) is not known: memsim does not model"):
            ask()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    with torch.cuda.stream(torch.cuda.Stream()), torch.cuda.device(0):
        start.record()
    end.record()
    torch.cuda.synchronize()
    assert math.isnan(start.elapsed_time(end)) and "not simulated" in captured.notes[-1]
    torch.cuda.manual_seed(1)
    a = torch.rand(2, device="cuda")
    torch.manual_seed(1)
    assert torch.equal(a.cpu(), torch.rand(2))


def test_a_default_device_holds_for_what_names_none(captured):
    torch.set_default_device("cuda")
    assert torch.zeros(2).is_cuda and not torch.zeros(2, device="cpu").is_cuda
    torch.set_default_device(None)
    assert not torch.zeros(2).is_cuda
    with torch.device("cuda"):
        assert torch.zeros(2).is_cuda


def test_afterwards_torch_is_its_own(monkeypatch):
    monkeypatch.delattr(torch._C, "_cuda_getCurrentRawStream", raising=False)  # as where torch is built for the CPU
    monkeypatch.delattr(torch.cuda, "_exchange_device")
    own = vars(torch.cuda).copy(), vars(torch._C).copy()
    with memsim.capturing(gpu="a100"):
        assert torch.cuda.is_available is not own[0]["is_available"] and torch._C._cuda_getCurrentRawStream(0) == 0
    assert (vars(torch.cuda), vars(torch._C)) == own
    assert torch.zeros(2).device.type == "cpu"


@needs_triton
def test_a_program_for_the_gpu_runs_as_it_is(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        """
import torch, triton, triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)

device = triton.runtime.driver.active.get_active_torch_device()
x, y = torch.rand(5000, device="cuda"), torch.ones(5000).cuda()
out = torch.empty_like(x)
assert x.device == device and out.is_cuda
with torch.cuda.device(x.device):
    add[(triton.cdiv(5000, 512),)](x, y, out, 5000, BLOCK=512)
torch.cuda.synchronize()
assert torch.equal(out, x + y)
"""
    )
    trace = memsim.capture(script, out=tmp_path / "t.h5", gpu="a100").trace
    assert trace.launch.grid == (10, 1, 1) and {one.name for one in trace.arrays} == {"x", "y", "out"}


@needs_triton
def test_kernels_that_torch_compile_wrote_out_run_and_are_tuned(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    trace = memsim.capture(DATA / "ptx" / "written_out.py", out=tmp_path / "t.h5", gpu="a100").trace
    assert {one.name for one in trace.arrays} == {"in_ptr0", "in_ptr1", "out_ptr0"}
    assert trace.parameters["compiled_for"] == "sm_80", "for --gpu, not for the GPU that wrote the file"
    assert not list((tmp_path / "cache").rglob("*.best_config"))


@pytest.fixture
def compiling(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    with memsim.capturing(gpu="a100", out=tmp_path / "traces") as captured:
        yield captured


@needs_triton
def test_a_compiled_function_launches_its_kernels(compiling):
    """Fused into one, with the right numbers, an argument changed in place too; another shape, another kernel."""

    @torch.compile
    def scores(x, y, scale=2.0):
        x.add_(1.0)
        return {"p": torch.softmax(scale * x + y, dim=1)}

    for rows in (32, 8):
        x, y = torch.rand(rows, 200, device="cuda"), torch.rand(rows, 200, device="cuda")
        before = x.cpu()
        found = scores(x, y)["p"]
        assert found.is_cuda and torch.equal(x.cpu(), before + 1)
        assert torch.allclose(found.cpu(), torch.softmax(2 * (before + 1) + y.cpu(), dim=1))
    assert [one.grid[0] <= rows for one, rows in zip(compiling.launches, (32, 8), strict=True)] == [True, True]
    scores(x, y)
    assert len(compiling.launches) == 3 and compiling.trace.parameters["compiled_for"] == "sm_80"
    host = torch.rand(4, 200)
    assert not scores(host, host.clone())["p"].is_cuda and len(compiling.launches) == 3, (
        "on the host it is not compiled"
    )


@needs_triton
def test_a_compiled_module_brings_its_parameters(compiling):
    own = torch.nn.Sequential(torch.nn.LayerNorm(64), torch.nn.GELU()).cuda()
    module = torch.compile(own, mode="max-autotune")
    x = torch.rand(16, 64, device="cuda")
    with pytest.raises(InputError, match="torch: compile knows no gradients here"):
        module(x)
    with torch.no_grad():
        assert torch.allclose(module(x).cpu(), own(x).cpu(), atol=1e-6)
    assert len(compiling.launches) == 1 and module._orig_mod is own and "mode is left out" in compiling.notes[-1]


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.drop, self.scale = torch.nn.Dropout(0.5), 2.0

    def forward(self, x):
        return self.drop(x) * self.scale


@needs_triton
def test_a_module_changed_between_calls_is_compiled_anew(compiling):
    """Its mode, its attributes and those of modules below; what is as before takes the kernel that is there."""
    own = Scaled().cuda().eval()
    module, x = torch.compile(own), torch.ones(256, device="cuda")

    def ours():
        with torch.no_grad():
            return module(x).cpu()

    assert torch.equal(ours(), torch.full((256,), 2.0))
    own.train()
    with pytest.raises(InputError, match="torch.compile: Scaled draws random numbers, which is not taken"):
        ours()
    own.eval().scale = 3.0
    assert torch.equal(ours(), torch.full((256,), 3.0))
    own.scale, own.drop = 2.0, torch.nn.Identity()
    assert torch.equal(ours(), torch.full((256,), 2.0))
    own.beside = object()
    with pytest.raises(InputError, match="torch.compile: Scaled: beside is or has a object, which tells no value"):
        ours()


@needs_triton
def test_a_function_s_other_arguments_are_compared_whole(compiling):
    scaled = torch.compile(lambda x, by: x * by[1500])
    x, by = torch.ones(64, device="cuda"), [float(k) for k in range(3000)]
    assert scaled(x, by).cpu()[0] == 1500
    by[1500] = 7.0
    assert scaled(x, by).cpu()[0] == 7
    with pytest.raises(InputError, match="torch.compile: <lambda>'s argument is or has a NumPy ndarray; give a tensor"):
        scaled(x, np.arange(3000.0))


@needs_triton
def test_what_a_function_raises_is_its_own(compiling):
    """Shapes that do not fit, and its own checks, are not what is missing without data."""

    def checked(x):
        assert x.shape[0] == 4, "four rows"
        return x

    x = torch.rand(8, device="cuda")
    with pytest.raises(RuntimeError, match=r"shape '\[3, 3\]' is invalid"):
        torch.compile(lambda x: x.view(3, 3))(x)
    with pytest.raises(AssertionError, match="four rows"):
        torch.compile(checked)(x)
    for function in (lambda x: x[x > 0.5], lambda x: torch.unique(x), lambda x: x * x.sum().item()):
        with pytest.raises(InputError, match="cannot be followed without data"):
            torch.compile(function)(x)


@needs_triton
def test_what_cannot_be_compiled_is_one_line(compiling):
    x, beside = torch.rand(8, device="cuda"), torch.rand(8, device="cuda")
    for function in (lambda x: x + beside, lambda x: x if x.sum() > 0 else -x):
        with pytest.raises(InputError, match="torch.compile: <lambda> cannot be followed without data"):
            torch.compile(function)(x)
    with pytest.raises(InputError, match="backend is 'eager'; kernels come of 'inductor' alone"):
        torch.compile(lambda x: x, backend="eager")
