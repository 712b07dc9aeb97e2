"""Fits a device to what a bench measured of it, and asks whether the two now answer alike."""

import numpy as np

import dermis
from dermis import calibration

# A device that nobody knows inside: gains that differ by a fifth, and neighbours that feel each other.
gains = np.random.default_rng(1).uniform(0.9, 1.1, 24).round(4).tolist()
known = dermis.Sensor.preset("digitacts-6x4")
device = dermis.Sensor.preset("digitacts-6x4", parameters={"response": {"gain": {"gain": gains}}})

bench = calibration.characterise(device, presses=1)  # a real bench: calibration.load("presses.csv", "creep.csv")
fit = calibration.fit(known, bench)
print(f"spread {fit.numbers['spread']['sigma_taxels']['value']:.3f} taxels from {len(bench)} readings")

ball = dermis.Object.sphere(radius=6e-3)
truth = device.press(ball, depth=1e-3).reported
errors = {name: np.abs(s.press(ball, depth=1e-3).reported - truth).max() for name, s in [("known", known), ("fitted", fit.sensor)]}
print(f"largest error of a taxel: {errors['known']:.4f} N before, {errors['fitted']:.4f} N after the fit")
assert errors["fitted"] < 0.5 * errors["known"]
