"""``memsim nvcc``: NVIDIA's compiler, with the options that make a program capturable."""

from __future__ import annotations

import typer


def nvcc(ctx: typer.Context) -> None:
    """Compile CUDA C++ with nvcc, so that `memsim capture` can run the program.

    Takes nvcc's options. The program gets the shared CUDA runtime, PTX instead of machine code, and line numbers.
    The architecture is the newest that the build names and the default GPU runs, or that of the GPU in MEMSIM_GPU.

    \b
    memsim nvcc -O3 main.cu kernels.cu -o app && memsim capture -o app.h5 ./app
    make NVCC="memsim nvcc"
    cmake -B build -DCMAKE_CUDA_COMPILER=memsim-nvcc
    make CUDA_PATH="$(memsim nvcc --memsim-toolkit)"
    PATH="$(memsim nvcc --memsim-toolkit)/bin:$PATH" make
    """
    from memsim.capture.nvcc import main

    raise typer.Exit(main(ctx.args))
