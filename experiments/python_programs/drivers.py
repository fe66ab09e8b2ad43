"""Calls the public function of a library that launches the kernels of one file of the list.

    python drivers.py CHECKOUTS OWNER/NAME FILE

Shapes are those of the libraries' own tests, or smaller. A driver compares with torch where the library's test does.
Packages are entered without their ``__init__`` where that imports what the kernels do not need.
"""

import importlib
import os
import sys

import driver_tools
import torch
from driver_tools import DRIVERS, back, bare, close, driver, gpu, root

# -- Liger-Kernel

LIGER = "linkedin/Liger-Kernel"


def liger(name, function):
    root(LIGER, "src")
    return getattr(importlib.import_module("liger_kernel.ops." + name), function)


@driver(LIGER, "src/liger_kernel/ops/attn_res.py")
def _():
    back(liger("attn_res", "LigerAttnResFunction").apply(gpu(4, 2, 16, 128), gpu(128), gpu(128), 1e-6))


@driver(LIGER, "src/liger_kernel/ops/fused_add_rms_norm.py")
def _():
    back(
        *liger("fused_add_rms_norm", "LigerFusedAddRMSNormFunction").apply(
            gpu(2, 16, 128), gpu(2, 16, 128), gpu(128), 1e-6
        )
    )


@driver(LIGER, "src/liger_kernel/ops/geglu.py")
def _():
    a, b = gpu(2, 16, 256), gpu(2, 16, 256)
    out = liger("geglu", "LigerGELUMulFunction").apply(a, b)
    close(out, torch.nn.functional.gelu(a, approximate="tanh") * b)
    back(out)


@driver(LIGER, "src/liger_kernel/ops/jsd.py")
def _():
    x, y = gpu(32, 512).log_softmax(-1), gpu(32, 512, grad=False).log_softmax(-1)
    back(liger("jsd", "LigerJSDFunction").apply(x, y))


@driver(LIGER, "src/liger_kernel/ops/llama4_rope.py")
def _():
    angles = torch.randn(16, 32, device="cuda")
    freqs = torch.polar(torch.ones_like(angles), angles)
    back(*liger("llama4_rope", "LigerLlama4RopeFunction").apply(gpu(2, 16, 4, 64), gpu(2, 16, 2, 64), freqs))


@driver(LIGER, "src/liger_kernel/ops/modulated_rms_norm.py")
def _():
    function = liger("modulated_rms_norm", "LigerModulatedRMSNormFunction")
    back(function.apply(gpu(2, 16, 128), gpu(128), gpu(2, 128), gpu(2, 128), 1e-6))


@driver(LIGER, "src/liger_kernel/ops/qwen2vl_mrope.py")
def _():
    function = liger("qwen2vl_mrope", "LigerQwen2VLMRopeFunction")
    cos, sin = gpu(3, 2, 16, 64, grad=False), gpu(3, 2, 16, 64, grad=False)
    back(*function.apply(gpu(2, 4, 16, 64), gpu(2, 2, 16, 64), cos, sin, [8, 12, 12]))


@driver(LIGER, "src/liger_kernel/ops/rope.py")
def _():
    cos, sin = gpu(1, 16, 64, grad=False), gpu(1, 16, 64, grad=False)
    back(*liger("rope", "LigerRopeFunction").apply(gpu(2, 4, 16, 64), gpu(2, 2, 16, 64), cos, sin))


# -- flash-linear-attention

FLA = "fla-org/flash-linear-attention"


def fla(package, name):
    root(FLA)
    return getattr(importlib.import_module("fla.ops." + package), name)


def qkv(n=64, heads=2, width=64, grad=True):
    return [gpu(1, n, heads, width, grad=grad, scale=0.3) for _ in range(3)]


@driver(FLA, "fla/ops/abc/chunk.py")
def _():
    back(fla("abc", "chunk_abc")(*qkv(), gpu(1, 64, 2, 32))[0])


