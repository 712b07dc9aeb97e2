"""Fits a device to what a bench measured of it, and asks whether the two now answer alike."""

import numpy as np

import dermis
from dermis import calibration

# A device that nobody knows inside: gains that differ from taxel to taxel, and readings that creep under load.
gains = np.random.default_rng(1).uniform(0.8, 1.2, 84).round(4).tolist()
inside = {"gain": {"gain": gains}, "creep": [{"amplitude": 0.08, "time": "1.5 s"}]}
device = dermis.Sensor.preset("wts0614", parameters={"response": inside})
known = dermis.Sensor.preset("wts0614")

bench = calibration.characterise(device, presses=2)  # of a real one: calibration.load("presses.csv", "creep.csv")
fit = calibration.fit(known, bench)
creep = fit.numbers["creep"]["terms"][0]
print(f"{len(bench)} readings: creeps by {creep['amplitude']['value']:.3f} in {creep['time_s']['value']:.2f} s")

ball = dermis.Object.sphere(radius=12e-3)
truth = device.press(ball, depth=1e-3).reported
before, after = (np.abs(sensor.press(ball, depth=1e-3).reported - truth).max() for sensor in (known, fit.sensor))
print(f"largest error of a taxel: {before:.4f} N as described, {after:.4f} N as fitted, of {truth.max():.3f} N")
assert after < 0.5 * before
