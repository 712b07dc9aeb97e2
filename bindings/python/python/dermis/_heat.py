"""Heat maps of taxel forces."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Colours from zero to the largest force: dark, red, orange, pale.
_STOPS = np.array([[13, 8, 30], [122, 28, 109], [222, 73, 62], [252, 173, 50], [252, 255, 200]], float)
# Minimum number of pixels along the longer side.
_MIN_SIDE = 240


def _colours(values: NDArray[Any], max_force: float | None) -> NDArray[np.uint8]:
    top = max_force if max_force else float(values.max(initial=0.0))
    part = np.clip(values / top if top > 0 else np.zeros_like(values), 0, 1) * (len(_STOPS) - 1)
    below = np.minimum(part.astype(int), len(_STOPS) - 2)
    mixed = _STOPS[below] + (part - below)[..., None] * (_STOPS[below + 1] - _STOPS[below])
    levels: NDArray[np.uint8] = np.round(mixed).astype(np.uint8)
    return levels


def image(taxels: NDArray[Any], centers: NDArray[np.float64] | None = None, *, max_force: float | None = None) -> NDArray[np.uint8]:
    """The taxel forces (N) as RGB, (height, width, 3). Without a grid, each pixel shows the nearest taxel, seen along -z.

    max_force: force (N) of the brightest colour; default: the largest force.
    """
    if taxels.ndim == 2:
        cells = _colours(taxels, max_force)
        side = max(1, -(-_MIN_SIDE // max(taxels.shape)))
        return np.ascontiguousarray(np.repeat(np.repeat(cells, side, axis=0), side, axis=1))
    assert centers is not None, "taxels without a grid need their centers"
    positions = centers.reshape(-1, 3)[:, :2]
    low, high = positions.min(axis=0), positions.max(axis=0)
    extent = max(float((high - low).max()), 1e-9)
    margin = 0.05 * extent
    step = (extent + 2 * margin) / _MIN_SIDE
    columns = np.arange(low[0] - margin, high[0] + margin + step / 2, step)
    rows = np.arange(high[1] + margin, low[1] - margin - step / 2, -step)
    across = (columns[None, :, None] - positions[None, None, :, 0]) ** 2
    down = (rows[:, None, None] - positions[None, None, :, 1]) ** 2
    nearest = np.stack([(across[0] + row).argmin(axis=-1) for row in down])
    return np.ascontiguousarray(_colours(taxels, max_force)[nearest])
