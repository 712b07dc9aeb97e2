"""How alike two images are, as scikit-image has it.

Most of a tactile image is untouched gel, so that a full-frame score barely moves whatever is drawn: compare it with the score of
the background alone, and look inside a ``mask`` of the contact.
"""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from dermis import _native

__all__ = ["Likeness", "compare"]


class Likeness(NamedTuple):
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
    """How many pixels were compared."""


def compare(
    truth: ArrayLike, image: ArrayLike, *, mask: ArrayLike | None = None, window: str = "uniform"
) -> Likeness:
    """Compares an image with the true one.

    truth, image: levels 0–255, (height, width) or (height, width, channels). mask: which pixels count, (height, width).
    window: of SSIM, "uniform" (7 x 7 pixels) or "gaussian" (1.5 pixels).
    """
    return Likeness(*_native.compare_images(truth, image, mask, window))
