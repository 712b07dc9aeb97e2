"""Presses with gradients in numpy: what ``dermis.torch.press`` and ``dermis.jax.press`` have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dermis._native import DeviceBatch, Error, Object, Sensor

_Array = NDArray[np.float64]

SIZES = ("scale", "radius", "semi_axes", "size", "length", "vertices")
"""Parameters of the object."""

_SENSOR = {
    "stiffness": (("skin", "stiffness"), "N/m"),
    "stiffness_per_area": (("skin", "stiffness_per_area"), "Pa/m"),
    "hydroelastic_modulus": (("skin", "hydroelastic_modulus"), "Pa"),
    "young": (("skin", "young"), "Pa"),
    "poisson": (("skin", "poisson"), None),
    "thickness": (("skin", "thickness"), "m"),
    "mu": (("skin", "mu"), None),
}
"""Parameters of the sensor: keys and unit."""


_ON_GPU = {*SIZES, "young", "mu"} - {"vertices"}
"""Parameters with gradients on a GPU."""


def _has_gpu_gradients(toml: str) -> bool:
    """True for layers without markers and without shadows of Phong's lamps."""
    has_lamp_shadows = 'kind = "phong"' in toml and "[light.shadow]" in toml
    return 'kind = "layer"' in toml and "[markers" not in toml and not has_lamp_shadows


class Presses:
    """Presses of an object at poses, with parameters of object and sensor.

    on_gpu: on a GPU, if one is found that supports the sensor and the gradients by the parameters; else on the CPU.
    """

    def __init__(self, sensor: Sensor, obj: Object, parameters: Mapping[str, _Array], *, on_gpu: bool = False) -> None:
        self.sensor, self.obj = with_values(sensor, obj, parameters, _SENSOR)
        if "mu" in parameters:
            # An object's own coefficient would replace that of the skin.
            self.obj = self.obj.resized("mu", parameters["mu"])
        self.parameters = parameters
        wanted = on_gpu and set(parameters) <= _ON_GPU and _has_gpu_gradients(self.sensor.toml)
        self.device: Literal["auto", "cpu", "cuda"] = "auto" if wanted else "cpu"

    def read(self, poses: _Array, *, image: bool) -> tuple[Any, Any, Any, Any]:
        """Wrench (n, 6), taxels, markers (n, markers, 2) and image (n, height, width, 3; without height if not wanted).

        Arrays of numpy, or a ``DeviceArray`` where the press ran on a GPU.
        """
        if image and self.sensor.image_shape is None:
            raise Error(f"`image` needs a sensor with a camera: {self.sensor.name!r} has none; take gelsight, gelsight-mini or digit")
        batch = self.sensor.press_batch(self.obj, normalised(poses), device=self.device)
        no_markers, no_image = np.zeros((len(poses), 0, 2)), np.zeros((len(poses), 0, 0, 3))
        if isinstance(batch, DeviceBatch):
            self.device = "cuda"
            return batch.wrench_on_device, batch.taxels_on_device, no_markers, batch.levels_on_device if image else no_image
        self.device = "cpu"
        markers = batch.markers[:, :, 2:] if "[markers" in self.sensor.toml else no_markers
        levels = np.asarray(batch.levels, dtype=np.float64) if image else no_image
        return batch.wrench, batch.taxels, np.ascontiguousarray(markers), levels

    def pull_back(
        self, poses: _Array, wrench: _Array, taxels: _Array, markers: _Array, image: Any
    ) -> tuple[_Array, dict[str, _Array]]:
        """Derivatives by the poses and by the parameters, from those by the results of ``read``.

        image: of numpy, or a contiguous tensor of float32 on the GPU if ``device`` is "cuda".
        """
        given: dict[str, Any] = {"force": wrench[:, :3], "torque": wrench[:, 3:], "taxels": taxels}
        if markers.size:
            given["markers"] = markers
        given = {name: np.ascontiguousarray(by) for name, by in given.items()}
        if 0 not in image.shape:
            given["image"] = np.ascontiguousarray(image) if isinstance(image, np.ndarray) else image
        wanted = "vertices" in self.parameters
        found = self.sensor.vjp(self.obj, normalised(poses), given, device=self.device, vertices=wanted)
        totals = {name: by if name == "vertices" else by.sum(axis=0) for name, by in found.items()}
        return by_pose_arrays(poses, found), totals_of(self.sensor, self.parameters, totals)


