"""Changes of a model while it runs: they count, or MuJoCo warns of them."""

import mujoco
import pytest


@pytest.fixture(autouse=True)
def _log_here(tmp_path, monkeypatch):
    """MuJoCo writes its log to the working folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def weight(example, load):
    """A coupled cube of 1 kg at rest, and the number of its geom."""
    model, data = load(example("weights", ('timestep="1e-4"', 'timestep="2e-3"')))
    mujoco.mj_step(model, data, 400)
    assert data.sensordata.sum() == pytest.approx(9.8, rel=1e-2)
    return model, data, int(model.body("cube").geomadr[0])


def test_friction_that_changes_lets_the_object_slide(weight):
    model, data, cube = weight
    model.opt.gravity[:] = [2, 0, -9.6]
    mujoco.mj_step(model, data, 50)
    assert abs(data.qvel[0]) < 2e-2
    model.geom_friction[cube, 0] = 0.01
    before = data.qvel[0]
    mujoco.mj_step(model, data, 50)
    assert data.qvel[0] - before == pytest.approx(0.2, abs=0.05)


@pytest.mark.parametrize("what", ["flag", "bits"])
def test_contact_that_is_switched_off_is_off(weight, what):
    model, data, cube = weight
    if what == "flag":
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    else:
        model.geom_contype[cube] = model.geom_conaffinity[cube] = 0
    mujoco.mj_step(model, data)
    assert not data.sensordata.any()


def test_a_change_without_effect_is_told_once(weight, capfd):
    model, data, cube = weight
    model.geom_size[cube] *= 0.5
    model.geom_friction[cube, 0] = 1.5
    mujoco.mj_step(model, data, 3)
    text = "".join(capfd.readouterr())
    for field in ("geom_size", "geom_friction"):
        assert text.count(f"`{field}` of geom 'cube' was changed after the sensor was attached, which has no effect") == 1, text


def test_a_sensor_that_mujoco_never_touches_is_told(example, load, capfd):
    """The default mode reads MuJoCo's contacts."""
    model, data = load(example("weights", ('<config key="mode" value="couple"/>', "")))
    mujoco.mj_step(model, data, 3)
    text = "".join(capfd.readouterr())
    assert text.count('mode "contacts" reads MuJoCo\'s contact forces') == 1, text
