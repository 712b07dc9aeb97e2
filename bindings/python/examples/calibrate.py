"""Fits a sensor to bench measurements and compares the two."""

import numpy as np

import dermis
from dermis import calibration

# The sensor to measure: its gains differ between taxels, and its readings creep under load.
gains = np.random.default_rng(1).uniform(0.8, 1.2, 84).round(4).tolist()
response = {"gain": {"gain": gains}, "creep": [{"amplitude": 0.08, "time": "1.5 s"}]}
measured = dermis.Sensor.preset("wts0614", parameters={"response": response})
known = dermis.Sensor.preset("wts0614")

bench = calibration.characterise(measured, presses=2)  # for a real sensor: calibration.load("presses.csv", "creep.csv")
fit = calibration.fit(known, bench)
creep = fit.numbers["creep"]["terms"][0]
print(f"{len(bench)} readings: creeps by {creep['amplitude']['value']:.3f} in {creep['time_s']['value']:.2f} s")

ball = dermis.Object.sphere(radius=12e-3)
truth = measured.press(ball, depth=1e-3).reported
before, after = (np.abs(sensor.press(ball, depth=1e-3).reported - truth).max() for sensor in (known, fit.sensor))
print(f"largest error of a taxel: {before:.4f} N before the fit, {after:.4f} N after it, of {truth.max():.3f} N")
assert after < 0.5 * before