@driver(FLA, "fla/ops/based/parallel.py")
def _():
    q, k, v = gpu(1, 64, 2, 16), gpu(1, 64, 2, 16), gpu(1, 64, 2, 64)
    back(fla("based", "parallel_based")(q, k, v))


@driver(FLA, "fla/ops/gated_delta_product/chunk_deltaproduct_o.py")
def _():
    q = gpu(1, 64, 2, 64, dtype=torch.bfloat16)
    k, v = (torch.nn.functional.normalize(gpu(1, 128, 2, 64, dtype=torch.bfloat16), dim=-1) for _ in range(2))
    beta = gpu(1, 128, 2, dtype=torch.bfloat16).sigmoid()
    g = torch.nn.functional.logsigmoid(gpu(1, 64, 2))
    back(fla("gated_delta_product", "chunk_gated_delta_product")(q, k, v, g, beta, 2)[0])


@driver(FLA, "fla/ops/gated_oja_rule/chunk_o.py")
def _():
    root(FLA)
    function = importlib.import_module("fla.ops.gated_oja_rule").chunk_gated_oja_rule
    q, k, v = (gpu(1, 64, 2, 64, dtype=torch.bfloat16, scale=0.1) for _ in range(3))
    gv = torch.nn.functional.logsigmoid(gpu(1, 64, 2, 64))
    back(function(q, k, v, gv, gpu(1, 64, 2, dtype=torch.bfloat16).sigmoid())[0])


@driver(FLA, "fla/ops/hgrn/chunk.py")
def _():
    back(fla("hgrn", "chunk_hgrn")(gpu(1, 64, 64), torch.nn.functional.logsigmoid(gpu(1, 64, 64)))[0])


@driver(FLA, "fla/ops/nsa/parallel.py")
def _():
    root(FLA)
    function = importlib.import_module("fla.ops.nsa").parallel_nsa
    q, k, v = gpu(1, 64, 16, 64, dtype=torch.float16), *(gpu(1, 64, 1, 64, dtype=torch.float16) for _ in range(2))
    g = [gpu(1, 64, 16, dtype=torch.float16) for _ in range(2)]
    chosen = torch.zeros(1, 64, 1, 2, dtype=torch.long, device="cuda")
    back(function(q, k, v, g_slc=g[0], g_swa=g[1], block_indices=chosen, block_counts=2, block_size=32, scale=0.1))


@driver(FLA, "fla/ops/precond_kda/fused_recurrent.py")
def _():
    root(FLA)
    function = importlib.import_module("fla.ops.precond_kda").fused_recurrent_precond_kda
    g, atk = (torch.nn.functional.logsigmoid(gpu(1, 16, 2, 64, grad=False)) for _ in range(2))
    betas = [gpu(1, 16, 2, grad=False).sigmoid() for _ in range(2)]
    function(*qkv(16, grad=False), g, atk, *betas)


@driver(FLA, "fla/ops/rwkv7/fused_k_update.py")
def _():
    root(FLA)
    module = importlib.import_module("fla.ops.rwkv7.fused_k_update")
    k, a, ka = gpu(1, 64, 128), gpu(1, 64, 128), gpu(128)
    out = module.fused_k_rwkv7(k, a, ka)
    close(out, module.k_update_ref(k, a, ka))
    back(out)


# -- unsloth

UNSLOTH = "unslothai/unsloth"


def unsloth(name):
    os.environ["UNSLOTH_IS_PRESENT"] = "1"
    bare(UNSLOTH, "unsloth")
    bare(UNSLOTH, "unsloth.kernels")
    return importlib.import_module("unsloth.kernels." + name)


@driver(UNSLOTH, "unsloth/kernels/cross_entropy_loss.py")
def _():
    logits, labels = gpu(1, 32, 512), torch.randint(0, 512, (1, 32), device="cuda")
    loss = unsloth("cross_entropy_loss").fast_cross_entropy_loss(logits, labels)
    close(loss, torch.nn.functional.cross_entropy(logits[0], labels[0]))
    back(loss)


