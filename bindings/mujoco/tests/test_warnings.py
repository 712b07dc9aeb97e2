"""Warnings of a skin and steps that cannot be made: MuJoCo's warning once each, and Python's."""

import re

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


def settled(example, load, height, *replacements):
    """The reading (N) of a skin at a height (m) over the finger, on which a cube of 1 kg rests by MuJoCo's contact."""
    model, data = load(
        example(
            "weights",
            ('value="couple"', 'value="sense"'),
            ('contype="0" conaffinity="0"', ""),
            ('timestep="1e-4"', 'timestep="2e-3"'),
            ('size=".03 .03 .03" mass="1"', 'size=".01 .01 .01" mass="1"'),
            ('pos="0 0 .03"', 'pos="0 0 .0098"'),
            ('<site name="pad"', f'<site name="pad" pos="0 0 {height}"'),
            *replacements,
        )
    )
    for _ in range(400):
        mujoco.mj_step(model, data)
    return data.sensordata.sum()


def test_a_force_that_mujocos_contact_contradicts_is_reported_once(example, load, capfd):
    low, high = (settled(example, load, height) for height in (1e-3, 2e-3))
    text = "".join(capfd.readouterr())
    told = [float(number) for number in re.findall(r"the skin reads (\d+\.\d+) N at geom 'cube'", text)]
    # The cube still settles by a few micrometres when it is compared.
    assert low > 20 and told == pytest.approx([low, high], rel=0.1), text
    assert text.count("MuJoCo's contact carries 9.8") == 2 and 'mode "couple"' in text
    # Springs are linear: at this height the skin reads 1.5 times the weight.
    right = settled(example, load, 1e-3 + 1e-3 * (1.5 * 9.8 - low) / (high - low))
    assert right == pytest.approx(1.5 * 9.8, rel=1e-2) and "sense" not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    "without",
    [
        ("<sensor>", '<contact><exclude body1="finger" body2="cube"/></contact><sensor>'),
        ('mass="1"', 'mass="1" gap=".003" pos="0 0 .001"'),
    ],
    ids=["excluded", "gap"],
)
def test_a_skin_without_mujocos_contact_is_not_compared(example, load, capfd, without):
    """A spring holds the cube, in the skin and free of the finger."""
    held = ("<freejoint/>", '<joint type="slide" axis="0 0 1" stiffness="1e5" damping="100"/>')
    assert settled(example, load, 2e-3, held, without) > 5
    assert "sense" not in "".join(capfd.readouterr())
