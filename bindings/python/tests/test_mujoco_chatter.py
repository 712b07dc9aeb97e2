"""Contact that begins and ends every few steps is warned of: MuJoCo's own constraints act a step late on a skin."""

import warnings

import dermis
import dermis.mujoco
import mujoco
import numpy as np
import pytest


def grip(step_s, integrator, joint=""):
    """A cube of 100 g between two fingers of 20 g, gripped with 5 N: the greatest and the least force of the last half, and the warnings."""
    fingers = "".join(
        f"""<body name="{name}" pos="{side * 0.0098} 0 0"><joint name="{name}" type="slide" axis="{-side} 0 0" damping="2" {joint}/>
        <geom type="box" size=".005 .02 .02" pos="{side * 0.01} 0 0" mass=".02" contype="0" conaffinity="0"/><site name="{name}" zaxis="{-side} 0 0"/></body>"""
        for name, side in (("left", -1), ("right", 1))
    )
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><option timestep="{step_s}" integrator="{integrator}"/><worldbody>{fingers}
      <body name="cube"><freejoint/><geom name="cube" type="box" size=".01 .01 .01" mass=".1"/></body></worldbody>
      <actuator><motor joint="left"/><motor joint="right"/></actuator></mujoco>""")
    data = mujoco.MjData(model)
    data.ctrl[:] = 5
    wts = dermis.Sensor.preset("wts0614")
    pads = [dermis.mujoco.attach(model, data, wts, site=name, objects="cube", mode="couple") for name in ("left", "right")]
    forces = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(round(0.6 / step_s)):
            mujoco.mj_step(model, data)
            forces.append(-pads[0].read().force[2])
    half = np.array(forces)[len(forces) // 2 :]
    return half.max(), half.min(), [str(w.message) for w in caught if "every few steps" in str(w.message)], data.body("cube").xpos[2]


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
@pytest.mark.parametrize("step_s", [1e-3, 3e-3, 5e-3])
def test_a_grip_that_is_steady_has_no_warning(integrator, step_s):
    most, least, warned, height_m = grip(step_s, integrator)
    assert abs(most - 5) < 1e-3 and abs(least - 5) < 1e-3 and not warned and abs(height_m) < 1e-4


@pytest.mark.parametrize("integrator", ["implicitfast", "RK4"])
@pytest.mark.parametrize("step_s", [1e-3, 3e-3, 5e-3])
@pytest.mark.parametrize("loss_newton", [0.2, 1.0, 3.0])
def test_a_grip_whose_force_runs_from_none_to_twice_is_warned_of(integrator, step_s, loss_newton):
    """Fingers of 20 g with dry friction: 0 to 10 N for 5 N, and the cube slipped by millimetres, without a word."""
    most, least, warned, _ = grip(step_s, integrator, f'frictionloss="{loss_newton}"')
    assert warned or least > 2.5, (most, least)
    assert len(warned) <= 2  # one for each pad


def test_a_ball_that_bounces_is_not_warned_of():
    model = mujoco.MjModel.from_xml_string("""<mujoco><option timestep=".002"/><worldbody><site name="pad"/><body pos="0 0 .012"><freejoint/>
      <geom name="ball" size=".01" mass=".02"/></body></worldbody></mujoco>""")
    data = mujoco.MjData(model)
    pad = dermis.mujoco.attach(model, data, dermis.Sensor.preset("wts0614"), site="pad", objects="ball", mode="couple")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*every few steps")
        for _ in range(1000):
            mujoco.mj_step(model, data)
            pad.read()