@driver(UNSLOTH, "unsloth/kernels/layernorm.py")
def _():
    norm, x = torch.nn.LayerNorm(256).cuda(), gpu(2, 16, 256)
    out = unsloth("layernorm").fast_layernorm(norm, x)
    close(out, norm(x))
    back(out)


@driver(UNSLOTH, "unsloth/kernels/rope_embedding.py")
def _():
    cos, sin = gpu(16, 64, grad=False), gpu(16, 64, grad=False)
    back(*unsloth("rope_embedding").fast_rope_embedding(gpu(2, 4, 16, 64) * 1, gpu(2, 4, 16, 64) * 1, cos, sin))


# -- applied-ai

APPLIED = "pytorch-labs/applied-ai"


@driver(APPLIED, "kernels/triton/inference/col_major_moe_gemm/v0_moe_fused.py")
def _():
    root(APPLIED, "kernels/triton/inference/col_major_moe_gemm")
    module = importlib.import_module("v0_moe_fused")
    a, w1, w2 = (gpu(*s, dtype=torch.float16, grad=False, scale=0.1) for s in ((4, 64), (8, 128, 64), (8, 64, 64)))
    weights, ids = torch.topk(torch.softmax(gpu(4, 8, dtype=torch.float16, grad=False), -1), 2)
    module.fused_moe(a, w1, w2, weights, ids, False)


@driver(APPLIED, "kernels/triton/inference/fp8/scaled_fp8_gemm.py")
def _():
    root(APPLIED, "kernels/triton/inference/fp8")
    a, b = (gpu(64, 512, grad=False).to(torch.float8_e4m3fn) for _ in range(2))
    out = importlib.import_module("scaled_fp8_gemm").scaled_mm_splitk(a, b.T, 1.0, 1.0)
    close(out, a.float() @ b.float().T, 0.5)


@driver(APPLIED, "kernels/triton/inference/mamba/causal_1d_conv/causal_1d_conv/causal_1d_conv.py")
def _():
    root(APPLIED, "kernels/triton/inference/mamba/causal_1d_conv/causal_1d_conv")
    x, w, b = gpu(2, 128, 64, grad=False).transpose(1, 2), gpu(64, 4, grad=False), gpu(64, grad=False)
    importlib.import_module("causal_1d_conv").causal_conv1d_fn(x, w, b, activation="silu")


# -- FlagGems

FLAG = "FlagOpen/FlagGems"


def flag(name, *arguments, expected):
    root(FLAG, "src")
    import flag_gems

    with flag_gems.use_gems():
        found = getattr(torch, name)(*arguments)
    close(found, expected)


@driver(FLAG, "src/flag_gems/ops/abs.py")
def _():
    x = gpu(128, 64, grad=False)
    flag("abs", x, expected=x.cpu().abs())


@driver(FLAG, "src/flag_gems/ops/cos.py")
def _():
    x = gpu(128, 64, grad=False)
    flag("cos", x, expected=x.cpu().cos())


@driver(FLAG, "src/flag_gems/ops/index.py")
def _():
    root(FLAG, "src")
    import flag_gems

    x = gpu(64, 32, grad=False)
    rows, columns = (torch.randint(0, n, (16,), device="cuda") for n in (64, 32))
    close(flag_gems.ops.index(x, [rows, columns]), x.cpu()[rows.cpu(), columns.cpu()])


@driver(FLAG, "src/flag_gems/ops/minimum.py")
def _():
    x, y = gpu(128, 64, grad=False), gpu(128, 64, grad=False)
    flag("minimum", x, y, expected=torch.minimum(x.cpu(), y.cpu()))


@driver(FLAG, "src/flag_gems/ops/sigmoid.py")
def _():
    x = gpu(128, 64, grad=False)
    flag("sigmoid", x, expected=x.cpu().sigmoid())


# -- attorch

ATTORCH = "BobMcDear/attorch"


