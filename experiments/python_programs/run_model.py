"""Runs a module in the form of KernelBench once: ``python run_model.py NEW REFERENCE``.

NEW defines ``ModelNew``; REFERENCE defines ``get_init_inputs`` and ``get_inputs``.
"""

import importlib.util
import sys

import torch


def load(file):
    """A file as a module."""
    spec = importlib.util.spec_from_file_location(file.rsplit("/", 1)[-1][: -len(".py")], file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def on_gpu(values):
    """Tensors among the inputs, moved to the GPU."""
    return [value.cuda() if isinstance(value, torch.Tensor) else value for value in values]


def main(new, reference):
    """Build the new model and apply it to the reference's inputs."""
    given = load(reference)
    model = load(new).ModelNew(*on_gpu(given.get_init_inputs())).cuda()
    with torch.no_grad():
        model(*on_gpu(given.get_inputs()))
    torch.cuda.synchronize()


if __name__ == "__main__":
    main(*sys.argv[1:])
