"""Warnings of a skin and steps that cannot be made: MuJoCo's warning once each, and Python's."""

import mujoco
import pytest

EXPLICIT = ('<config key="mode"', '<config key="coupling" value="explicit"/><config key="mode"')
SHALLOW = ("max_penetration = '12 mm'", "max_penetration = '0.1 mm'")


@pytest.fixture(autouse=True)
def _log_here(tmp_path, monkeypatch):
    """MuJoCo writes its log to the working folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("mode", ["sense", "couple"])
def test_contact_beyond_the_range_is_reported_once(example, load, capfd, mode):
    model, data = load(example("weights", SHALLOW, ('value="couple"', f'value="{mode}"'), ('pos="0 0 .03"', 'pos="0 0 .0298"')))
    for _ in range(3):
        mujoco.mj_resetData(model, data)
        for _ in range(20):
            mujoco.mj_step(model, data)
    text = "".join(capfd.readouterr())
    assert text.count("exceed the maximum penetration of the skin") == 1, text
    assert 'dermis.sensor "touch"' in text


def test_an_object_between_contact_points_is_reported(example, load, capfd):
    small = ('type="box" size=".03 .03 .03" mass="1"', 'type="sphere" size=".0005" mass="1"')
    model, data = load(example("weights", ('value="couple"', 'value="sense"'), ('pos="0 0 .03"', 'pos="0 0 0"'), small, ("0 0 -9.8", "0 0 0")))
    for _ in range(40):
        mujoco.mj_step(model, data)
    text = "".join(capfd.readouterr())
    assert text.count("lies between the contact points") == 1, text


def test_a_step_that_cannot_be_made_is_told_in_python(example, load):
    model, data = load(example("weights", EXPLICIT, ('value="normal"', 'value="normal valid"')))
    mujoco.mj_step(model, data)
    model.opt.timestep = 5e-3
    with pytest.warns(RuntimeWarning, match="too long.*the reading is invalid") as told:
        for _ in range(10):
            mujoco.mj_step(model, data)
    assert len(told) == 1
    assert (data.sensordata == 0).all()
