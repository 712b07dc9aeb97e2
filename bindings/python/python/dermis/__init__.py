"""Tactile sensors for simulated robots.

A sensor is a soft skin over a transducer. Press an object on it and read it:

>>> import dermis
>>> sensor = dermis.Sensor.preset("uji-foam-14x6")
>>> reading = sensor.press(dermis.Object.sphere(radius=10e-3), depth=2e-3)
>>> reading.taxels.shape
(14, 6)

Lengths in metres, forces in newtons, angles in radians, times in seconds. All quantities are in the sensor frame: origin at the
center of the sensing surface, +z out of the skin. Forces act on the sensor.

See also ``dermis.calibration`` (fits a sensor to bench data), ``dermis.metrics`` (image similarity) and ``dermis.experiments``
(reproduces the papers).
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
    hydroelastic_modulus,
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
    "hydroelastic_modulus",
    "presets",
]
