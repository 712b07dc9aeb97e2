"""Errors are one sentence each, and the process continues."""

import mujoco
import pytest

SENSE = ('key="mode" value="couple"', 'key="mode" value="sense"')
EXPLICIT = ('<config key="mode"', '<config key="coupling" value="explicit"/><config key="mode"')

CUBE = 'type="box" size=".03 .03 .03" mass="1"'

CASES = {
    "preset": ([('value="uji-foam-14x6"', 'value="uji-foam"')], "there is no sensor \"uji-foam\""),
    "missing preset": (
        [('<config key="preset" value="uji-foam-14x6"/>', ""), ('<config key="parameters" value="contact_points = 1"/>', "")],
        "give `preset`",
    ),
    "skin": ([("stiffness = '1000 N/m'", "stifness = '1000 N/m'")], "stifness"),
    "unit": ([("damping = '10 N s/m'", "damping = '10 kg'")], "kg"),
    "toml": ([("kind = 'springs';", "kind = 'springs;")], "`skin`"),
    "mode": ([('value="couple"', 'value="copule"')], "`mode` knows sense, couple, contacts, got \"copule\""),
    "output": ([('value="normal"', 'value="normal shear"')], "`output` knows"),
    "objects": ([('<config key="mode"', '<config key="objects" value="cubes"/><config key="mode"')], "no geom or body 'cubes'"),
    "own geom": ([('<config key="mode"', '<config key="objects" value="finger"/><config key="mode"')], "moves with the sensor"),
    "no place": ([(' objtype="site" objname="pad"', "")], "say once where the sensor is"),
    "two places": ([('<config key="mode"', '<config key="body" value="cube"/><config key="mode"')], "found 2"),
    "place": ([(' objtype="site" objname="pad"', ""), ('<config key="mode"', '<config key="site" value="pda"/><config key="mode"')], "no site 'pda'"),
    "twice": ([('contype="0" conaffinity="0"', "")], "would touch twice"),
    "step": ([('timestep="1e-4"', 'timestep="5e-3"'), EXPLICIT], "time step of 0.005 s is too long"),
    "coupling": ([('<config key="mode"', '<config key="coupling" value="semi"/><config key="mode"')], "`coupling` knows implicit, explicit, got \"semi\""),
    # Shapes of 1e12 m and more were meshed until the memory was full, which ended the host.
    "capsule": ([(CUBE, CUBE.replace("box", "capsule").replace(".03 .03 .03", "0.001 1e20"))], "geom 'cube' cannot be touched: capsule: `length_m` must be a positive length of at most 1e6 m"),
    "cylinder": ([(CUBE, CUBE.replace("box", "cylinder").replace(".03 .03 .03", "0.001 1e30"))], "cylinder: `length_m` must be"),
    "ellipsoid": ([(CUBE, CUBE.replace("box", "ellipsoid").replace(".03 .03 .03", "0.001 0.001 1e12"))], "ellipsoid: `semi_axes_m.z` must be"),
    "sphere": ([(CUBE, CUBE.replace("box", "sphere").replace(".03 .03 .03", "1e30"))], "sphere: `radius_m` must be"),
    "nothing": ([('name="cube" type="box"', 'name="cube" contype="0" conaffinity="0" type="box"')], "nothing to touch"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_bad_model_is_refused_in_one_sentence(example, load, case):
    replacements, words = CASES[case]
    with pytest.raises((ValueError, mujoco.FatalError)) as refused:
        load(example("weights", *replacements))
    message = str(refused.value)
    print(message)
    assert words in message
    assert "dermis.sensor" in message
    # A refused model has no effect on the next one.
    model, data = load(example("weights"))
    for _ in range(10):
        mujoco.mj_step(model, data)


def test_the_name_of_the_sensor_is_in_the_sentence(example, load):
    with pytest.raises((ValueError, mujoco.FatalError), match='dermis.sensor "touch"'):
        load(example("weights", ('contype="0" conaffinity="0"', "")))


def test_contact_may_also_be_excluded_by_bodies(example, load):
    exclude = ("<sensor>", '<contact><exclude body1="cube" body2="finger"/></contact><sensor>')
    load(example("weights", ('contype="0" conaffinity="0"', ""), exclude))


def test_sensing_beside_mujocos_contact_is_allowed(example, load):
    """The finger's face lies 2 mm under the skin, so MuJoCo lets the cube rest that deep."""
    low = ('pos="0 -.006 -.0072" contype="0" conaffinity="0"', 'pos="0 -.006 -.009"')
    model, data = load(example("weights", SENSE, low))
    for _ in range(20_000):
        mujoco.mj_step(model, data)
    assert data.ncon > 0
    assert data.sensordata.min() > 1.5


def test_a_geom_under_the_skin_may_stop_what_presses_through(example, load):
    low = ('pos="0 -.006 -.0072" contype="0" conaffinity="0"', 'pos="0 -.006 -.0192"')
    load(example("weights", low, ("max_penetration = '12 mm'", "max_penetration = '11 mm'")))


def test_an_explicit_step_that_was_made_too_long_later_is_invalid(example, load):
    model, data = load(example("weights", EXPLICIT, ('value="normal"', 'value="normal valid"')))
    for _ in range(100):
        mujoco.mj_step(model, data)
    assert data.sensordata[-1] == 1
    model.opt.timestep = 5e-3
    mujoco.mj_step(model, data)
    assert (data.sensordata == 0).all()
    model.opt.timestep = 1e-4
    mujoco.mj_resetData(model, data)
    for _ in range(20_000):
        mujoco.mj_step(model, data)
    assert data.sensordata[-1] == 1
    assert abs(data.sensordata[:-1].sum() / 9.8 - 1) < 1e-3


def test_a_diverged_simulation_is_said_to_be_so(example, load):
    model, data = load(example("weights", SENSE))
    mujoco.mj_step(model, data)
    data.qpos[0] = float("nan")
    try:
        mujoco.mj_forward(model, data)
    except mujoco.FatalError as error:
        assert "not finite" in str(error)
    mujoco.mj_resetData(model, data)
    mujoco.mj_step(model, data)
    assert data.time > 0
