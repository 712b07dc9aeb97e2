"""Actions of the environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dermis import Error


def clipped(action: Any, size: int) -> NDArray[np.float64]:
    """The action, cut off at -1 and 1."""
    numbers = np.asarray(action, dtype=float)
    if numbers.shape != (size,) or not np.isfinite(numbers).all():
        raise Error(f"`action` must be {size} finite numbers from -1 to 1, got {action!r}")
    return np.clip(numbers, -1, 1)
