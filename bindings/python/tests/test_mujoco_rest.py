"""A block at rest on a coupled skin: its force is the weight in every step, not only on average or in one lucky step."""

import dermis
import dermis.mujoco
import mujoco
import numpy as np
import pytest

# Flat arrays, each with the mass (kg) that it carries within its range.
SKINS = [
    ("wts0614", {}, 0.1),
    ("wts0614", {}, 1.0),
    ("wts0614", {"skin": "hydroelastic"}, 0.1),
    ("weiss-dsa", {}, 0.1),
    ("weiss-dsa", {}, 1.0),
    ("capacitive-8x8", {}, 0.1),
    ("digitacts-6x4", {}, 0.1),
]


def forces(sensor, mass_kg, step_s, seconds, last_s, half_m=".009 .015 .004"):
    """The normal force of the taxels in the last `last_s` of `seconds`, N."""
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{step_s}"/><worldbody><site name="pad"/><body name="block" pos="0 0 .0039"><freejoint/>
        <geom name="block" type="box" size="{half_m}" mass="{mass_kg}"/></body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    pad = dermis.mujoco.attach(model, data, sensor, site="pad", objects="block", mode="couple")
    for _ in range(round((seconds - last_s) / step_s)):
        mujoco.mj_step(model, data)
    felt = []
    for _ in range(round(last_s / step_s)):
        mujoco.mj_step(model, data)
        reading = pad.read()
        felt.append(reading.taxels.sum() - reading.outside[2])
    return np.array(felt)


@pytest.mark.parametrize(("preset", "options", "mass_kg"), SKINS)
def test_a_block_at_rest_reads_its_weight_in_every_step(preset, options, mass_kg):
    felt = forces(dermis.Sensor.preset(preset, **options), mass_kg, 1e-3, 3.0, 1.0)
    weight = 9.81 * mass_kg
    assert abs(felt.mean() / weight - 1) < 1e-9 and np.ptp(felt) < 1e-8 * weight


@pytest.mark.parametrize("step_s", [5e-4, 1e-3, 2e-3])
def test_a_block_on_soft_foam_reads_its_weight_on_average(step_s):
    """Rows of contact points under its edges join and leave all at once, which shakes it without end: 0.45 N peak to peak at 7 Hz, whatever
    the step. docs/mujoco.md names the limits that are held here."""
    felt = forces(dermis.Sensor.preset("uji-foam-14x6"), 1.0, step_s, 6.0, 2.0, ".009 .02 .004")
    assert abs(felt.mean() / 9.81 - 1) < 1e-3 and np.ptp(felt) < 0.06 * 9.81
