"""Plots readings. A separate module because importing matplotlib is slow."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from dermis import _optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dermis import Reading


def show(reading: Reading, path: str | os.PathLike[str] | None = None, block: bool = False) -> Figure:
    """Plots a reading: its taxels, and its camera image if it has one."""
    _optional.require("Reading.show()", "matplotlib.pyplot")
    import matplotlib.pyplot as plt

    optical = hasattr(reading, "image")
    count = 1 + 2 * optical
    figure, axes = plt.subplots(1, count, figsize=(4.4 * count, 4.2), layout="constrained", squeeze=False)
    panels = list(axes[0])
    _taxels(panels[0], reading)
    if optical:
        panels[1].imshow(reading.image)
        panels[1].set_title("camera image")
        depth = panels[2].imshow(np.maximum(reading.depth, 0) * 1e3, cmap="inferno")
        figure.colorbar(depth, ax=panels[2], label="depth (mm)", shrink=0.8)
        panels[2].set_title("depth")
        for panel in panels[1:]:
            panel.set_axis_off()
        if hasattr(reading, "markers"):
            markers = reading.markers
            before, moved = markers[:, :2], markers[:, 2:] - markers[:, :2]
            panels[2].quiver(*before.T, *moved.T, color="w", angles="xy", scale_units="xy", scale=0.2, width=3e-3)
    x, y, z = reading.force
    figure.suptitle(f"{reading.sensor}\n{-z:.3g} N normal, {np.hypot(x, y):.3g} N shear", fontsize="medium")
    if path is not None:
        figure.savefig(path, dpi=150)
    if plt.get_backend().lower() not in ("agg", "pdf", "svg", "ps", "cairo"):
        plt.show(block=block)
    return figure


def _taxels(axes: Axes, reading: Reading) -> None:
    """Normal force as colour; shear force as arrows."""
    values, forces, centers = reading.taxels, reading.forces, reading.centers * 1e3
    if values.ndim == 2:
        x, y = centers[0, :, 0], centers[:, 0, 1]
        half = 0.5 * (abs(x[1] - x[0]) if len(x) > 1 else abs(y[0] - y[-1]) / max(len(y) - 1, 1) or 1.0)
        extent = (x[0] - half, x[-1] + half, y[-1] - half, y[0] + half)
        drawn = axes.imshow(values, extent=extent, cmap="inferno", vmin=0.0, interpolation="nearest")
        axes.figure.colorbar(drawn, ax=axes, label="force (N)", shrink=0.8)
    else:
        dots = axes.scatter(centers[:, 0], centers[:, 1], c=values, cmap="inferno", vmin=0.0, s=60, edgecolors="0.6")
        axes.figure.colorbar(dots, ax=axes, label="force (N)", shrink=0.8)
        axes.set_aspect("equal")
    at, shear = centers.reshape(-1, 3), forces.reshape(-1, 3)[:, :2]
    largest = float(np.abs(shear).max(initial=0.0))
    if largest > 1e-3 * max(float(values.max(initial=0.0)), 1e-9):
        axes.quiver(at[:, 0], at[:, 1], shear[:, 0], shear[:, 1], color="c", angles="xy", width=4e-3)
    axes.set_xlabel("x (mm)")
    axes.set_ylabel("y (mm)")
    axes.set_title("taxels")
