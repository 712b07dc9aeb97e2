"""Camera images of the engine plugin."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dermis import Error, _engine_plugin


def image(model: Any, data: Any, sensor: str | int) -> NDArray[np.uint8]:
    """Renders the camera image of a ``dermis.sensor`` of the engine plugin, (height, width, 3), red, green and blue.

    MuJoCo's ``sensordata`` are numbers of eight bytes that every copy of an mjData contains, so images are not among them.

    model, data: mujoco.MjModel and mujoco.MjData.
    sensor: name or number of the sensor in the model.

    The image belongs to the same evaluation as ``data.sensordata``; it is rendered by this call. Raises dermis.Error if the sensor is not
    one of dermis, has no camera, or its last step could not be made.
    """
    import mujoco

    for value, kind in ((model, mujoco.MjModel), (data, mujoco.MjData)):
        if not isinstance(value, kind):
            raise TypeError(f"expected a mujoco.{kind.__name__}, got a {type(value).__name__}")
    if len(data.xpos) != model.nbody or len(data.plugin_data) != model.nplugin or len(data.sensordata) != model.nsensordata:
        raise Error("`data` belongs to another model")
    try:
        number = int(model.sensor(sensor).id)
    except (KeyError, IndexError) as error:
        raise Error(f"`sensor`: the model has no sensor {sensor!r}") from error
    instance = int(model.sensor_plugin[number])
    if instance < 0:
        raise Error(f"`sensor`: sensor {sensor!r} is not a dermis.sensor")
    render = ctypes.CDLL(str(_engine_plugin.path())).dermis_mujoco_image
    size, message = (ctypes.c_size_t * 2)(), ctypes.create_string_buffer(1000)
    address = ctypes.c_void_p(data._address)

    def call(pixels: ctypes.c_void_p | None) -> None:
        if render(address, ctypes.c_int(instance), size, pixels, message, ctypes.c_size_t(len(message))):
            raise Error(f"`sensor`: sensor {sensor!r}: {message.value.decode(errors='replace')}")

    call(None)
    pixels = np.empty((*size, 3), np.uint8)
    call(ctypes.c_void_p(pixels.ctypes.data))
    return pixels
