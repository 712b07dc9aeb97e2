"""MuJoCo's sleep: sensors keep their last value, as MuJoCo's own do, and are right again when bodies wake."""

import dermis
import dermis.mujoco
import mujoco
import numpy as np
import pytest

if not hasattr(mujoco.mjtEnableBit, "mjENBL_SLEEP"):
    pytest.skip("this version of MuJoCo has no sleep", allow_module_level=True)

WEIGHT_NEWTON = 0.1 * 9.81
FOAM = "uji-foam-14x6"
EXTENSION = '<extension><plugin plugin="dermis.sensor"/></extension>'


def model_of(pad, more="", objects='<body name="cube" pos="0 0 .0099"><freejoint/>{cube}</body>', sensor=""):
    cube = '<geom name="cube" type="box" size=".01 .01 .005" pos="0 0 -.005" mass=".1"/>'
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco>{EXTENSION if "plugin=" in sensor else ""}<option timestep=".002"><flag sleep="enable"/></option>
        <worldbody>{pad}{objects.format(cube=cube)}{more}</worldbody>{sensor}</mujoco>"""
    )


FIXED = '<geom name="under" type="box" size=".03 .04 .01" pos="0 0 -.01"/><site name="pad"/>'


def step(model, data, seconds):
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)


def asleep(model, data):
    return data.body_awake[model.body("cube").id] == 0


@pytest.fixture(params=["couple", "explicit", "contacts", "plugin couple", "plugin contacts"])
def sensed(request):
    """A model with a cube on a sensor, its data, and a function that returns the normal force of all taxels."""
    if request.param.startswith("plugin"):
        dermis.mujoco.load_plugin()
        mode = request.param.split()[1]
        pad = FIXED if mode == "contacts" else FIXED.replace("<geom", '<geom contype="0" conaffinity="0"')
        sensor = f"""<sensor><plugin name="touch" plugin="dermis.sensor" objtype="site" objname="pad"><config key="preset" value="{FOAM}"/>
          <config key="mode" value="{mode}"/></plugin></sensor>"""
        model = model_of(pad, sensor=sensor)
        data = mujoco.MjData(model)
        return model, data, lambda: data.sensor("touch").data.sum()
    model = model_of(FIXED)
    data = mujoco.MjData(model)
    mode = "contacts" if request.param == "contacts" else "couple"
    how = {"coupling": "explicit"} if request.param == "explicit" else {}
    pad = dermis.mujoco.attach(model, data, dermis.Sensor.preset(FOAM), site="pad", objects="cube", mode=mode, **how)
    return model, data, lambda: pad.read().taxels.sum()


def test_a_cube_that_sleeps_on_a_pad_keeps_its_weight(sensed):
    """It read 0 for ever. Awake again, under twice its weight, it reads that."""
    model, data, force = sensed
    seen = []
    for _ in range(3000):
        mujoco.mj_step(model, data)
        seen.append(force())
        if asleep(model, data):
            break
    assert asleep(model, data)
    last = seen[-1]
    assert last == pytest.approx(WEIGHT_NEWTON, rel=0.02)
    for _ in range(200):
        mujoco.mj_step(model, data)
        assert asleep(model, data) and force() == last
    data.xfrc_applied[model.body("cube").id, 2] = -WEIGHT_NEWTON
    for _ in range(600):
        mujoco.mj_step(model, data)
        force()
    assert force() == pytest.approx(2 * WEIGHT_NEWTON, rel=1e-2)
    data.xfrc_applied[:] = 0
    data.qpos[2] += 0.01
    mujoco.mj_step(model, data)
    mujoco.mj_step(model, data)
    assert force() == 0


def test_a_pad_that_moves_wakes_the_cube_on_it():
    """MuJoCo does not know of the contact with a skin: the pad of a lift that starts must wake the cube, and that of one that
    drops must not leave it in the air."""
    lift = '<body name="lift"><joint name="lift" type="slide" axis="0 0 1" damping="2"/>' + FIXED.replace("<geom", '<geom mass=".2"') + "</body>"
    model = model_of(lift, sensor='<actuator><position joint="lift" kp="2000"/></actuator>')
    data = mujoco.MjData(model)
    pad = dermis.mujoco.attach(model, data, dermis.Sensor.preset(FOAM), site="pad", objects="cube", mode="couple")
    step(model, data, 3)
    rest = pad.read().force[2]
    gap = data.body("cube").xpos[2] - data.body("lift").xpos[2]
    assert rest == pytest.approx(-WEIGHT_NEWTON, rel=0.02)
    for target in (0.03, -0.03):
        data.ctrl[0] = target
        step(model, data, 2)
        assert data.body("cube").xpos[2] - data.body("lift").xpos[2] == pytest.approx(gap, abs=2e-5)
        assert pad.read().force[2] == pytest.approx(rest, rel=0.02)


def test_two_cubes_of_which_one_sleeps():
    two = """<body name="cube" pos="0 .012 .0099"><freejoint/>{cube}</body>
      <body name="other" pos="0 -.012 .03"><freejoint/><geom name="other" type="box" size=".008 .008 .004" mass=".1"/></body>"""
    for mode in ("couple", "contacts"):
        model = model_of(FIXED, objects=two)
        data = mujoco.MjData(model)
        pad = dermis.mujoco.attach(model, data, dermis.Sensor.preset(FOAM), site="pad", objects=["cube", "other"], mode=mode)
        data.xfrc_applied[model.body("other").id, 2] = 1.5 * WEIGHT_NEWTON  # it does not fall
        for _ in range(1500):
            data.qvel[6:] = 0
            mujoco.mj_step(model, data)
            pad.read()
        assert asleep(model, data)
        data.xfrc_applied[:] = 0
        step(model, data, 0.1)
        for _ in range(1500):
            mujoco.mj_step(model, data)
            pad.read()
        assert np.isclose(-pad.read().force[2], 2 * WEIGHT_NEWTON, rtol=0.02), mode
