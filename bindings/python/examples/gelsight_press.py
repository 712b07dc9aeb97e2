"""Presses a shape into an optical gel: camera image, indentation and marker motion."""

import os
import pathlib

import dermis

out = pathlib.Path(os.environ.get("DERMIS_OUT", "."))

sensor = dermis.Sensor.preset("gelsight-dots")
moon = dermis.Object.indenter("moon")

reading = sensor.press(moon, depth=0.8e-3)
reading.show(path=out / "gelsight.png")

print(f"image {reading.image.shape}, {-reading.force[2]:.2f} N, {reading.depth.max() * 1e3:.2f} mm deep")
moved = reading.markers[:, 2:] - reading.markers[:, :2]
assert 0.6e-3 < reading.depth.max() < 1e-3
assert abs(moved).max() > 0.1, "the markers move with the gel"
