"""Image similarity, with the definitions of scikit-image.

Most of a tactile image shows untouched gel, so a score of the full frame says little: compare it with the score of the background
image, and use a ``mask`` of the contact.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from numpy.typing import ArrayLike

from dermis import _native

__all__ = ["Similarity", "compare"]


class Similarity(NamedTuple):
    """Scores of an image against the true one, over all channels."""

    ssim: float
    """Mean structural similarity, 1 for equal images."""
    psnr_db: float
    """Peak signal-to-noise ratio (dB); infinite for equal images."""
    mae_255: float
    """Mean absolute difference, in levels of 255."""
    rmse_255: float
    """Root of the mean squared difference, in levels of 255."""
    pixels: int
    """Number of compared pixels."""


def compare(
    truth: ArrayLike, image: ArrayLike, *, mask: ArrayLike | None = None, window: Literal["uniform", "gaussian"] = "uniform"
) -> Similarity:
    """Compares an image with the true one.

    truth, image: levels 0–255, (height, width) or (height, width, channels). mask: pixels to compare, (height, width).
    window: of SSIM, "uniform" (7 x 7 pixels) or "gaussian" (1.5 pixels).
    """
    return Similarity(*_native.compare_images(truth, image, mask, window))
