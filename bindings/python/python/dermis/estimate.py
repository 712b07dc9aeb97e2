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

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dermis import _native
from dermis._native import Object, Sensor

__all__ = ["Contact", "Placement", "Pose", "contact", "placement", "pose"]

_Freedom = Literal["along-x", "along-y", "along-z", "about-x", "about-y", "about-z"]
_Unknown = Literal["x", "y", "depth", "tilt_x", "tilt_y", "yaw", "shear_x", "shear_y", "scale"]


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
    shear: tuple[float, float]
    """Tangential displacement after the press, x and y (m)."""
    scale: float
    """Size by that of the given object."""
    force: tuple[float, float, float]
    """Force on the sensor (N), in the sensor frame: shear along x and y, and minus the normal force."""
    force_errors: tuple[float, float, float]
    """Standard errors of the force (N), by those of the unknowns."""
    quantile: float
    """Standard errors in half a 95 % interval: 1.96, more if few channels determine them."""
    standard_errors: dict[str, float]
    """Standard error of each unknown, from the residuals of the fit; infinite where the reading does not determine it."""
    rms: float
    """Root mean square residual: levels of 255 of an image, newtons of taxels, µT of magnetometers."""
    explained: float
    """Part of the squared change of the reading by the contact that the fit explains: 1 for a perfect fit, 0 for one that is no better than
    a sensor without contact, negative for a worse one."""
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
    magnetic: ArrayLike | None = None,
    rest: ArrayLike | None = None,
    unknowns: Sequence[_Unknown] = ("x", "y", "depth"),
    at: tuple[float, float] = (0.0, 0.0),
    depth: float = 0.0,
    tilt: tuple[float, float] = (0.0, 0.0),
    yaw: float = 0.0,
    shear: tuple[float, float] = (0.0, 0.0),
    scale: float = 1.0,
) -> Placement:
    """Estimates where and how strongly an object touched a sensor.

    image: what the camera saw, levels 0–255, (height, width, 3); or taxels: forces on the taxels before the response of
    the sensor (N), in the shape of ``Reading.taxels``; or magnetic: flux densities (µT) at the magnetometers, in the shape of
    ``Reading.magnetic``, with those at rest (µT; by default those of the sensor file).
    unknowns: what to estimate; the other quantities are at (m), depth (m), tilt (rad), yaw (rad), shear (m) and scale. An unknown position starts where
    the reading shows a contact.

    The standard errors contain the noise of the reading and, of an image, the error of a calibrated light, not other errors of the sensor's description. Raises dermis.Error if the reading shows
    no contact or is that of another sensor. Takes some hundred presses; Ctrl-C ends it.
    """
    known = [float(part) for part in (*at, depth, *tilt, yaw, *shear, scale)]
    found = json.loads(_native.estimate_placement(sensor, obj, image, taxels, magnetic, rest, known, list(unknowns)))
    placed = found["placement"]
    infinite = float("inf")
    return Placement(
        at=tuple(placed["at_m"]),
        depth=placed["depth_m"],
        tilt=tuple(placed["tilt_rad"]),
        yaw=placed["yaw_rad"],
        shear=tuple(placed["shear_m"]),
        scale=placed["scale"],
        force=tuple(found["force_newton"]),
        force_errors=tuple(infinite if error is None else error for error in found["force_errors_newton"]),
        quantile=found["quantile"],
        standard_errors={name: infinite if error is None else error for name, error in found["standard_errors"]},
        rms=found["rms"],
        explained=found["explained"],
        converged=found["converged"],
        warnings=found["warnings"],
    )


class Pose(NamedTuple):
    """The pose of an object that touches a sensor."""

    pose: NDArray[np.float64]
    """Pose of the object in the frame of the sensor, (4, 4)."""
    position_errors: tuple[float, float, float]
    """Standard errors of the position of the object's origin (m), along the axes of the sensor; 0 where it is fixed, infinite if the
    reading does not determine all freedoms."""
    rotation_errors: tuple[float, float, float]
    """Standard errors of rotations about the axes of the sensor (rad)."""
    quantile: float
    """Standard errors in half a 95 % interval."""
    force: tuple[float, float, float]
    """Force on the sensor (N) of the fitted press, in the sensor frame."""
    rms: float
    """Root mean square residual: levels of 255 of an image, newtons of taxels, µT of magnetometers."""
    explained: float
    """Part of the squared change of the reading by the contact that the fit explains: 1 for a perfect fit, 0 for one that is no better than
    a sensor without contact, negative for a worse one."""
    converged: bool
    """False if the fit stopped before it converged."""
    presses: int
    """Number of simulated presses."""
    warnings: list[str]
    """Warnings of the skin about the fitted press, and about the fit."""


