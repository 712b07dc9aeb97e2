"""Touch for simulated robots.

A sensor is a soft skin over a transducer. Press something on it, and read it:

>>> import dermis
>>> sensor = dermis.Sensor.preset("uji-foam-14x6")
>>> reading = sensor.press(dermis.Object.sphere(radius=10e-3), depth=2e-3)
>>> reading.taxels.shape
(14, 6)

Lengths in metres, forces in newtons, angles in radians, times in seconds. Everything is in the sensor's frame: origin in the
middle of the sensing surface, +z out of the skin. Forces act on the sensor.

Beside this: ``dermis.calibration`` (a device from bench data), ``dermis.metrics`` (how alike images are), ``dermis.experiments``
(the papers, run again).
"""

from dermis._native import (
    Batch,
    Bench,
    DeviceArray,
    DeviceBatch,
    Environments,
    Error,
    Features,
    Object,
    Reading,
    Recording,
    Sensor,
    State,
    Touch,
    World,
    __version__,
    presets,
)

__all__ = [
    "Batch",
    "Bench",
    "DeviceArray",
    "DeviceBatch",
    "Environments",
    "Error",
    "Features",
    "Object",
    "Reading",
    "Recording",
    "Sensor",
    "State",
    "Touch",
    "World",
    "__version__",
    "presets",
]
