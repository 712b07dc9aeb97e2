"""Paths with gradients in numpy: what ``dermis.torch.slide`` and ``dermis.jax.slide`` have in common."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dermis._native import Error, Object, Sensor
from dermis._presses import by_pose_arrays, normalised, totals_of, with_values

_Array = NDArray[np.float64]

_SENSOR = {
    "stiffness": (("skin", "stiffness"), "N/m"),
    "stiffness_per_area": (("skin", "stiffness_per_area"), "Pa/m"),
    "damping": (("skin", "damping"), "N s/m"),
    "damping_per_area": (("skin", "damping_per_area"), "Pa s/m"),
    "sigma0": (("skin", "friction", "sigma0"), "N/m"),
    "sigma1": (("skin", "friction", "sigma1"), "N s/m"),
    "viscous": (("skin", "friction", "viscous"), "N s/m"),
    "mu_static": (("skin", "friction", "mu_static"), None),
    "mu_dynamic": (("skin", "friction", "mu_dynamic"), None),
    "stribeck_speed": (("skin", "friction", "stribeck_speed"), "m/s"),
    "mu": (("skin", "friction", "mu"), None),
    "regularisation_speed": (("skin", "friction", "regularisation_speed"), "m/s"),
}
"""Parameters of the sensor: keys and unit."""


class Slides:
    """Steps of an object along a path, from the present state of the sensor, with parameters of object and sensor."""

    def __init__(self, sensor: Sensor, obj: Object, parameters: Mapping[str, _Array], dt: float) -> None:
        if 'kind = "springs"' not in sensor.toml:
            raise Error(f"sensor {sensor.name!r} has no gradients through time: they exist for springs")
        changed, self.obj = with_values(sensor, obj, parameters, _SENSOR)
        self.sensor = copy.copy(changed)
        self.sensor.state = sensor.state
        self.parameters = parameters
        self.dt = dt

    def read(self, poses: _Array, twists: _Array) -> tuple[_Array, _Array]:
        """Wrench (steps, 6) and taxels (steps, …)."""
        poses = normalised(poses)
        if twists.shape != (len(poses), 6):
            raise Error(f"`twists` must have shape ({len(poses)}, 6), one row for each pose, got {twists.shape}")
        moving = copy.copy(self.sensor)
        wrench, taxels = np.zeros((len(poses), 6)), np.zeros((len(poses), *moving.shape))
        for i, (pose, twist) in enumerate(zip(poses, twists, strict=True)):
            reading = moving.step(self.obj, dt=self.dt, pose=pose, twist=twist)
            wrench[i], taxels[i] = reading.touch.on_sensor, reading.taxels
        return wrench, taxels

    def pull_back(
        self, poses: _Array, twists: _Array, wrench: _Array, taxels: _Array
    ) -> tuple[_Array, _Array, dict[str, _Array]]:
        """Derivatives by the poses, the twists and the parameters, from those by the results of ``read``."""
        given: dict[str, Any] = {"force": wrench[:, :3], "torque": wrench[:, 3:], "taxels": taxels}
        given = {name: np.ascontiguousarray(by) for name, by in given.items()}
        wanted = "vertices" in self.parameters
        found = self.sensor.vjp_path(self.obj, normalised(poses), twists, given, dt=self.dt, vertices=wanted)
        return by_pose_arrays(poses, found), found["twist"], totals_of(self.sensor, self.parameters, found)
