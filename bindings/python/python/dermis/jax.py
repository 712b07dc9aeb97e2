"""Presses and paths with gradients for JAX.

>>> import dermis
>>> import jax
>>> from dermis.jax import press
>>> sensor, ball = dermis.Sensor.preset("uji-foam-14x6"), dermis.Object.sphere(radius=10e-3)
>>> gradient = jax.grad(lambda pose: (press(sensor, ball, pose).taxels ** 2).sum())(jax.numpy.array([[0.0, 0.0, 8.5e-3]]))
>>> bool(gradient[0, 2] < 0)
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dermis import _optional

_optional.require("dermis.jax", "jax")

import jax
import jax.numpy as jnp
import numpy as np

from dermis._native import Object, Sensor
from dermis._presses import Presses
from dermis._slides import Slides

__all__ = ["Pressed", "Slid", "press", "slide"]


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
    pose = _floating(pose)
    values = {name: jnp.asarray(value, dtype=pose.dtype) for name, value in (params or {}).items()}
    # The sizes of the results are those of one press far from the sensor.
    away = np.zeros((1, pose.shape[-1]))
    away[0, 2:4] = 1.0
    single = Presses(sensor, obj, {}).read(away, image=image)
    shapes = tuple(jax.ShapeDtypeStruct((pose.shape[0], *part.shape[1:]), pose.dtype) for part in single)

    def read(pose: Any, values: Any) -> Any:
        return Presses(sensor, obj, values).read(pose, image=image)

    def pull_back(inputs: Any, cotangents: Any) -> Any:
        pose, values = inputs
        return Presses(sensor, obj, values).pull_back(pose, *cotangents)

    return Pressed(*_run(read, pull_back, shapes, (pose, values)))


class Slid(NamedTuple):
    """Readings of the steps of a path."""

    wrench: jax.Array
    """Force (N) and torque (N m) on the sensor about its origin, (steps, 6)."""
    taxels: jax.Array
    """Forces on the taxels before the response of the sensor (N), (steps, rows, cols) or (steps, taxels)."""


def slide(
    sensor: Sensor, obj: Object, poses: Any, twists: Any, dt: float, params: Mapping[str, Any] | None = None
) -> Slid:
    """Moves an object along a path on a sensor with springs; the results can be differentiated through time.

    Arguments as for ``dermis.torch.slide``. Runs on the host in double precision, inside ``jax.jit`` too; results have the type
    of ``poses``.
    """
    poses = _floating(poses)
    twists = jnp.asarray(twists, dtype=poses.dtype)
    values = {name: jnp.asarray(value, dtype=poses.dtype) for name, value in (params or {}).items()}
    sizes = ((6,), sensor.shape)
    shapes = tuple(jax.ShapeDtypeStruct((poses.shape[0], *size), poses.dtype) for size in sizes)

    def read(poses: Any, twists: Any, values: Any) -> Any:
        return Slides(sensor, obj, values, dt).read(poses, twists)

    def pull_back(inputs: Any, cotangents: Any) -> Any:
        poses, twists, values = inputs
        return Slides(sensor, obj, values, dt).pull_back(poses, twists, *cotangents)

    return Slid(*_run(read, pull_back, shapes, (poses, twists, values)))


def _floating(value: Any) -> jax.Array:
    """Numbers as an array of floating point."""
    array = jnp.asarray(value)
    return array if jnp.issubdtype(array.dtype, jnp.floating) else array.astype(float)


def _run(read: Callable[..., Any], pull_back: Callable[..., Any], shapes: Any, inputs: tuple[Any, ...]) -> Any:
    """Calls ``read`` on the host with arrays of double precision, with the gradient of ``pull_back``; the first input has the type
    of the results."""
    dtype = inputs[0].dtype

    def on_host(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*tree: Any) -> Any:
            doubles = jax.tree.map(lambda value: np.asarray(value, dtype=np.float64), tree)
            return jax.tree.map(lambda value: np.asarray(value, dtype=dtype), function(*doubles))

        return call

    @jax.custom_vjp
    def run(*inputs: Any) -> Any:
        return jax.pure_callback(on_host(read), shapes, *inputs)

    def forward(*inputs: Any) -> Any:
        return run(*inputs), inputs

    def backward(inputs: Any, cotangents: Any) -> Any:
        like = jax.tree.map(lambda value: jax.ShapeDtypeStruct(value.shape, value.dtype), inputs)
        return jax.pure_callback(on_host(pull_back), like, inputs, cotangents)

    run.defvjp(forward, backward)
    return run(*inputs)