def attorch(layer, expected, *arguments):
    root(ATTORCH)
    module = importlib.import_module("attorch")
    found = getattr(module, layer[0])(*layer[1:]).cuda()(*arguments)
    close(found, expected)
    back(found)


@driver(ATTORCH, "attorch/act_kernels.py")
def _():
    x = gpu(64, 128)
    attorch(("GELU",), torch.nn.functional.gelu(x), x)


@driver(ATTORCH, "attorch/cross_entropy_loss_kernels.py")
def _():
    x, y = gpu(64, 100), torch.randint(0, 100, (64,), device="cuda")
    attorch(("CrossEntropyLoss",), torch.nn.functional.cross_entropy(x, y), x, y)


@driver(ATTORCH, "attorch/layer_norm_kernels.py")
def _():
    x = gpu(64, 128)
    attorch(("LayerNorm", 128), torch.nn.functional.layer_norm(x, (128,)), x)


@driver(ATTORCH, "attorch/nll_loss_kernels.py")
def _():
    x, y = gpu(64, 100).log_softmax(-1), torch.randint(0, 100, (64,), device="cuda")
    attorch(("NLLLoss",), torch.nn.functional.nll_loss(x, y), x, y)


# -- mamba

MAMBA = "state-spaces/mamba"


def mamba(name):
    bare(MAMBA, "mamba_ssm")
    return importlib.import_module("mamba_ssm.ops.triton." + name)


@driver(MAMBA, "mamba_ssm/ops/triton/layer_norm.py")
def _():
    x, w, b = gpu(4, 16, 128), gpu(128), gpu(128)
    out = mamba("layer_norm").layer_norm_fn(x, w, b)
    close(out, torch.nn.functional.layer_norm(x, (128,), w, b, 1e-6))
    back(out)


@driver(MAMBA, "mamba_ssm/ops/triton/selective_state_update.py")
def _():
    module = mamba("selective_state_update")
    state, x, dt, a, b, c = (gpu(*s, grad=False) for s in ((2, 64, 16), (2, 64), (2, 64), (64, 16), (2, 16), (2, 16)))
    d, bias, copy = gpu(64, grad=False), gpu(64, grad=False), state.clone()  # it cannot do without them
    out = module.selective_state_update(state, x, dt, a, b, c, d, dt_bias=bias, dt_softplus=True)
    close(out, module.selective_state_update_ref(copy, x, dt, a, b, c, d, dt_bias=bias, dt_softplus=True))


@driver(MAMBA, "mamba_ssm/ops/triton/ssd_chunk_state.py")
def _():
    module = mamba("ssd_chunk_state")
    b, x = gpu(1, 64, 1, 32), gpu(1, 64, 2, 32)
    dt, da = gpu(1, 2, 2, 32).abs().detach().requires_grad_(), (-gpu(1, 2, 2, 32).abs() / 32).cumsum(-1).detach()
    out = module.chunk_state(b, x, dt, da.requires_grad_())
    close(out, module.chunk_state_ref(b, x, dt, da))
    back(out)


# -- others


@driver("facebookresearch/xformers", "xformers/ops/_triton/k_index_select_cat.py")
def _():
    for name in ("xformers", "xformers.ops", "xformers.ops._triton"):
        bare("facebookresearch/xformers", name)
    module = importlib.import_module("xformers.ops._triton.k_index_select_cat")
    source, index = gpu(64, 128, grad=False), torch.randperm(64, device="cuda")[:32]
    out = torch.empty(32, 128, device="cuda")
    module.index_select_cat_fwd(out, source, index)
    close(out, source[index])
    module.index_select_cat_bwd(torch.zeros_like(source), index, out)


FLASH = "Dao-AILab/flash-attention"


def flash(name):
    bare(FLASH, "flash_attn")
    return importlib.import_module("flash_attn.ops.triton." + name)


@driver(FLASH, "flash_attn/ops/triton/cross_entropy.py")
def _():
    logits, labels = gpu(32, 512), torch.randint(0, 512, (32,), device="cuda")
    losses, _ = flash("cross_entropy").cross_entropy_loss(logits, labels)
    close(losses, torch.nn.functional.cross_entropy(logits, labels, reduction="none"))
    back(losses)


