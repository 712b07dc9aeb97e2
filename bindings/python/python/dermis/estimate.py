"""Pose and size of an object from one reading, by fitting the simulated reading.

>>> import dermis, dermis.estimate
>>> sensor, ball = dermis.Sensor.preset("uji-foam-14x6"), dermis.Object.sphere(radius=10e-3)
>>> reading = sensor.press(ball, depth=2e-3, at=[3e-3, -5e-3])
>>> found = dermis.estimate.placement(sensor, ball, taxels=reading.taxels)
>>> [round(1e3 * part, 2) for part in (*found.at, found.depth)]
[3.0, -5.0, 2.0]
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, NamedTuple

from numpy.typing import ArrayLike

from dermis import _native
from dermis._native import Object, Sensor

__all__ = ["Placement", "placement"]

_Unknown = Literal["x", "y", "depth", "tilt_x", "tilt_y", "yaw", "scale"]


class Placement(NamedTuple):
    """Where an object touches a sensor, and its size."""

    at: tuple[float, float]
    """Position of the object's origin, x and y (m)."""
    depth: float
    """Travel past first contact (m)."""
    tilt: tuple[float, float]
    """Rotation about the sensor's x axis, then y (rad)."""
    yaw: float
    """Rotation about the sensor's z axis before that (rad)."""
    scale: float
    """Size by that of the given object."""
    standard_errors: dict[str, float]
    """Standard error of each unknown, from the residuals of the fit; infinite where the reading does not determine it."""
    rms: float
    """Root mean square residual: levels of 255 of an image, newtons of taxels."""
    explained: float
    """Part of the squared change of the reading by the contact that the fit explains; 1 for a perfect fit."""
    converged: bool
    """False if the fit stopped before it converged."""
    warnings: list[str]
    """Warnings of the skin about the fitted press, and about the fit."""


def placement(
    sensor: Sensor,
    obj: Object,
    *,
    image: ArrayLike | None = None,
    taxels: ArrayLike | None = None,
    unknowns: Sequence[_Unknown] = ("x", "y", "depth"),
    at: tuple[float, float] = (0.0, 0.0),
    depth: float = 0.0,
    tilt: tuple[float, float] = (0.0, 0.0),
    yaw: float = 0.0,
    scale: float = 1.0,
) -> Placement:
    """Estimates where an object touched a sensor.

    image: what the camera saw, levels 0–255, (height, width, 3); or taxels: forces on the taxels before the response of
    the sensor (N), in the shape of ``Reading.taxels``.
    unknowns: what to estimate; the other quantities are at (m), depth (m), tilt (rad), yaw (rad) and scale. An unknown position starts where
    the reading shows a contact.

    The standard errors contain the noise of the reading, not the errors of the sensor's description. Raises dermis.Error if the reading shows
    no contact or is that of another sensor. Takes some hundred presses; Ctrl-C ends it.
    """
    known = [float(part) for part in (*at, depth, *tilt, yaw, scale)]
    found = json.loads(_native.estimate_placement(sensor, obj, image, taxels, known, list(unknowns)))
    placed = found["placement"]
    infinite = float("inf")
    return Placement(
        at=tuple(placed["at_m"]),
        depth=placed["depth_m"],
        tilt=tuple(placed["tilt_rad"]),
        yaw=placed["yaw_rad"],
        scale=placed["scale"],
        standard_errors={name: infinite if error is None else error for name, error in found["standard_errors"]},
        rms=found["rms"],
        explained=found["explained"],
        converged=found["converged"],
        warnings=found["warnings"],
    )
