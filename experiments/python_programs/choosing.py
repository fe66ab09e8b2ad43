"""Writes a list of Python programs: which files are taken of which repositories, and how each is run.

    python -m experiments.python_programs.choosing CHECKOUTS > programs.csv
    python -m experiments.python_programs.choosing CHECKOUTS eighth > eighth.csv      # or ninth, tenth

CHECKOUTS holds the repositories as ``owner+name``. The rules are in README.md. They were fixed before any program was
tried.
"""

import csv
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Pool:
    """Candidates of one repository: files that match ``patterns`` and ``text``, but do not match ``without``."""

    language: str
    repository: str
    patterns: tuple[str, ...]
    count: int
    how: str  # "script", "driver" or "pytest"
    text: str = ""
    without: str = ""  # a regular expression of paths
    arguments: str = ""
    gpu: str = ""

    def files(self, checkouts: Path, middle: bool = False) -> list[str]:
        """Chosen files, in the order of their paths: the first of each equal part, or the middle one."""
        root = checkouts / self.repository.replace("/", "+")
        found = {p for pattern in self.patterns for p in root.glob(pattern)}
        names = sorted(str(p.relative_to(root)) for p in found if self.fits(p, str(p.relative_to(root))))
        if len(names) < self.count:
            raise SystemExit(f"{self.repository}: {len(names)} candidates, {self.count} wanted")
        return [names[(2 * i + middle) * len(names) // (2 * self.count)] for i in range(self.count)]

    def fits(self, path: Path, name: str) -> bool:
        """Whether a file is a candidate."""
        if self.without and re.search(self.without, name):
            return False
        return not self.text or re.search(self.text, path.read_text(errors="replace")) is not None


# Ascend and AMD back ends, several GPUs, and machine code of Hopper or Blackwell alone are not candidates.
OTHER_HARDWARE = r"ascend|backends/|rocm|amd|hip|/cp/|h100|tma|blackwell|cute|cutile"
POOLS = (
    Pool("triton", "thunlp/TritonBench", ("data/TritonBench_G_v1/*.py",), 14, "script", r"triton\.jit"),
    Pool(
        "triton",
        "linkedin/Liger-Kernel",
        ("src/liger_kernel/ops/*.py",),
        8,
        "driver",
        r"triton\.jit",
        OTHER_HARDWARE + r"|utils|vocab_parallel",
    ),
    Pool(
        "triton",
        "fla-org/flash-linear-attention",
        ("fla/ops/*/chunk*.py", "fla/ops/*/fused*.py", "fla/ops/*/parallel*.py"),
        8,
        "driver",
        r"@triton\.jit|^def (chunk|fused_recurrent|fused_chunk|parallel)_\w+\(",
        OTHER_HARDWARE + r"|_bwd|_intra|_inter|common",
    ),
    Pool("triton", "unslothai/unsloth", ("unsloth/kernels/*.py",), 3, "driver", r"triton\.jit", r"utils|fp8"),
    Pool(
        "triton",
        "pytorch-labs/applied-ai",
        ("kernels/triton/**/*.py", "tutorials/triton/**/*.py"),
        3,
        "driver",
        r"triton\.jit",
        OTHER_HARDWARE + r"|benchmark",
    ),
    Pool("triton", "FlagOpen/FlagGems", ("src/flag_gems/ops/*.py",), 5, "driver", r"triton\.jit", "flash|attention"),
    Pool("triton", "BobMcDear/attorch", ("attorch/*_kernels.py",), 4, "driver", r"triton\.jit"),
    Pool(
        "triton",
        "state-spaces/mamba",
        ("mamba_ssm/ops/triton/*.py",),
        3,
        "driver",
        r"triton\.jit",
        "softplus|k_activations",
    ),
    Pool("triton", "facebookresearch/xformers", ("xformers/ops/_triton/*.py",), 1, "driver", r"triton\.jit"),
    Pool(
        "triton",
        "Dao-AILab/flash-attention",
        ("flash_attn/ops/triton/*.py",),
        3,
        "driver",
        r"triton\.jit",
        "k_activations",
    ),
    Pool(
        "triton",
        "gpu-mode/lectures",
        ("lecture_0*/**/*.py",),
        2,
        "script",
        r"triton\.jit",
        "util|lecture_018/kernels|output_triton_code",
    ),
    Pool("triton", "hkproj/triton-flash-attention", ("triton/*.py",), 1, "driver", r"triton\.jit"),
    Pool("triton", "deepseek-ai/DeepSeek-V3", ("inference/kernel.py",), 1, "driver"),
    Pool("triton", "apple/ml-cross-entropy", ("cut_cross_entropy/cce_lse_forward.py",), 1, "driver"),
    Pool("triton", "shawntan/scattermoe", ("scattermoe/kernels/ops.py",), 1, "driver"),
    Pool("triton", "harleyszhang/lite_llama", ("lite_llama/kernels/*.py",), 2, "driver", r"triton\.jit"),
    Pool(
        "cupy",
        "cupy/cupy",
        ("examples/**/*.py",),
        7,
        "script",
        "",
        r"cutensor|cusparselt|callback|multi|peer|mpi|utils",
    ),
    Pool("cupy", "Eve-ning/glcm-cupy", ("tests/unit_tests/test_*.py",), 1, "pytest", "", "4d|na"),
    Pool(
        "cupy",
        "rapidsai/cusignal",
        ("python/cusignal/*/*.py",),
        1,
        "driver",
        "RawModule|ElementwiseKernel|ReductionKernel",
        "test/|_cuda",
    ),
    Pool("cupy", "Beyiii/Perlin-noise-y-Marching-cubes", ("src/test.py",), 1, "script"),
    Pool("numba", "NVIDIA/numba-cuda", ("numba_cuda/numba/cuda/tests/doc_examples/test_*.py",), 3, "pytest"),
    Pool(
        "numba",
        "numba/nvidia-cuda-tutorial",
        ("session-*/**/*.py",),
        2,
        "script",
        r"numba import.*cuda",
        r"debug|emm_plugin|vectorize",
    ),
    Pool(
        "numba",
        "ENCCS/hpda-python",
        ("content/exercise/*.py", "content/example/*.py"),
        2,
        "script",
        r"numba import cuda|numba\.cuda",
        r"sbatch|matmul_dtype\.py|matmul_sm\.py|matmul_kernel\.py|math_kernel",
    ),
    Pool(
        "numba",
        "SkaAnn/PPDS-2020",
        ("cv*/*.py", "kody-prednasajuci/**/*.py"),
        2,
        "script",
        r"numba import cuda(?![\s\S]*numpy\.float\b)",
    ),
    Pool("numba", "liltommy142/cuda-nms-numba", ("tests/test_*.py",), 1, "pytest"),
    Pool(
        "warp",
        "NVIDIA/warp",
        ("warp/examples/core/*.py", "warp/examples/tile/*.py", "warp/examples/optim/*.py", "warp/examples/fem/*.py"),
        7,
        "script",
        "",
        r"opengl|mgpu|nvdb|cupy|utils|__init__",
        "--headless, fewest frames",
    ),
    Pool("warp", "zeshunzong/warp-mpm", ("run_sand.py",), 1, "script"),
    Pool("warp", "google-deepmind/mujoco_warp", ("mujoco_warp/_src/forward.py",), 1, "driver"),
    Pool("warp", "Autodesk/XLB", ("xlb/operator/collision/bgk.py",), 1, "driver"),
    Pool(
        "cute",
        "NVIDIA/cutlass",
        ("examples/python/CuTeDSL/cute*/ampere/**/*.py", "examples/python/CuTeDSL/dsl_tutorials/*.py"),
        5,
        "script",
        "cute.kernel",
        r"iket|programmatic|export|jax",
    ),
    Pool("cute", "currybab/cute-dsl-practice", ("cute-dsl/*.py",), 3, "script", "cute.kernel"),
    Pool("cute", "jonahsamost/forge-cute-py", ("tests/test_*.py",), 1, "pytest"),
    Pool("cute", "Dao-AILab/quack", ("quack/rmsnorm.py",), 1, "driver", gpu="h100"),
)

OTHER_HARDWARE_8 = r"sm_?90|sm_?1\d0|h100|hopper|blackwell|tcgen|wgmma|amd"
TRITON_SCRIPT = r"@triton\.jit[\s\S]*__main__"
EIGHTH = (
    Pool("triton", "kartiksrinivas007/triton-kernels", ("**/*.py",), 1, "script", TRITON_SCRIPT),
    Pool("triton", "Bhavikupadhyay/triton-kernels", ("**/*.py",), 2, "script", TRITON_SCRIPT),
    Pool("triton", "rtj1/triton-kernels", ("**/*.py",), 1, "script", TRITON_SCRIPT),
    Pool("triton", "Ketansuhaas/cuda-triton-kernels", ("**/*.py",), 1, "script", TRITON_SCRIPT),
    Pool("triton", "Abinesh-Mathivanan/triton-kernels", ("**/*.py",), 1, "script", TRITON_SCRIPT),
    Pool("triton", "Kirouane-Ayoub/Triton-kernels", ("**/*.py",), 1, "script", TRITON_SCRIPT),
    Pool("triton", "JackeyLove1/nano-triton-kernel", ("**/*.py",), 2, "script", TRITON_SCRIPT),
    Pool("triton", "equalfm3/cuda-triton-kernels", ("**/*.py",), 1, "script", TRITON_SCRIPT),
    Pool("triton", "pavanyellow/KernelBenchFiltered", ("best_agent_solutions/**/*.py",), 1, "script", TRITON_SCRIPT),
    Pool("triton", "dtadpole/triton-ag", ("**/*.py",), 1, "script", TRITON_SCRIPT),
    Pool(
        "triton",
        "adityakotha03/tritonLLM",
        ("output/**/*.py",),
        1,
        "model",
        r"@triton\.jit[\s\S]*class ModelNew[\s\S]*def get_init_inputs",
    ),
    Pool("triton", "thu-ml/SageAttention", ("sageattention/triton/attn_qk_int8_per_block.py",), 1, "driver"),
    Pool("triton", "fla-org/native-sparse-attention", ("native_sparse_attention/ops/parallel.py",), 1, "driver"),
    Pool(
        "triton",
        "InternLM/lmdeploy",
        ("lmdeploy/pytorch/kernels/cuda/*.py",),
        1,
        "driver",
        r"@triton\.jit",
        OTHER_HARDWARE_8 + "|gluon|_ep",
    ),
    Pool("triton", "xlite-dev/ffpa-attn", ("src/ffpa_attn/triton/_ffpa_fwd.py",), 1, "driver"),
    Pool("triton", "stanford-futuredata/stk", ("stk/backend/triton_kernels.py",), 1, "driver"),
    Pool("triton", "xlite-dev/LeetCUDA", ("kernels/*/*.py",), 1, "script", r"cpp_extension import load"),
    Pool(
        "triton",
        "pavanyellow/KernelBenchFiltered",
        ("best_agent_solutions/**/*.py",),
        2,
        "script",
        r"load_inline\([\s\S]*__main__",
    ),
    Pool("triton", "luongthecong123/learn-cutedsl", ("cuda/*.py",), 1, "script", r"cpp_extension import load"),
    Pool("cupy", "JAGATH123/Code_Runner", ("**/*.py",), 1, "script", r"import cupy"),
    Pool(
        "cupy",
        "leggedrobotics/elevation_mapping_cupy",
        ("elevation_mapping_cupy/script/**/*.py",),
        1,
        "script",
        r"import cupy[\s\S]*__main__",
    ),
    Pool("cupy", "tairaskar/CuPy-Numba-CUDA-C", ("*.py",), 1, "script", r"import cupy"),
    Pool("numba", "manyfeatures/Numba-Cuda", ("**/*.py",), 1, "script", r"@cuda\.jit"),
    Pool("numba", "gmarkall/extending-numba-cuda", ("**/*.py",), 1, "script", r"@cuda\.jit"),
    Pool("numba", "daniel-vera-g/numba-cuda-intro", ("**/*.py",), 1, "script", r"@cuda\.jit"),
    Pool("cute", "KindRoach/learn-CuTeDSL", ("**/*.py",), 1, "script", r"@cute\.kernel[\s\S]*__main__"),
    Pool("cute", "kaakkkaaaa/cute-dsl", ("**/*.py",), 1, "script", r"@cute\.kernel[\s\S]*__main__"),
)

OTHER_TESTS = r"golden|helpers|conftest|validation|fake|deprecated|benchmark"
NINTH = (
    Pool("triton", "KindRoach/learn-triton", ("**/*.py",), 2, "script", TRITON_SCRIPT),
    Pool("triton", "shizhengLi/cuda-triton-learning", ("**/*.py",), 1, "script", TRITON_SCRIPT),
    Pool("triton", "gmongaras/Triton_Kernels", ("**/*.py",), 1, "script", r"@triton\.jit"),
    Pool("triton", "NavneetKanna/flash-attention-triton", ("**/*.py",), 1, "script", TRITON_SCRIPT),
    Pool("triton", "LeoYangXY/learn-cuda-cute-triton", ("triton/**/*.py",), 1, "script", TRITON_SCRIPT),
    Pool("triton", "DeepWok/mase-triton", ("test/test_*.py",), 1, "pytest", "", OTHER_TESTS),
    Pool("triton", "leonematt/triton_kernels", ("tests/test_*.py",), 1, "pytest"),
    Pool("triton", "LarocheC/gru-triton", ("tests/test_triton_*.py",), 1, "pytest"),
    Pool("triton", "L-Reichardt/spconv-triton", ("tests/test_*.py",), 1, "pytest", "", OTHER_TESTS),
    Pool("triton", "databricks/megablocks", ("tests/ops/*_test.py",), 1, "pytest"),
    Pool("triton", "FlagOpen/FlagAttention", ("tests/flag_attn/test_*.py",), 1, "pytest"),
    Pool("triton", "hzeng2000/KernelBench", ("runs/*cuda*/*.py",), 1, "model", "load_inline"),
    Pool("triton", "yenhao-huang/KernelBench", ("runs/openrouter*/*.py",), 1, "model", "load_inline"),
    Pool("triton", "yenhao-huang/KernelBench", ("runs/ralph_codex_cuda_all/**/*.py",), 1, "model", "load_inline"),
    Pool("cupy", "Mog9/FlashAttention-CuPy", ("main.py",), 1, "script"),
    Pool("cupy", "herniqeu/Benchmark-OpenMP-CUDA-Cupy", ("src/cupy/*.py",), 1, "script"),
    Pool("cupy", "mritools/cupyimg", ("cupyimg/scipy/**/test_*.py",), 1, "pytest"),
    Pool("numba", "LooDaHu/CUDA-numba", ("*.py",), 1, "script", r"numba import cuda"),
    Pool("numba", "karimshahi/cuda-python-examples", ("*.py",), 1, "script", r"@cuda\.jit"),
    Pool("numba", "gcapes/intro-cuda-python", ("code/*.py",), 1, "script", "cuda"),
    Pool("cuda-python", "leofang/cuda-python", ("cuda_core/examples/*.py",), 1, "script", "", r"gl_|multi_gpu|cpu"),
    Pool("cuda-python", "leofang/cuda-python", ("cuda_bindings/examples/*/*.py",), 1, "script", "", r"p2p|nvidia_smi"),
    Pool(
        "cute", "blurSong/cute-dsl-cookbook", ("python/*/*.py",), 1, "script", r"@cute\.kernel[\s\S]*__main__", "sm120"
    ),
)
TENTH = (
    Pool("triton", "Starmys/TritonStudyGroup", ("[2-8]*/*.py",), 2, "script", "__main__"),
    Pool("triton", "harsh-vsingh/triton-kernels", ("tests/test_*.py",), 1, "pytest"),
    Pool("triton", "bassrehab/triton-kernels", ("tests/test_*.py",), 1, "pytest"),
    Pool("triton", "ansteve/rope-triton", ("tests/test_*.py",), 1, "pytest"),
    Pool("triton", "thevasudevgupta/gpt-triton", ("test.py",), 1, "pytest"),
    Pool("triton", "matteobonotto/triton-kernels", ("tests/test_*.py",), 1, "pytest"),
    Pool("triton", "taeyoungson/triton_rope", ("triton_utils/*_test.py",), 1, "script"),
    Pool("triton", "stackav-oss/conch", ("tests/*_test.py",), 1, "pytest"),
    Pool("triton", "ai-compiler-study/triton-kernels", ("tests/test_*.py",), 1, "pytest"),
    Pool("triton", "CalvinXKY/BasicCUDA", ("pytorch/torch_ext/*/run.py",), 2, "script", r"cpp_extension import load"),
    Pool("triton", "gau-nernst/learn-cuda", ("*/main.py",), 2, "script", "", r"p2p|sm1\d0|cdna"),
    Pool("cupy", "qutip/qutip-cupy", ("tests/test_*.py",), 1, "pytest", "cupy"),
    Pool("cupy", "lorenzomammana/morphological-operators-cupy", ("main.py",), 1, "script"),
    Pool("cupy", "gaizerbence-ppke/colony-simulator-cupy", ("tests/test_*.py",), 1, "pytest"),
    Pool("cupy", "abyssnlp/numba-gpu", ("*.py",), 1, "script", "import cupy"),
    Pool("numba", "fbpic/fbpic", ("tests/test_*.py",), 1, "pytest", "gpu|cuda"),
    Pool("numba", "fbpic/fbpic", ("tests/unautomated/test_*.py",), 1, "script", "cuda"),
    Pool("numba", "gmarkall/numba-cuda-math-libs-interop", ("*/*.py",), 1, "script", "__main__"),
    Pool("warp", "Eachen-Soong/warp-fluid", ("warp_fluid/examples/*.py",), 1, "script", "__main__"),
    Pool("warp", "sehyunpark-dev/WarpProject", ("main.py",), 1, "script", "", "", "--scene scenes/basic_2d.json"),
    Pool("cute", "alan-hpc/cutedsl-learning", ("topk/*.py",), 1, "script", r"@cute\.kernel[\s\S]*__main__"),
)
LISTS = {"": POOLS, "eighth": EIGHTH, "ninth": NINTH, "tenth": TENTH}


def reference(checkouts: Path, repository: str, file: str) -> str:
    """The KernelBench task of a generated kernel: by level and problem in its path, or the file itself."""
    named = re.search(r"level_(\d+)[/_]problem_(\d+)", file)
    if not named:
        return file
    root = checkouts / repository.replace("/", "+")
    task = next(root.glob(f"KernelBench/level{named[1]}/{named[2]}_*.py"))
    return str(task.relative_to(root))


def commit(checkouts: Path, repository: str) -> str:
    """The checked-out commit of a repository."""
    root = checkouts / repository.replace("/", "+")
    return subprocess.run(
        ["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()


def main(checkouts: Path, name: str = "") -> None:
    """Writes the CSV of the first list, or of the one with this name, to standard output."""
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["language", "repository", "commit", "file", "how", "arguments", "gpu"])
    triton = 0
    for pool in LISTS[name]:
        if pool.count:
            head = commit(checkouts, pool.repository)
            for file in pool.files(checkouts, middle=bool(name)):
                triton += pool.language == "triton"
                newest = name == "eighth" and pool.language == "triton" and triton % 3 == 0  # every third: Triton 3.9
                arguments = reference(checkouts, pool.repository, file) if pool.how == "model" else pool.arguments
                language = "triton-3.9" if newest else pool.language
                out.writerow([language, pool.repository, head, file, pool.how, arguments, pool.gpu])


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
