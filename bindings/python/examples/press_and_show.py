"""Presses a ball on a foam array and plots the reading."""

import os
import pathlib

import dermis

out = pathlib.Path(os.environ.get("DERMIS_OUT", "."))

sensor = dermis.Sensor.preset("uji-foam-14x6")  # dermis.presets() lists all names
ball = dermis.Object.sphere(radius=20e-3)

reading = sensor.press(ball, depth=3e-3, at=(3e-3, 8e-3))
reading.show(path=out / "press.png")

print(f"{-reading.force[2]:.3f} N on {reading.active} of {reading.taxels.size} taxels")
total = reading.forces.sum(axis=(0, 1)) + reading.outside
assert abs(total - reading.force).max() < 1e-12, "the taxels carry the load"
