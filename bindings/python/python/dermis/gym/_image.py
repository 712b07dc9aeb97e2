"""Taxels as an image, without a graphics library."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Dark blue over red to white, in thirds.
COLOURS = np.array([[20, 20, 60], [150, 30, 90], [240, 130, 40], [255, 255, 230]], dtype=float)


def image(taxels: ArrayLike, *, full: float, pixels: int = 24) -> NDArray[np.uint8]:
    """A (rows, cols) array in newtons as (rows * pixels, cols * pixels, 3); ``full`` newtons and more are white."""
    part = np.clip(np.asarray(taxels, dtype=float) / full, 0, 1) * (len(COLOURS) - 1)
    low = np.minimum(part.astype(int), len(COLOURS) - 2)
    mixed = COLOURS[low] + (part - low)[..., None] * (COLOURS[low + 1] - COLOURS[low])
    return np.kron(mixed, np.ones((pixels, pixels, 1))).astype(np.uint8)
