"""Speckle-reducing anisotropic diffusion of an ultrasound image (Yu and Acton, IEEE Trans. Image Processing, 2002).

The two kernels of Rodinia's srad_v1 (Che et al., IISWC 2009): ``coefficients`` stores four differences and the
diffusion coefficient of every pixel, ``update`` the image. Neighbours are found through arrays of their numbers.
"""

from typing import Literal

import numpy as np

from memsim import Launch, Thread, workload


def coefficients(t: Thread, north_of, south_of, east_of, west_of, north, south, east, west, spread, image, rows, n, q0):
    i = t.global_id
    row, column = i % rows, i // rows
    with t.where(i < n):
        here = image[i]
        to_north = image[north_of[row] + rows * column] - here
        to_south = image[south_of[row] + rows * column] - here
        to_west = image[row + rows * west_of[column]] - here
        to_east = image[row + rows * east_of[column]] - here
        squares = to_north * to_north + to_south * to_south + to_west * to_west + to_east * to_east
        gradient, laplacian = squares / (here * here), (to_north + to_south + to_west + to_east) / here
        divisor = 1.0 + 0.25 * laplacian
        q = (0.5 * gradient - 0.0625 * laplacian * laplacian) / (divisor * divisor)
        coefficient = 1.0 / (1.0 + (q - q0) / (q0 * (1.0 + q0)))
        north[i] = to_north
        south[i] = to_south
        west[i] = to_west
        east[i] = to_east
        spread[i] = np.minimum(np.maximum(coefficient, 0.0), 1.0)


def update(t: Thread, south_of, east_of, north, south, east, west, spread, image, rows, n, rate):
    i = t.global_id
    row, column = i % rows, i // rows
    with t.where(i < n):
        here = spread[i]
        to_south = spread[south_of[row] + rows * column]
        to_east = spread[row + rows * east_of[column]]
        divergence = here * north[i] + to_south * south[i] + here * west[i] + to_east * east[i]
        image[i] = image[i] + 0.25 * rate * divergence


def diffusion(image: np.ndarray, q0: float) -> dict[str, np.ndarray]:
    """What ``coefficients`` leaves, all [columns, rows] as the image."""
    padded = np.pad(image.astype(np.float64), 1, mode="edge")
    here = padded[1:-1, 1:-1]
    steps = {"north": (1, 0), "south": (1, 2), "west": (0, 1), "east": (2, 1)}
    height, width = image.shape
    differences = {name: padded[y : y + height, x : x + width] - here for name, (y, x) in steps.items()}
    gradient = sum(difference**2 for difference in differences.values()) / here**2
    laplacian = sum(differences.values()) / here
    q = (gradient / 2 - laplacian**2 / 16) / (1 + laplacian / 4) ** 2
    return differences | {"spread": np.clip(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0, 1)}


def updated(fields: dict[str, np.ndarray], image: np.ndarray, rate: float) -> np.ndarray:
    """The image after a step."""
    spread = fields["spread"]
    beyond = np.pad(spread, ((0, 1), (0, 1)), mode="edge")
    divergence = spread * (fields["north"] + fields["west"])
    divergence += beyond[:-1, 1:] * fields["south"] + beyond[1:, :-1] * fields["east"]
    return image + rate / 4 * divergence


@workload
def srad(
    rows: int = 502,
    columns: int = 458,
    variant: Literal["coefficients", "update"] = "coefficients",
    block: int = 512,
    q0: float = 0.05,
    rate: float = 0.5,
    data_seed: int = 1,
) -> Launch:
    """An image of ``rows`` x ``columns`` random float32, stored by columns (Rodinia's has 502 x 458; blocks of 512)."""
    rng = np.random.default_rng(data_seed)
    image = rng.uniform(1, 2, (columns, rows)).astype(np.float32)
    fields = {name: values.astype(np.float32) for name, values in diffusion(image, q0).items()}
    down, across = np.arange(rows, dtype=np.int32), np.arange(columns, dtype=np.int32)
    south_of, east_of = np.minimum(down + 1, rows - 1), np.minimum(across + 1, columns - 1)
    common = dict(image=image.reshape(-1).copy(), rows=rows, n=image.size)
    if variant == "coefficients":
        arguments = dict(north_of=np.maximum(down - 1, 0), south_of=south_of)
        arguments |= dict(east_of=east_of, west_of=np.maximum(across - 1, 0))
        arguments |= {name: np.zeros(image.size, np.float32) for name in fields}
        arguments |= common | dict(q0=q0)
        expected = {name: values.reshape(-1) for name, values in fields.items()}
    else:
        arguments = dict(south_of=south_of, east_of=east_of)
        arguments |= {name: values.reshape(-1).copy() for name, values in fields.items()}
        arguments |= common | dict(rate=rate)
        expected = {"image": updated(fields, image, rate).reshape(-1)}
    return Launch(
        coefficients if variant == "coefficients" else update,
        grid=-(-image.size // block),
        block=block,
        arguments=arguments,
        registers=24,
        expected=lambda: expected,
    )
