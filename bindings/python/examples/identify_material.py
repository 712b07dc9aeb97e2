"""Young's modulus and thickness of a gel from noisy taxels, by Gauss-Newton with the gradients of the presses."""

import numpy as np
from numpy.typing import NDArray

import dermis

GEL = """
name = "gel"
[surface.grid]
rows = 6
cols = 6
pitch = "2 mm"
[skin]
kind = "layer"
thickness = "3 mm"
young = "140 kPa"
poisson = 0.45
cell = "0.4 mm"
"""
NAMES = ("young", "thickness")
ball = dermis.Object.sphere(radius=4e-3)
poses = np.array([[0.0, 0.0, 3.4e-3], [1e-3, -0.7e-3, 3.3e-3], [-1.5e-3, 1e-3, 3.2e-3]])  # where a robot held it


def gel(young: float, thickness: float) -> dermis.Sensor:
    return dermis.Sensor.parse(GEL, parameters={"skin": {"young": f"{young} Pa", "thickness": f"{thickness} m"}})


def jacobian(sensor: dermis.Sensor) -> NDArray[np.float64]:
    """Derivatives of all taxels of all presses by the parameters: one vector-Jacobian product for each taxel."""
    taxels = int(np.prod(sensor.shape))
    by = np.tile(np.eye(taxels), (len(poses), 1)).reshape(-1, *sensor.shape)
    found = sensor.vjp(ball, np.repeat(poses, taxels, axis=0), {"taxels": by})
    return np.concatenate([found[name] for name in NAMES], axis=1)


truth = np.array([181e3, 3.4e-3])
measured = gel(*truth).press_batch(ball, poses).taxels.ravel()
measured += np.random.default_rng(1).normal(scale=0.01 * measured.max(), size=measured.shape)
values = np.array([140e3, 3e-3])
for iteration in range(6):
    sensor = gel(*values)
    residuals = measured - sensor.press_batch(ball, poses).taxels.ravel()
    scaled = jacobian(sensor) * values
    values *= 1 + np.linalg.lstsq(scaled, residuals, rcond=None)[0].clip(-0.3, 0.3)
    print(f"{iteration}: E = {values[0] / 1e3:.1f} kPa, thickness = {values[1] * 1e3:.3f} mm")
assert np.all(np.abs(values / truth - 1) < 0.02)