@driver(FLASH, "flash_attn/ops/triton/layer_norm.py")
def _():
    x, w, b = gpu(32, 128), gpu(128), gpu(128)
    out = flash("layer_norm").layer_norm_fn(x, w, b)
    close(out, torch.nn.functional.layer_norm(x, (128,), w, b, 1e-6))
    back(out)


@driver(FLASH, "flash_attn/ops/triton/linear.py")
def _():
    x, w, b = (gpu(*s, dtype=torch.float16, grad=False, scale=0.1) for s in ((128, 128), (128, 128), (128,)))
    close(flash("linear").triton_linear_act(x, w, b), x.float() @ w.float().T + b)


@driver("hkproj/triton-flash-attention", "triton/flash_attention.py")
def _():
    import triton  # before a folder of this name is on the path

    assert triton
    root("hkproj/triton-flash-attention", "triton")
    importlib.import_module("flash_attention").test_op(1, 2, 128, 64, True)


@driver("deepseek-ai/DeepSeek-V3", "inference/kernel.py")
def _():
    root("deepseek-ai/DeepSeek-V3", "inference")
    module = importlib.import_module("kernel")
    x, w = gpu(64, 256, grad=False), gpu(128, 256, grad=False)
    (a, a_s), b = module.act_quant(x), w.to(torch.float8_e4m3fn)
    out = module.fp8_gemm(a, a_s, b, torch.ones(1, 2, device="cuda"))
    close(out, x @ b.float().T, 2.0)


@driver("apple/ml-cross-entropy", "cut_cross_entropy/cce_lse_forward.py")
def _():
    bare("apple/ml-cross-entropy", "cut_cross_entropy")
    module = importlib.import_module("cut_cross_entropy.cce_lse_forward")
    e, c = gpu(64, 128, dtype=torch.bfloat16, grad=False, scale=0.1), gpu(256, 128, dtype=torch.bfloat16, grad=False)
    close(module.cce_lse_forward_kernel(e, c), (e.float() @ c.float().T).logsumexp(-1))


