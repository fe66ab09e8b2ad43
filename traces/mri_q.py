"""Calibration matrix Q of a magnetic resonance image, one voxel a thread: Parboil's mri-q (Stratton et al., 2012).

After Stone et al., "Accelerating Advanced MRI Reconstructions on GPUs" (JPDC 2008). The samples in k-space, four floats
each, are in constant memory; a voxel's sums begin with what the launch before left. Parboil compiles it with
``--use_fast_math``.
"""

import numpy as np

from memsim import Launch, Thread, workload
from memsim.sources import Constant


def add_samples(t: Thread, samples, x, y, z, q_re, q_im, n_samples):
    i = t.global_id
    at_x, at_y, at_z = x[i], y[i], z[i]
    re, im = t.var(q_re[i]), t.var(q_im[i])
    for k in t.range(n_samples):
        kx, ky, kz, weight = samples.load(4 * k, 4)
        angle = np.float32(2 * np.pi) * (kx * at_x + ky * at_y + kz * at_z)
        re += weight * np.cos(angle)
        im += weight * np.sin(angle)
    q_re[i] = re
    q_im[i] = im


@workload
def mri_q(voxels: int = 1 << 16, samples: int = 512, block: int = 256, data_seed: int = 1) -> Launch:
    """``voxels``, a multiple of ``block``, and ``samples`` a launch (Parboil has at most 1024)."""
    if voxels < block or voxels % block:
        raise ValueError(f"voxels is {voxels}; give a multiple of the block's {block} threads")
    rng = np.random.default_rng(data_seed)
    k_space = rng.uniform(-0.5, 0.5, (samples, 4)).astype(np.float32)
    k_space[:, 3] += 1
    places = rng.random((3, voxels), np.float32)

    def expected() -> dict[str, np.ndarray]:
        waves = np.exp(2j * np.pi * (places.T.astype(np.float64) @ k_space[:, :3].T))
        q = waves @ k_space[:, 3]
        return {"q_re": q.real, "q_im": q.imag}

    x, y, z = places
    arguments = dict(samples=Constant(k_space), x=x, y=y, z=z)
    arguments |= {name: np.zeros(voxels, np.float32) for name in ("q_re", "q_im")}
    return Launch(
        add_samples,
        grid=voxels // block,
        block=block,
        arguments=arguments | dict(n_samples=samples),
        registers=24,
        fast_math=True,
        expected=expected,
    )
