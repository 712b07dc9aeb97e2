"""Presses with gradients for JAX.

>>> import dermis
>>> import jax
>>> from dermis.jax import press
>>> sensor, ball = dermis.Sensor.preset("uji-foam-14x6"), dermis.Object.sphere(radius=10e-3)
>>> gradient = jax.grad(lambda pose: (press(sensor, ball, pose).taxels ** 2).sum())(jax.numpy.array([[0.0, 0.0, 8.5e-3]]))
>>> bool(gradient[0, 2] < 0)
True
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dermis._native import Object, Sensor
from dermis._presses import Presses

__all__ = ["Pressed", "press"]


class Pressed(NamedTuple):
    """Readings of a batch of presses."""

    wrench: jax.Array
    """Force (N) and torque (N m) on the sensor about its origin, (n, 6)."""
    taxels: jax.Array
    """Forces on the taxels before the response of the sensor (N), (n, rows, cols) or (n, taxels)."""
    markers: jax.Array
    """Column and row of each marker (pixels), (n, markers, 2)."""
    image: jax.Array
    """Levels of the camera image before rounding, (n, height, width, 3); (n, 0, 0, 3) unless asked for."""


def press(
    sensor: Sensor, obj: Object, pose: Any, params: Mapping[str, Any] | None = None, *, image: bool = False
) -> Pressed:
    """Holds an object at poses on the untouched sensor; the results can be differentiated.

    Arguments as for ``dermis.torch.press``. Runs on the host, on all CPU cores, in double precision, inside ``jax.jit`` too;
    results have the type of ``pose``.
    """
    pose = jnp.asarray(pose)
    values = {name: jnp.asarray(value, dtype=pose.dtype) for name, value in (params or {}).items()}
    # The sizes of the results are those of one press far from the sensor.
    away = np.zeros((1, pose.shape[-1]))
    away[0, 2:4] = 1.0
    single = Presses(sensor, obj, {}).read(away, image=image)
    shapes = tuple(jax.ShapeDtypeStruct((pose.shape[0], *part.shape[1:]), pose.dtype) for part in single)

    def numbers(tree: Any) -> Any:
        return jax.tree.map(lambda value: np.asarray(value, dtype=np.float64), tree)

    def typed(tree: Any) -> Any:
        return jax.tree.map(lambda value: np.asarray(value, dtype=pose.dtype), tree)

    def read(pose: Any, values: Any) -> Any:
        return typed(Presses(sensor, obj, numbers(values)).read(numbers(pose), image=image))

    def pull_back(pose: Any, values: Any, cotangents: Any) -> Any:
        return typed(Presses(sensor, obj, numbers(values)).pull_back(numbers(pose), *numbers(cotangents)))

    @jax.custom_vjp
    def run(pose: Any, values: Any) -> Any:
        return jax.pure_callback(read, shapes, pose, values)

    def forward(pose: Any, values: Any) -> Any:
        return run(pose, values), (pose, values)

    def backward(saved: Any, cotangents: Any) -> Any:
        pose, values = saved
        like = jax.tree.map(lambda value: jax.ShapeDtypeStruct(value.shape, value.dtype), (pose, values))
        return jax.pure_callback(pull_back, like, pose, values, cotangents)

    run.defvjp(forward, backward)
    return Pressed(*run(pose, values))