def pose(
    sensor: Sensor,
    obj: Object,
    near: ArrayLike,
    *,
    image: ArrayLike | None = None,
    taxels: ArrayLike | None = None,
    magnetic: ArrayLike | None = None,
    rest: ArrayLike | None = None,
    fixed: Sequence[_Freedom] = (),
) -> Pose:
    """Estimates all six freedoms of an object that is held on the untouched sensor, from a pose nearby.

    near: a pose in the frame of the sensor within about 1 mm and 10°: (4, 4), (7,) position and quaternion (w first), or (3,).
    image, taxels, magnetic, rest: the reading, as for ``placement``. fixed: freedoms along and about the object's own axes that stay as in
    ``near``, such as "about-z" for a body of revolution; a rotation that no reading shows must be fixed. Those of a sphere always are.

    Raises dermis.Error if the reading shows no contact or is that of another sensor. Takes 40 to 330 presses; Ctrl-C ends it.

    >>> import dermis, dermis.estimate
    >>> sensor, egg = dermis.Sensor.preset("uji-foam-14x6"), dermis.Object.ellipsoid(semi_axes=[20e-3, 12e-3, 10e-3])
    >>> reading = sensor.press(egg, depth=2e-3, at=[3e-3, -5e-3], yaw=0.4)
    >>> found = dermis.estimate.pose(sensor, egg, near=[2.5e-3, -5e-3, 8e-3, 0.97, 0, 0, 0.243], taxels=reading.taxels)
    >>> bool(abs(found.pose - reading.pose)[:3, 3].max() < 20e-6)
    True
    """
    matrix, text = _native.estimate_pose(sensor, obj, near, image, taxels, magnetic, rest, list(fixed))
    found = json.loads(text)

    def errors(name: str) -> tuple[float, float, float]:
        return tuple(float("inf") if error is None else error for error in found[name])  # type: ignore[return-value]

    return Pose(
        pose=matrix,
        position_errors=errors("position_errors_m"),
        rotation_errors=errors("rotation_errors_rad"),
        quantile=found["quantile"],
        force=tuple(found["force_newton"]),
        rms=found["rms"],
        explained=found["explained"],
        converged=found["converged"],
        presses=found["presses"],
        warnings=found["warnings"],
    )


class Contact(NamedTuple):
    """A contact on magnets that move by a measured table; each interval is half a 95 % interval."""

    at: tuple[float, float]
    """Place, x and y (m)."""
    at_interval: tuple[float, float]
    """Half the intervals of the place (m)."""
    depth: float
    """Travel of the probe (m)."""
    depth_interval: float
    """Half the interval of the travel (m)."""
    side: float
    """Side of the hysteresis: 1 when loading, -1 when unloading."""
    load: float | None
    """Load of the probe (N); None if the table has no loads."""
    load_interval: float | None
    """Half the interval of the load (N)."""
    misfit: float
    """Root mean square of the difference that remains, in standard deviations of the residual of the table."""


def contact(sensor: Sensor, magnetic: ArrayLike, *, rest: ArrayLike | None = None) -> Contact:
    """Estimates the contact on a sensor whose magnets move by a measured table, such as the preset ``eflesh``.

    magnetic: flux densities (µT) at the magnetometers, shape (chips, 3); rest: those at rest (µT), by default those of the sensor file.
    """
    found = json.loads(_native.estimate_contact(sensor, magnetic, rest))
    load = found["load_newton"]
    return Contact(
        at=(found["x_m"]["value"], found["y_m"]["value"]),
        at_interval=(found["x_m"]["ci95"], found["y_m"]["ci95"]),
        depth=found["travel_m"]["value"],
        depth_interval=found["travel_m"]["ci95"],
        side=found["side"]["value"],
        load=None if load is None else load["value"],
        load_interval=None if load is None else load["ci95"],
        misfit=found["misfit"],
    )
