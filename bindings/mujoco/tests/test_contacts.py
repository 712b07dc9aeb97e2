"""Mode `contacts`: MuJoCo's own contact forces on the taxels; and camera images of plugin sensors."""

import copy

import mujoco
import numpy as np
import pytest

SCENE = """<mujoco><extension><plugin plugin="dermis.sensor"/></extension><option timestep="2e-3" integrator="{integrator}"/>
  <worldbody><body name="finger"><geom name="finger" type="box" size=".015 .045 .007" pos="0 0 -.007"/><site name="pad" euler="0 0 30"/></body>
  <body name="cube" pos="0 0 .03"><freejoint/><geom name="cube" type="box" size=".01 .01 .03" mass="1"/></body></worldbody>
  <sensor><plugin name="touch" plugin="dermis.sensor" objtype="site" objname="pad"><config key="preset" value="{preset}"/>
    <config key="mode" value="{mode}"/><config key="output" value="{output}"/></plugin></sensor></mujoco>"""


def scene(preset="uji-foam-14x6", mode="contacts", output="normal force outside wrench", integrator="Euler"):
    return SCENE.format(preset=preset, mode=mode, output=output, integrator=integrator)


def contact_force(model, data):
    """Sum of mj_contactForce on the finger, in the frame of the pad."""
    total, finger = np.zeros(3), model.geom("finger").id
    for i, contact in enumerate(data.contact):
        force = np.zeros(6)
        mujoco.mj_contactForce(model, data, i, force)
        total += (1 if contact.geom[1] == finger else -1) * contact.frame.reshape(3, 3).T @ force[:3]
    return data.site("pad").xmat.reshape(3, 3).T @ total


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
@pytest.mark.parametrize("preset", ["uji-foam-14x6", "wts0614-layer"])
def test_taxels_and_the_rest_add_up_to_the_contact_forces(load, preset, integrator):
    model, data = load(scene(preset, integrator=integrator))
    data.qvel[:2] = [0.05, -0.03]
    mujoco.mj_step(model, data, 20)
    mujoco.mj_forward(model, data)
    total = contact_force(model, data)
    normal, force, outside, wrench = np.split(data.sensordata, [84, 84 * 4, 84 * 4 + 3])
    assert data.ncon >= 4 and total[2] < -1 and abs(total[0]) > 0.05
    assert wrench[:3] == pytest.approx(total, abs=1e-9)
    assert force.reshape(3, 84).sum(axis=1) + outside == pytest.approx(total, abs=1e-9)
    if preset == "uji-foam-14x6":
        assert normal.sum() - outside[2] == pytest.approx(-total[2], abs=1e-9)
    assert model.npluginstate == 0


def test_reading_contacts_changes_nothing(load):
    paths = []
    for plugin in (True, False):
        text = scene()
        if not plugin:
            text = text[: text.index("<sensor>")] + "</mujoco>"
        model, data = load(text)
        data.qvel[:2] = [0.05, -0.03]
        mujoco.mj_step(model, data, 50)
        paths.append(data.qpos.copy())
    assert np.array_equal(*paths)


def test_the_mode_is_named_where_it_is_unknown(load):
    with pytest.raises(ValueError, match="sense, couple, contacts"):
        load(scene(mode="contact"))


@pytest.fixture
def image():
    return pytest.importorskip("dermis.mujoco").image


@pytest.mark.parametrize("mode", ["sense", "contacts"])
def test_a_camera_sees_what_its_sensor_feels(load, image, mode):
    """Nothing before the first evaluation, a patch while pressed, the same for a copy, nothing after a reset."""
    text = scene("gelsight", mode, "wrench").replace('type="box" size=".01 .01 .03"', 'type="sphere" size=".03"')
    model, data = load(text.replace('pos="0 0 .03"', 'pos="0 0 .0295"').replace('timestep="2e-3"', 'timestep="2e-3" gravity="0 0 0"'))
    rest = image(model, data, "touch")
    assert rest.shape == (480, 640, 3) and rest.dtype == np.uint8
    mujoco.mj_step(model, data)
    pressed = image(model, data, 0)
    assert data.sensordata[2] < 0
    assert np.abs(pressed.astype(int) - rest).max() > 5
    assert np.array_equal(image(model, copy.copy(data), "touch"), pressed)
    mujoco.mj_resetData(model, data)
    assert np.array_equal(image(model, data, "touch"), rest)


def test_a_sensor_without_a_camera_is_named(load, image):
    import dermis

    model, data = load(scene())
    with pytest.raises(dermis.Error, match="'touch'.* no camera"):
        image(model, data, "touch")
    with pytest.raises(dermis.Error, match="no sensor 'tuoch'"):
        image(model, data, "tuoch")
    with pytest.raises(TypeError, match="MjData"):
        image(model, model, "touch")