def with_values(
    sensor: Sensor,
    obj: Object,
    parameters: Mapping[str, _Array],
    of_sensor: Mapping[str, tuple[tuple[str, ...], str | None]],
) -> tuple[Sensor, Object]:
    """Sensor and object with values of their parameters; ``of_sensor`` has the keys and the unit of those of the sensor."""
    overrides: dict[str, Any] = {}
    # The scale multiplies the other sizes, in whichever order they are given.
    for name, value in sorted(parameters.items(), key=lambda parameter: parameter[0] == "scale"):
        if not np.all(np.isfinite(value)):
            raise Error(f"`{name}` must be finite numbers, got {value}")
        if name in SIZES:
            obj = obj.resized(name, value)
        elif name in of_sensor:
            (*tables, key), unit = of_sensor[name]
            number = float(np.asarray(value).reshape(()))
            table = overrides
            for inner in tables:
                table = table.setdefault(inner, {})
            table[key] = number if unit is None else f"{number!r} {unit}"
        else:
            known = ", ".join([*SIZES, *of_sensor])
            raise Error(f"`params` has {name!r}; it may have {known}")
    return sensor.with_parameters(overrides) if overrides else sensor, obj


def by_pose_arrays(poses: _Array, found: Mapping[str, _Array]) -> _Array:
    """Derivatives by poses (n, 3) or (n, 7) from those by position and rotation."""
    if poses.shape[1] == 3:
        return found["position"]
    return np.concatenate([found["position"], by_quaternions(poses[:, 3:], found["rotation"])], axis=1)


def totals_of(sensor: Sensor, parameters: Mapping[str, _Array], totals: Mapping[str, _Array]) -> dict[str, _Array]:
    """Derivatives by the parameters in their shapes, from those by the sizes of the scaled object and by a further scale."""
    by_parameters = {}
    scale = float(np.asarray(parameters.get("scale", 1.0)).reshape(()))
    for name, value in parameters.items():
        if name not in totals:
            known = ", ".join(sorted(totals))
            raise Error(f"sensor {sensor.name!r} with this object has no gradient by {name!r}; it has those by {known}")
        factor = 1.0 / scale if name == "scale" else scale if name in SIZES else 1.0
        by_parameters[name] = factor * totals[name].reshape(np.shape(value))
    return by_parameters


def normalised(poses: _Array) -> _Array:
    """The poses (n, 3) or (n, 7) with quaternions of length 1."""
    if poses.ndim != 2 or poses.shape[1] not in (3, 7):
        raise Error(f"`pose` must have shape (n, 3) or (n, 7), got {poses.shape}")
    if poses.shape[1] == 3:
        return poses
    length = np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    if not np.all(length > 0.0):
        raise Error("`pose`: a quaternion (w, x, y, z) must not be zero")
    return np.concatenate([poses[:, :3], poses[:, 3:] / length], axis=1)


def by_quaternions(quaternions: _Array, by_rotation: _Array) -> _Array:
    """Derivatives by quaternions (w first, of any length) from those by rotation vectors in the sensor frame.

    A change dq of a unit quaternion rotates by 2 (dq q*): with q = (w, v), by w −2 g·v and by v 2 (w g + g × v).
    """
    length = np.linalg.norm(quaternions, axis=1, keepdims=True)
    unit = quaternions / length
    w, v = unit[:, :1], unit[:, 1:]
    by_w = -2.0 * np.sum(by_rotation * v, axis=1, keepdims=True)
    by_v = 2.0 * (w * by_rotation + np.cross(by_rotation, v))
    by_quaternion: _Array = np.concatenate([by_w, by_v], axis=1) / length
    return by_quaternion
