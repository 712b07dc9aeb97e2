"""Scores synthetic images with scikit-image, for the tests of dermis' metrics.

    python -m venv venv && venv/bin/pip install scikit-image
    venv/bin/python make_golden.py > golden.json

The same formula stands in crates/sensor/tests/metrics.rs.
"""

import json

import numpy as np
import skimage
from skimage.metrics import peak_signal_noise_ratio, structural_similarity


def image(width, height, channels, kind):
    """A ramp with hashed noise; kind 0 is a background, 1 and 2 have a disc on it, 2 with other noise."""
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(channels), indexing="ij")
    ramp = 60 + (2 * x + 3 * y + 40 * c) % 100
    noise = (((x * 7919) ^ (y * 104729) ^ (c * 1299709) ^ ((kind + 1) * 15485863)) >> 3) % 24
    return (ramp + noise + (50 + 10 * c) * disc(width, height)[..., None] * (kind > 0)).astype(np.uint8)


def disc(width, height):
    y, x = np.mgrid[:height, :width]
    return (2 * x - width) ** 2 + (2 * y - height) ** 2 < (min(width, height) * 2 // 3) ** 2


WINDOWS = {
    "uniform7": dict(win_size=7),
    "uniform11_population": dict(win_size=11, use_sample_covariance=False),
    "gaussian": dict(gaussian_weights=True, sigma=1.5, use_sample_covariance=False),
    "gaussian_sample": dict(gaussian_weights=True, sigma=1.5),
}


def score(truth, other, mask, window):
    mssim, full = structural_similarity(truth, other, channel_axis=2, data_range=255, full=True, **WINDOWS[window])
    a, b = (truth, other) if mask is None else (truth[mask], other[mask])
    difference = a.astype(float) - b.astype(float)
    return {
        "ssim": float(mssim if mask is None else full[mask].mean()),
        "psnr_db": float(peak_signal_noise_ratio(a, b, data_range=255)),
        "mae_255": float(np.abs(difference).mean()),
        "rmse_255": float(np.sqrt((difference**2).mean())),
    }


cases = []
for width, height, channels in [(64, 48, 3), (31, 23, 1), (40, 61, 3)]:
    background, truth, other = (image(width, height, channels, kind) for kind in (0, 1, 2))
    for window in WINDOWS:
        for masked in (False, True):
            mask = disc(width, height) if masked else None
            cases.append(
                {
                    "width": width,
                    "height": height,
                    "channels": channels,
                    "window": window,
                    "masked": masked,
                    "score": score(truth, other, mask, window),
                    "null": score(truth, background, mask, window),
                }
            )
print(json.dumps({"scikit_image": skimage.__version__, "cases": cases}, indent=1))
