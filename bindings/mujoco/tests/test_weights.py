"""The skin carries what MuJoCo moves: Moisio et al. 2013, Table 3 and Fig. 9."""

import mujoco
import numpy as np
import pytest


@pytest.mark.parametrize("mass_kg", [0.1, 1.0, 10.0])
def test_the_taxels_sum_to_the_weight(example, load, mass_kg):
    model, data = load(example("weights", ('mass="1"', f'mass="{mass_kg}"')))
    assert model.nsensordata == 84
    for _ in range(20_000):
        mujoco.mj_step(model, data)
    weight_newton = mass_kg * 9.8
    error = abs(data.sensordata.sum() / weight_newton - 1)
    print(f"{mass_kg} kg: {data.sensordata.sum():.9f} N of {weight_newton} N, relative error {error:.1e}")
    assert error < 1e-3
    assert data.ncon == 0
    # The pressure is even: a cube of uniform density stands flat.
    assert np.ptp(data.sensordata) < 1e-6 * weight_newton


def test_bristles_hold_on_a_slope_where_mujoco_creeps(example, load):
    """60 s at 10°, after 1 s to settle. MuJoCo's contact is a damper along the slope, so its twin goes on and on."""
    model, data = load(example("tilt"))
    cube, twin = model.body("cube").id, model.body("twin").id
    for _ in range(2_000):
        mujoco.mj_step(model, data)
    start = data.xpos.copy()
    farthest = 0.0
    for step in range(120_000):
        mujoco.mj_step(model, data)
        if step % 100 == 0:
            farthest = max(farthest, np.linalg.norm(data.xpos[cube] - start[cube]))
    crept = np.linalg.norm(data.xpos[twin] - start[twin])
    print(f"in 60 s: dermis {farthest:.1e} m, MuJoCo {crept:.1e} m")
    assert farthest < 1e-6
    assert crept > 100 * farthest
    wrench = data.sensordata[84:]
    in_slope = np.array([0, -9.8 * np.sin(np.radians(10)), -9.8 * np.cos(np.radians(10))])
    assert np.allclose(wrench[:3], in_slope, rtol=0, atol=1e-6)