@driver("shawntan/scattermoe", "scattermoe/kernels/ops.py")
def _():
    bare("shawntan/scattermoe", "scattermoe")
    bare("shawntan/scattermoe", "scattermoe.kernels")
    module = importlib.import_module("scattermoe.kernels.ops")
    x, w = gpu(64, 64, grad=False), gpu(4, 64, 64, grad=False)
    experts, order = torch.randint(0, 4, (128,), device="cuda").sort()
    out = module.scatter2scatter(x, w, experts, order, 2)
    expected = torch.zeros(128, 64)
    for e, i in zip(experts.tolist(), order.tolist(), strict=True):
        expected[i] = x[i // 2].cpu() @ w[e].cpu()
    close(out, expected)


LITE = "harleyszhang/lite_llama"


@driver(LITE, "lite_llama/kernels/activations.py")
def _():
    bare(LITE, "lite_llama")
    bare(LITE, "lite_llama.kernels")
    module = importlib.import_module("lite_llama.kernels.activations")
    import triton
    import triton.language as tl

    @triton.jit
    def run(x, out, N: tl.constexpr):
        o = tl.arange(0, N)
        tl.store(out + o, module.silu(tl.load(x + o)) + module.relu(tl.load(x + o)))

    x, out = gpu(128, grad=False), torch.empty(128, device="cuda")
    run[(1,)](x, out, 128)
    close(out, torch.nn.functional.silu(x) + x.relu())


@driver(LITE, "lite_llama/kernels/fused_moe.py")
def _():
    bare(LITE, "lite_llama")
    bare(LITE, "lite_llama.kernels")
    module = importlib.import_module("lite_llama.kernels.fused_moe")
    x, w1, w2 = (gpu(*s, dtype=torch.float16, grad=False, scale=0.1) for s in ((16, 64), (4, 128, 64), (4, 64, 64)))
    weights, ids = torch.topk(torch.softmax(gpu(16, 4, grad=False), -1), 2)
    module.fused_moe(x, w1, w2, weights.half(), ids)


# -- The list eighth.csv: what the libraries' README pages show


@driver("thu-ml/SageAttention", "sageattention/triton/attn_qk_int8_per_block.py")
def _():
    bare("thu-ml/SageAttention", "sageattention")
    quantize = importlib.import_module("sageattention.triton.quant_per_block").per_block_int8
    attention = importlib.import_module("sageattention.triton.attn_qk_int8_per_block").forward
    q, k, v = (gpu(1, 2, 256, 64, dtype=torch.float16, grad=False) for _ in range(3))
    q8, q_scale, k8, k_scale = quantize(q, k, tensor_layout="HND")
    close(attention(q8, k8, v, q_scale, k_scale)[0], torch.nn.functional.scaled_dot_product_attention(q, k, v), 0.1)


@driver("fla-org/native-sparse-attention", "native_sparse_attention/ops/parallel.py")
def _():
    bare("fla-org/native-sparse-attention", "native_sparse_attention")
    function = importlib.import_module("native_sparse_attention.ops.parallel").parallel_nsa
    b, t, h, hq, d, s, block = 1, 256, 1, 16, 64, 4, 32
    q, k, v = (gpu(b, t, heads, d, dtype=torch.float16) for heads in (hq, h, h))
    gates = [torch.rand(b, t, hq, dtype=torch.float16, device="cuda") for _ in range(2)]
    chosen = torch.full((b, t, h, s), t, dtype=torch.long, device="cuda")
    for row in range(t):
        blocks = torch.randperm(max(1, -(-row // block)))[:s]
        chosen[0, row, 0, : len(blocks)] = blocks
    counts = torch.randint(1, s + 1, (b, t, h), device="cuda")
    back(
        function(
            q=q,
            k=k,
            v=v,
            g_slc=gates[0],
            g_swa=gates[1],
            block_indices=chosen.sort(-1)[0],
            block_counts=counts,
            block_size=block,
            window_size=0,
        )
    )


@driver("InternLM/lmdeploy", "lmdeploy/pytorch/kernels/cuda/fused_noaux_tc.py")
def _():
    for package in ("lmdeploy", "lmdeploy.pytorch", "lmdeploy.pytorch.kernels", "lmdeploy.pytorch.kernels.cuda"):
        bare("InternLM/lmdeploy", package)
    module = importlib.import_module("lmdeploy.pytorch.kernels.cuda.fused_noaux_tc")
    weights, chosen = module.fused_noaux_tc_routing(gpu(64, 256, grad=False), gpu(256, grad=False))
    assert weights.isfinite().all() and chosen.max() < 256


@driver("xlite-dev/ffpa-attn", "src/ffpa_attn/triton/_ffpa_fwd.py")
def _():
    root("xlite-dev/ffpa-attn", "src")
    function = importlib.import_module("ffpa_attn").ffpa_attn_func
    q, k, v = (gpu(1, 2, 1024, 512, dtype=torch.bfloat16, grad=False) for _ in range(3))
    close(function(q, k, v), torch.nn.functional.scaled_dot_product_attention(q, k, v))


@driver("stanford-futuredata/stk", "stk/backend/triton_kernels.py")
def _():
    root("stanford-futuredata/stk")
    stk = importlib.import_module("stk")
    dense = gpu(256, 256, dtype=torch.float16, grad=False) * stk.random.dense_mask(256, 256, 0.5, 128).cuda().half()
    b = gpu(256, 256, dtype=torch.float16, grad=False)
    close(stk.ops.dsd(stk.ops.to_sparse(dense, 128), b), dense @ b, 0.1)


def main():
    """Run the driver that the command names."""
    driver_tools.CHECKOUTS, repository, file = sys.argv[1:4]
    torch.manual_seed(0)
    DRIVERS[repository, file]()
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
