"""Calls the public function of a CuPy, Warp or CuTe DSL library that launches the kernels of one file of the list.

    python package_drivers.py CHECKOUTS OWNER/NAME FILE

As drivers.py, for libraries that do not use torch, or not alone.
"""

import importlib
import os
import sys
import types

import numpy as np

CHECKOUTS = ""


def root(repository, below=""):
    """The folder of a repository, put on the path."""
    folder = os.path.join(CHECKOUTS, repository.replace("/", "+"), below)
    sys.path.insert(0, folder)
    return folder


def bare(folder, name):
    """Make a package without running its ``__init__``."""
    package = types.ModuleType(name)
    package.__path__ = [os.path.join(folder, *name.split("."))]
    sys.modules[name] = package


def cusignal():
    """Cepstra of a signal, and back."""
    import cupy as cp

    folder = root("rapidsai/cusignal", "python")
    bare(folder, "cusignal")
    bare(folder, "cusignal.acoustics")
    module = importlib.import_module("cusignal.acoustics.cepstrum")
    x = np.random.default_rng(0).random(1000)
    real = module.real_cepstrum(cp.asarray(x))
    expected = np.fft.ifft(np.log(np.abs(np.fft.fft(x)))).real
    np.testing.assert_allclose(cp.asnumpy(real), expected, atol=1e-9)
    module.complex_cepstrum(cp.asarray(x))
    module.minimum_phase(cp.asarray(x))


def mujoco_warp():
    """One step of the test model of constraints."""
    import mujoco

    folder = root("google-deepmind/mujoco_warp")
    import mujoco_warp as mjw

    model = mujoco.MjModel.from_xml_path(os.path.join(folder, "mujoco_warp", "test_data", "pendula.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    m, d = mjw.put_model(model), mjw.put_data(model, data)
    mjw.forward(m, d)
    np.testing.assert_allclose(d.qacc.numpy()[0], data.qacc, rtol=1e-2, atol=1e-2)


def xlb():
    """The collision of the library's own test, on a small grid."""
    root("Autodesk/XLB")
    import xlb
    from xlb.compute_backend import ComputeBackend
    from xlb.grid import grid_factory
    from xlb.operator.collision import BGK
    from xlb.operator.equilibrium import QuadraticEquilibrium
    from xlb.precision_policy import PrecisionPolicy
    from xlb.velocity_set import D3Q19

    backend, policy = ComputeBackend.WARP, PrecisionPolicy.FP32FP32
    velocities = D3Q19(policy, backend)
    xlb.init(default_precision_policy=policy, default_backend=backend, velocity_set=velocities)
    grid = grid_factory((8, 8, 8))
    rho, u = grid.create_field(1, fill_value=1.0), grid.create_field(3, fill_value=0.0)
    f_eq = QuadraticEquilibrium()(rho, u, grid.create_field(19))
    f = grid.create_field(19, fill_value=0.0)
    BGK()(f, f_eq, grid.create_field(19), rho, u, 1.0)


def quack():
    """RMS norm, compared with the library's reference."""
    import torch

    root("Dao-AILab/quack")
    module = importlib.import_module("quack.rmsnorm")
    x, weight = torch.randn(16, 256, device="cuda"), torch.randn(256, device="cuda")
    torch.testing.assert_close(
        module.rmsnorm(x, weight).cpu(), module.rmsnorm_ref(x, weight).cpu(), rtol=1e-4, atol=1e-4
    )


DRIVERS = {
    "rapidsai/cusignal": cusignal,
    "google-deepmind/mujoco_warp": mujoco_warp,
    "Autodesk/XLB": xlb,
    "Dao-AILab/quack": quack,
}


def main():
    """Run the driver that the command names."""
    global CHECKOUTS
    CHECKOUTS, repository = sys.argv[1:3]
    DRIVERS[repository]()


if __name__ == "__main__":
    main()
