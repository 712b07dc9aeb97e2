"""Tactile data sets and presses with gradients for PyTorch.

>>> import torch
>>> from dermis.torch import TouchDataset
>>> touches = TouchDataset("out/array", columns=["observation.tactile", "label"])
>>> loader = torch.utils.data.DataLoader(touches, batch_size=4, shuffle=True)
>>> next(iter(loader))["observation.tactile"].shape
torch.Size([4, 84])

``dermis.dataset.make`` has made the folder.

A press carries gradients of pose and parameters:

>>> import dermis
>>> from dermis.torch import press
>>> sensor, ball = dermis.Sensor.preset("uji-foam-14x6"), dermis.Object.sphere(radius=10e-3)
>>> pose = torch.tensor([[0.0, 0.0, 8.5e-3]], dtype=torch.float64, requires_grad=True)
>>> press(sensor, ball, pose).taxels.square().sum().backward()
>>> bool(pose.grad[0, 2] < 0)
True
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, overload

from dermis import _optional

_optional.require("dermis.torch", "torch")

import numpy as np
import torch
from torch.utils.data import Dataset

from dermis._native import DeviceArray, Object, Sensor
from dermis._presses import Presses
from dermis._slides import Slides
from dermis.dataset import Touches, row_of

__all__ = ["Pressed", "Slid", "TouchDataset", "press", "slide"]


class Pressed(NamedTuple):
    """Readings of a batch of presses."""

    wrench: torch.Tensor
    """Force (N) and torque (N m) on the sensor about its origin, (n, 6)."""
    taxels: torch.Tensor
    """Forces on the taxels before the response of the sensor (N), (n, rows, cols) or (n, taxels)."""
    markers: torch.Tensor
    """Column and row of each marker (pixels), (n, markers, 2)."""
    image: torch.Tensor
    """Levels of the camera image before rounding, (n, height, width, 3); (n, 0, 0, 3) unless asked for."""


def press(
    sensor: Sensor,
    obj: Object,
    pose: torch.Tensor,
    params: Mapping[str, torch.Tensor] | None = None,
    *,
    image: bool = False,
) -> Pressed:
    """Holds an object at poses on the untouched sensor. Returns ``wrench``, ``taxels``, ``markers`` and ``image``, which carry gradients.

    pose: position (m) of the object in the sensor frame, (n, 3), or position and quaternion (x, y, z, qw, qx, qy, qz), (n, 7).
    params: sizes of the object in metres ("radius", "semi_axes", "size", "length"), the "vertices" of a mesh, a "scale" that multiplies them, and parameters of the
    sensor in SI units ("stiffness", "stiffness_per_area", "hydroelastic_modulus", "young", "poisson", "thickness",
    "mu", which also replaces that of the object). They replace what the sensor has in their place, such as a ``pressure_table``, and apply to all presses.
    image: also renders the images.

    Runs on the CPU, on all cores, in double precision; results have the type and device of ``pose``. If ``pose`` is on a GPU, presses on a
    layer run there too, unless the sensor has markers or ``params`` has "poisson" or "thickness". Saturated contact points have no gradient, and where a contact begins or ends the gradient is that of constant contact. Raises dermis.Error for skins
    and parameters without gradients.
    """
    names, values = list(params or {}), [_tensor_of(value) for value in (params or {}).values()]
    return Pressed(*_Press.apply(sensor, obj, image, names, _tensor_of(pose), *values))


class _Press(torch.autograd.Function):
    """Presses, differentiated by ``Sensor.vjp``."""

    @staticmethod
    def forward(
        ctx: Any, sensor: Sensor, obj: Object, image: bool, names: list[str], pose: torch.Tensor, *values: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        parameters = {name: _numbers(value) for name, value in zip(names, values, strict=True)}
        presses = Presses(sensor, obj, parameters, on_gpu=pose.is_cuda)
        ctx.presses, ctx.names = presses, names
        ctx.save_for_backward(pose, *values)
        parts = [_shared(part) for part in presses.read(_numbers(pose), image=image)]
        ctx.device = parts[0].device
        return tuple(part.to(pose) for part in parts)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[Any, ...]:
        pose, *values = ctx.saved_tensors
        *others, image = cotangents
        # On the GPU the images stay there.
        by_image: Any = image.detach().to(ctx.device, torch.float32).contiguous() if ctx.device.type == "cuda" else _numbers(image)
        by_pose, by_values = ctx.presses.pull_back(_numbers(pose), *[_numbers(by) for by in others], by_image)
        by = [torch.as_tensor(by_values[name]).to(value) for name, value in zip(ctx.names, values, strict=True)]
        return None, None, None, None, torch.as_tensor(by_pose).to(pose), *by


class Slid(NamedTuple):
    """Readings of the steps of a path."""

    wrench: torch.Tensor
    """Force (N) and torque (N m) on the sensor about its origin, (steps, 6)."""
    taxels: torch.Tensor
    """Forces on the taxels before the response of the sensor (N), (steps, rows, cols) or (steps, taxels)."""


def slide(
    sensor: Sensor,
    obj: Object,
    poses: torch.Tensor,
    twists: torch.Tensor,
    dt: float,
    params: Mapping[str, torch.Tensor] | None = None,
) -> Slid:
    """Moves an object along a path on a sensor with springs, one step of dt (s) each. Returns ``wrench`` and ``taxels``, which carry gradients through time.

    poses: position (m) of the object in the sensor frame in each step, (steps, 3), or position and quaternion
    (x, y, z, qw, qx, qy, qz), (steps, 7). twists: velocity (m/s) of the object's origin and angular velocity (rad/s), (steps, 6).
    params: sizes of the object as for ``press``, and "stiffness", "damping" or those "_per_area", "sigma0", "sigma1",
    "viscous", "mu_static", "mu_dynamic" and "stribeck_speed" of LuGre friction, "mu" and "regularisation_speed" of Coulomb friction.

    Starts from the present state of the sensor, which does not change. Runs on the CPU in double precision; results have the
    type and device of ``poses``. Where a contact point begins or ceases to touch, the gradient is that of constant contact.
    Raises dermis.Error for other skins and for parameters without gradients.
    """
    names, values = list(params or {}), [_tensor_of(value) for value in (params or {}).values()]
    return Slid(*_Slide.apply(sensor, obj, dt, names, _tensor_of(poses), _tensor_of(twists), *values))


class _Slide(torch.autograd.Function):
    """Paths, differentiated by ``Sensor.vjp_path``."""

    @staticmethod
    def forward(
        ctx: Any,
        sensor: Sensor,
        obj: Object,
        dt: float,
        names: list[str],
        poses: torch.Tensor,
        twists: torch.Tensor,
        *values: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        parameters = {name: _numbers(value) for name, value in zip(names, values, strict=True)}
        ctx.slides, ctx.names = Slides(sensor, obj, parameters, dt), names
        ctx.save_for_backward(poses, twists, *values)
        return tuple(torch.as_tensor(part).to(poses) for part in ctx.slides.read(_numbers(poses), _numbers(twists)))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[Any, ...]:
        poses, twists, *values = ctx.saved_tensors
        found = ctx.slides.pull_back(_numbers(poses), _numbers(twists), *[_numbers(by) for by in cotangents])
        by_poses, by_twists, by_values = found
        by = [torch.as_tensor(by_values[name]).to(value) for name, value in zip(ctx.names, values, strict=True)]
        moves = [torch.as_tensor(by_poses).to(poses), torch.as_tensor(by_twists).to(twists)]
        return None, None, None, None, *moves, *by


def _tensor_of(value: Any) -> torch.Tensor:
    """Numbers as a tensor of floating point: whole numbers and those of Python and numpy in double precision."""
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value
    return torch.as_tensor(value, dtype=torch.float64)


def _shared(part: Any) -> torch.Tensor:
    return torch.from_dlpack(part) if isinstance(part, DeviceArray) else torch.as_tensor(part)


def _numbers(tensor: torch.Tensor) -> np.ndarray[Any, np.dtype[np.float64]]:
    return tensor.detach().cpu().to(torch.float64).contiguous().numpy()


class TouchDataset(Dataset[dict[str, torch.Tensor]]):
    """The rows of a data set as tensors; images are float32 from 0 to 1, (channels, height, width).

    folder, columns: as in ``dermis.dataset.Touches``. rows: numbers of the rows to use; default: all. transform: applied to every row.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        columns: Iterable[str] | None = None,
        rows: Iterable[int] | None = None,
        transform: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]] | None = None,
    ) -> None:
        self.touches = Touches(folder, columns)
        self.rows = list(rows) if rows is not None else list(range(len(self.touches)))
        self.transform = transform

    @property
    def labels(self) -> list[str]:
        """Names of the objects."""
        return self.touches.labels

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int, /) -> dict[str, torch.Tensor]: ...
    @overload
    def __getitem__(self, index: slice, /) -> TouchDataset: ...
    def __getitem__(self, index: int | slice, /) -> dict[str, torch.Tensor] | TouchDataset:
        if isinstance(index, slice):
            part = copy.copy(self)
            part.rows = self.rows[index]
            return part
        row = {name: _tensor(name, value) for name, value in self.touches[row_of(index, self.rows)].items()}
        return self.transform(row) if self.transform is not None else row


def _tensor(name: str, value: Any) -> torch.Tensor:
    tensor = torch.as_tensor(value.copy())
    if not name.startswith("observation.images."):
        return tensor
    return tensor.permute(2, 0, 1).to(torch.float32) / 255.0
