"""Tactile images as images, with numpy alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# From nothing to the largest force: dark, red, orange, pale.
_STOPS = np.array([[13, 8, 30], [122, 28, 109], [222, 73, 62], [252, 173, 50], [252, 255, 200]], float)
# Pixels along the longer side, at least.
_MIN_SIDE = 240


def _colours(values: NDArray[np.float64], most: float | None) -> NDArray[np.uint8]:
    top = most if most else float(values.max(initial=0.0))
    part = np.clip(values / top if top > 0 else np.zeros_like(values), 0, 1) * (len(_STOPS) - 1)
    below = np.minimum(part.astype(int), len(_STOPS) - 2)
    mixed = _STOPS[below] + (part - below)[..., None] * (_STOPS[below + 1] - _STOPS[below])
    levels: NDArray[np.uint8] = np.round(mixed).astype(np.uint8)
    return levels


def image(
    taxels: NDArray[np.float64], centers: NDArray[np.float64], *, most: float | None = None
) -> NDArray[np.uint8]:
    """The taxels' forces (N) as colours, (height, width, 3). Without a grid each pixel shows the nearest taxel, seen along -z.

    most: the force (N) that is brightest; the largest of all without it.
    """
    if taxels.ndim == 2:
        cells = _colours(taxels, most)
        side = max(1, -(-_MIN_SIDE // max(taxels.shape)))
        return np.ascontiguousarray(np.repeat(np.repeat(cells, side, axis=0), side, axis=1))
    places = centers.reshape(-1, 3)[:, :2]
    low, high = places.min(axis=0), places.max(axis=0)
    extent = max(float((high - low).max()), 1e-9)
    margin = 0.05 * extent
    step = (extent + 2 * margin) / _MIN_SIDE
    columns = np.arange(low[0] - margin, high[0] + margin + step / 2, step)
    rows = np.arange(high[1] + margin, low[1] - margin - step / 2, -step)
    across = (columns[None, :, None] - places[None, None, :, 0]) ** 2
    down = (rows[:, None, None] - places[None, None, :, 1]) ** 2
    nearest = np.stack([(across[0] + row).argmin(axis=-1) for row in down])
    return np.ascontiguousarray(_colours(taxels, most)[nearest])
