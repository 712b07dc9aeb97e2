"""A sensor in every world of a simulation whose arrays are Warp's: the common part of ``dermis.mjwarp`` and ``dermis.newton``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

import dermis
from dermis import _optional
from dermis._bodies import Body, bind

NUMBER_BYTES = 4


class Touch:
    """A sensor in every world of a simulation. Made by ``attach``.

    ``taxels`` is a Warp array (worlds, taxels) of the force (N) along each taxel's normal, ``reported`` one of the readings (N) after the
    response of the sensor (None unless asked for; see ``wait``), and ``wrench`` (worlds, 6) the force (N) and torque (N m) on the sensor about its
    origin, in its frame, all of the last step. ``environments`` are the ``dermis.Environments``.
    """

    def __init__(
        self,
        sensor: dermis.Sensor,
        shapes: Sequence[dermis.Object],
        worlds: int,
        device: Any,
        *,
        dtype: str,
        response: bool | Literal["beside"],
        image: Any,
        markers: Any,
        randomise: dict[str, tuple[float, float]] | None,
        seed: int,
        precision: Literal["double", "single"] | None,
    ) -> None:
        _optional.require("a sensor of dermis.newton or dermis.mjwarp", "warp")
        import warp as wp

        kinds = {"float32": wp.float32, "float64": wp.float64}
        if response not in (True, False, "beside"):
            raise dermis.Error(f'`response` must be True, False or "beside", got {response!r}')
        if dtype not in kinds:
            raise dermis.Error(f'`dtype` must be "float32" or "float64", got {dtype!r}')
        place: Literal["cuda", "cpu"] = "cuda" if device.is_cuda else "cpu"
        self.environments = sensor.environments(
            list(shapes), worlds, device=place, randomise=randomise, seed=seed, precision=precision
        )
        count = int(np.prod(sensor.shape))

        def zeros(numbers: int) -> Any:
            return wp.zeros((worlds, numbers), dtype=kinds[dtype], device=device)

        self.taxels: Any = zeros(count)
        self.reported: Any = zeros(count) if response else None
        self.wrench: Any = zeros(6)
        self._device, self._is_beside = device, response == "beside"
        seen = {"image": image, "markers": markers}
        self._outputs = {"taxels": self.taxels, "reported": self.reported, "wrench": self.wrench, **seen}

    def _bind(self, dt: float, objects: Sequence[Body], carrier: Body, **conventions: Any) -> None:
        """Names the arrays of all bodies. conventions: ``quaternion`` and ``twist_order`` of ``Environments.bind``."""
        bind(self.environments, dt, objects, carrier, **self._outputs, **conventions)

    def _launch(self) -> None:
        self.environments.launch(self._stream(), beside=self._is_beside)

    def _stream(self) -> Any:
        return self._device.stream if self._device.is_cuda else None

    def wait(self) -> None:
        """With ``response="beside"``: lets what is captured after it in the same CUDA graph wait for ``reported``, which is there when the graph ends."""
        self.environments.wait(self._stream())

    def reset(self, mask: Any = None) -> None:
        """Ends contact, and draws randomised parameters anew, in the worlds where the mask (bool, uint8 or int32, (worlds,)) is not zero; default: in all."""
        self.environments.reset(mask, self._stream())

    def check(self) -> None:
        """Raises ``dermis.Error`` if a world had an invalid pose or velocity since its last reset. Waits for the GPU."""
        self.environments.check()


class Rows:
    """Rows of a Warp array of float32 vectors by their address: (count, numbers), with any stride between rows."""

    def __init__(self, array: Any, first: int, stride: int, count: int) -> None:
        """first: offset (bytes) of the first row. stride: distance (bytes) of rows."""
        self.array = array
        self.ndim = 2
        described = {
            "shape": (count, int(np.prod(array.dtype._shape_))),
            "strides": (stride, NUMBER_BYTES),
            "typestr": "<f4",
            "data": (array.ptr + first, False),
            "version": 3,
        }
        setattr(self, "__cuda_array_interface__" if array.device.is_cuda else "__array_interface__", described)
