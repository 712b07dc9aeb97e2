"""What of a MuJoCo model counts for a skin: friction, changes at run time, other models, other engines, the end of an attachment."""

import contextlib
import copy
import importlib.util
import subprocess
import sys
import warnings

import numpy as np
import pytest

import dermis

mujoco = pytest.importorskip("mujoco")
import dermis.mujoco  # noqa: E402

# Static friction 0.435, dynamic 0.23.
FOAM = {
    "kind": "springs",
    "stiffness": "1000 N/m",
    "damping": "10 N s/m",
    "max_penetration": "12 mm",
    "friction": {
        "kind": "lugre",
        "sigma0": "1000 N/m",
        "sigma1": "1 N s/m",
        "viscous": "0 N s/m",
        "mu_static": 0.435,
        "mu_dynamic": 0.23,
        "stribeck_speed": "0.3 m/s",
    },
}
SPRINGS = dermis.Sensor.preset("uji-foam-14x6", parameters={"skin": FOAM})
# Stiff and damped, so that the block hardly tilts.
STIFF = {"skin": {"hydroelastic_modulus": "300 kPa", "dissipation": "20 s/m", "friction": {"sigma0": "1e8 Pa/m", "sigma1": "1e4 Pa s/m"}}}
SKINS = {"springs": SPRINGS, "hydroelastic": dermis.Sensor.preset("uji-foam-14x6", skin="hydroelastic").with_parameters(STIFF)}


def load(geom="", *, gravity="0 0 -9.8", plugin="", finger='contype="1"', more=""):
    """A flat block of 1 kg on a pad; its geom has a pose of its own, so that MuJoCo looks at geom_pos and geom_quat."""
    extension = '<extension><plugin plugin="dermis.sensor"/></extension>' if plugin else ""
    text = f"""<mujoco>{extension}<option timestep="2e-3" gravity="{gravity}"/><worldbody>
      <body name="finger"><geom name="finger" type="box" size=".015 .045 .007" pos="0 0 -.0072" {finger}/><site name="pad"/></body>
      <body name="cube" pos="0 0 .0045"><freejoint/><geom name="cube" type="box" size=".03 .03 .005" mass="1" pos="0 0 .0001" euler="0 0 5" {geom}/></body>{more}
      </worldbody><sensor>{plugin}</sensor></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    return model, mujoco.MjData(model)


def couple(model, data, sensor=SPRINGS, **options):
    return dermis.mujoco.attach(model, data, sensor, site="pad", mode="couple", **options)


def step(model, data, count):
    for _ in range(count):
        mujoco.mj_step(model, data)


# A fifth of the weight pulls along x: the cube sticks with more friction than 0.2.
PULL = "2 0 -9.6"
# friction and priority of the geom, and the coefficient of the pair.
PAIRS = [("1", 0, 0.435), (".01", 0, 0.01), (".1", 0, 0.1), (".01", -1, 0.435), ("2", 0, 0.435), (".01", 1, 0.01), ("2", 1, 2.0)]
TOUCH = '<plugin name="touch" plugin="dermis.sensor" objtype="site" objname="pad"><config key="preset" value="uji-foam-14x6"/>'
PLUGIN = f"""{TOUCH}<config key="skin" value="kind = 'springs'; stiffness = '1000 N/m'; damping = '10 N s/m'; max_penetration = '12 mm';
  friction = {{ kind = 'coulomb', mu = 0.435, regularisation_speed = '0.1 mm/s' }}"/><config key="mode" value="couple"/><config key="objects" value="cube"/></plugin>"""


@pytest.mark.parametrize("coupling", ["implicit", "explicit", "plugin"])
@pytest.mark.parametrize(("friction", "priority", "mu"), PAIRS)
def test_friction_of_a_geom_counts_on_a_coupled_skin(friction, priority, mu, coupling):
    """It was ignored: a cube of friction 0.01 stuck to the pad where it slides at g (sin − μ cos)."""
    geom = f'friction="{friction}" priority="{priority}"'
    coulomb = dermis.Sensor.preset("uji-foam-14x6", parameters={"skin": {**FOAM, "friction": {"kind": "coulomb", "mu": 0.435, "regularisation_speed": "0.1 mm/s"}}})
    if coupling == "plugin":
        with contextlib.suppress(Exception):  # MuJoCo 4.0 has loaded it already
            dermis.mujoco.load_plugin()
        model, data = load(geom, gravity=PULL, plugin=PLUGIN, finger='contype="0" conaffinity="0"')
    else:
        model, data = load(geom, gravity=PULL)
        model.opt.timestep = 2e-3 if coupling == "implicit" else 1e-4
        pad = couple(model, data, coulomb, coupling=coupling)
    speeds = []
    for end in (0.02, 0.06):
        while data.time < end:
            mujoco.mj_step(model, data)
        speeds.append(data.qvel[0])
    assert (speeds[1] - speeds[0]) / 0.04 == pytest.approx(max(0, 2 - mu * 9.6), abs=0.1)
    if coupling != "plugin":
        assert pad.read().sum == pytest.approx(9.6, rel=0.2)


@pytest.mark.parametrize("skin", SKINS)
def test_friction_can_change_at_run_time(skin):
    model, data = load(gravity=PULL, finger='contype="0" conaffinity="0"')
    pad = couple(model, data, SKINS[skin])
    step(model, data, 50)
    assert abs(data.qvel[0]) < 1e-2
    cube, before = model.geom("cube").id, data.qvel[0]
    model.geom_friction[cube, 0] = 0.01
    step(model, data, 25)
    sliding = data.qvel[0] - before
    assert sliding == pytest.approx(0.05 * (2 - 0.01 * 9.6), rel=0.1)
    model.geom_friction[cube, 0] = 1
    step(model, data, 50)
    assert abs(data.qvel[0]) < 0.2 * sliding and pad.read().sum > 5


def test_two_objects_have_their_own_friction():
    """On one skin and under the same points a rough and a slippery cube: only the latter moves."""
    small = '<body name="{0}" pos="0 {1} .0045"><freejoint/><geom name="{0}" type="box" size=".015 .01 .005" mass=".2" friction="{2}"/></body>'
    more = small.format("rough", -0.02, 1) + small.format("slippery", 0.02, 0.01)
    model, data = load(gravity=PULL, more=more)
    data.qpos[2] = 1
    pad = couple(model, data, objects=["rough", "slippery"])
    step(model, data, 30)
    rough, slippery = data.qvel[6], data.qvel[12]
    assert abs(rough) < 1e-2 and slippery == pytest.approx(0.06 * (2 - 0.01 * 9.6), rel=0.1) and pad.read().sum > 3


# What a change of a field of a geom does after a sensor was attached, or why it cannot matter to a skin.
HONOURED = {"geom_pos", "geom_quat", "geom_friction", "geom_priority", "geom_contype", "geom_conaffinity"}
TOLD = {"geom_size"}
# Softness of MuJoCo's contact, which the skin replaces (docs/mujoco.md).
REPLACED = {"geom_condim", "geom_gap", "geom_margin", "geom_solimp", "geom_solmix", "geom_solref", "geom_adhesion", "geom_surfacevel"}
# Derived, structure, looks, fluids.
OTHER = {"geom_aabb", "geom_bodyid", "geom_castshadow", "geom_dataid", "geom_fluid", "geom_group", "geom_matid", "geom_plugin", "geom_rbound"} | {
    "geom_rgba", "geom_sameframe", "geom_type", "geom_user", "geom_adr"
}


def test_every_field_of_a_geom_is_honoured_told_or_none_of_a_skins():
    model, _ = load()
    fields = {name for name in dir(model) if name.startswith("geom_")}
    assert fields <= HONOURED | TOLD | REPLACED | OTHER, fields - (HONOURED | TOLD | REPLACED | OTHER)


def force_after(change, steps=1):
    """Normal forces before and after a change of the model."""
    model, data = load()
    # MuJoCo itself ignores geom_pos and geom_quat of a geom whose frame was that of its body or its inertia.
    model.geom_sameframe[:] = 0
    pad = couple(model, data)
    mujoco.mj_step(model, data)
    before = pad.read().taxels
    mujoco.mj_resetData(model, data)
    change(model, model.geom("cube").id)
    step(model, data, steps)
    return before, pad.read().taxels


def test_a_geom_that_is_moved_presses_elsewhere():
    def lower(model, cube):
        model.geom_pos[cube, 2] -= 2e-4

    def tilt(model, cube):
        model.geom_quat[cube] = [np.cos(0.01), 0, np.sin(0.01), 0]

    before, after = force_after(lower)
    assert after.sum() > 1.3 * before.sum() > 1
    before, after = force_after(tilt)
    assert np.abs(after - before).max() > 0.2 * before.max()


def test_an_object_whose_contact_is_switched_off_leaves_the_skin():
    """As it leaves MuJoCo's own contacts."""

    def bits(model, cube):
        model.geom_contype[cube] = model.geom_conaffinity[cube] = 0

    def flag(model, _):
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT

    for change in (bits, flag):
        before, after = force_after(change)
        assert before.sum() > 1 and not after.any()


def test_contact_that_was_switched_off_before_leaves_the_skin_alone():
    """A model without MuJoCo's contacts can have skins."""
    model, data = load()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    pad = couple(model, data)
    step(model, data, 400)
    assert pad.read().sum == pytest.approx(9.8, rel=1e-2)


def set_at(field, geom, index, value):
    def change(model):
        getattr(model, field)[model.geom(geom).id][index if index is not None else ...] = value

    return change


@pytest.mark.parametrize("mode", ["couple", "sense"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (set_at("geom_size", "cube", 0, 0.01), "`geom_size` of geom 'cube' .* no effect: .*attach again"),
        (set_at("geom_friction", "cube", 0, 1.5), "`geom_friction` of geom 'cube' .*own friction of 0.435 is smaller"),
        (set_at("geom_friction", "finger", 0, 0.1), "`geom_friction` of geom 'finger' .*under the skin"),
        (set_at("geom_pos", "finger", 2, -0.01), "`geom_pos/geom_quat` of geom 'finger'"),
        (lambda model: model.geom_contype.__setitem__(model.geom("cube").id, 4), "`geom_contype/geom_conaffinity` of geom 'cube'"),
    ],
    ids=["size", "friction", "own friction", "own pose", "bits"],
)
def test_a_change_without_effect_is_told_once(change, words, mode):
    model, data = load()
    pad = dermis.mujoco.attach(model, data, SPRINGS, site="pad", mode=mode)
    step(model, data, 2)
    pad.read()
    change(model)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(3):
            mujoco.mj_step(model, data)
            pad.read()
    texts = [str(warning.message) for warning in told if "no effect" in str(warning.message)]
    assert len(texts) == 1, [str(warning.message) for warning in told]
    with pytest.warns(RuntimeWarning, match=words):
        warnings.warn(texts[0], RuntimeWarning, stacklevel=1)


def test_bits_that_a_program_has_changed_stay_after_detaching():
    model, data = load()
    pad = couple(model, data)
    model.geom_contype[model.geom("cube").id] = 4
    pad.detach()
    assert model.geom("cube").contype[0] == 4 and model.geom("finger").contype[0] == 1


# B11: data of other models, and the end of an attachment.


@pytest.mark.parametrize("mode", ["couple", "sense", "contacts"])
def test_data_of_another_model_are_refused(mode):
    """`read` of the data of a copied model was 0 N."""
    model, data = load()
    other, others_data = load('friction=".5"')
    copied = copy.copy(model)
    copies_data = mujoco.MjData(copied)
    for strange in (others_data, copies_data):
        with pytest.raises(dermis.Error, match="`data` was made with another MjModel than `model`"):
            dermis.mujoco.attach(model, strange, SPRINGS, site="pad", mode=mode)
    pad = dermis.mujoco.attach(model, data, SPRINGS, site="pad", mode=mode)
    step(model, data, 3)
    for strange in (others_data, copies_data):
        with pytest.raises(dermis.Error, match="`data` was made with another MjModel"):
            pad.read(strange)
    assert other is not copied and pad.read().force[2] < 0


def test_a_copied_pair_of_model_and_data_can_be_attached_to():
    """``copy.deepcopy`` of an environment: its data has a model of its own, which nothing else refers to."""
    model, data = load()
    twin = copy.deepcopy({"model": model, "data": data})
    pad = couple(twin["model"], twin["data"])
    step(twin["model"], twin["data"], 400)
    assert pad.read().sum == pytest.approx(9.8, rel=1e-2)


# What describes an attachment stays; what reads the simulation raises.
DESCRIBES = {"model", "data", "mode", "sensor", "objects", "detach"}


@pytest.mark.parametrize("mode", ["couple", "sense", "contacts"])
def test_an_attachment_that_has_ended_says_so(mode):
    model, data = load()
    pad = dermis.mujoco.attach(model, data, SPRINGS, site="pad", mode=mode)
    step(model, data, 3)
    pad.read()
    pad.detach()
    step(model, data, 3)
    names = [name for name in dir(pad) if not name.startswith("_")]
    assert set(names) >= DESCRIBES | {"read", "reset", "pose"}
    for name in names:
        if name in DESCRIBES:
            found = getattr(pad, name)
            assert found() is None if callable(found) else found is not None
            continue
        with pytest.raises(dermis.Error, match="the attachment has ended, because `detach` was called"):
            found = getattr(pad, name)
            found()
    with pytest.raises(dermis.Error, match="the attachment has ended"):
        copy.deepcopy({"model": model, "data": data, "pad": pad})["pad"].read()


# C4: the mode that is taken without one.


@pytest.mark.parametrize("mass", [0.1, 0.5])
def test_the_default_mode_reads_the_weight(mass):
    """The default was "sense", which read 152 to 212 N of 1 to 5 N in the scene of the guide."""
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="0.002"/><worldbody><body name="plate" pos="0 0 0.05"><geom type="box" size="0.03 0.05 0.01"/>
        <site name="pad" pos="0 0 0.012"/></body><body name="cube" pos="0 0 0.0825"><freejoint/>
        <geom name="cube" type="box" size="0.01 0.01 0.02" mass="{mass}"/></body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    pad = dermis.mujoco.attach(model, data, dermis.Sensor.preset("wts0614"), site="pad", objects="cube")
    step(model, data, 1000)
    assert pad.mode == "contacts" and pad.read().force[2] == pytest.approx(-9.81 * mass, rel=1e-3)


def test_a_sensor_that_mujoco_never_touches_is_told():
    """In the default mode it would read 0 for ever."""
    model, data = load(finger='contype="0" conaffinity="0"')
    with pytest.warns(RuntimeWarning, match='mode "contacts" reads MuJoCo\'s contact forces, .* it reads 0'):
        dermis.mujoco.attach(model, data, SPRINGS, site="pad")


# B10: engines that do not run the skin.

ENGINE = """
import mujoco, sys, types, dermis, dermis.mujoco
model = mujoco.MjModel.from_xml_string('''<mujoco><worldbody><body name="finger"><geom name="finger" type="box" size=".015 .045 .007" pos="0 0 -.0072"/>
  <site name="pad"/></body><body name="cube" pos="0 0 .03"><freejoint/><geom type="box" size=".03 .03 .03" mass="1"/></body></worldbody></mujoco>''')
if {first}:
    import {module}
pad = dermis.mujoco.attach(model, mujoco.MjData(model), dermis.Sensor.preset("uji-foam-14x6"), site="pad", mode="couple")
import {module} as engine
try:
    engine.put_model(model)
except dermis.Error as error:
    print(error)
pad.detach()
engine.put_model(model)
print("put")
"""


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("module", ["mujoco.mjx", "mujoco_warp"])
def test_another_engine_refuses_a_model_with_a_coupled_skin(module, first, tmp_path):
    """The object fell through the skin. Where the engine is not installed, a stand-in with its name is imported."""
    script, name = ENGINE.format(first=first, module=module), module.partition(".")[2] or module
    if importlib.util.find_spec("mujoco_warp" if module == "mujoco_warp" else "mujoco.mjx") is None:
        (tmp_path / f"{name}.py").write_text("def put_model(model, **_):\n    return model\n")
        place = f"import sys, mujoco; sys.path.insert(0, {str(tmp_path)!r}); mujoco.__path__.append({str(tmp_path)!r})\n"
        script = place + script
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert 'attached in mode "couple", which MuJoCo Warp does not run' in run.stdout or 'which MJX does not run' in run.stdout
    assert run.stdout.endswith("put\n")


# C9: the history of copies.


def sliding():
    model, data = load()
    data.qvel[:2] = [0.05, -0.03]
    return model, data, couple(model, data)


def test_a_copy_keeps_its_history_however_far_the_original_goes():
    """Without the `read`, its history is known for 64 steps."""
    model, data, pad = sliding()
    step(model, data, 50)
    twin = copy.copy(data)
    pad.read(twin)
    step(model, data, 100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step(model, twin, 100)
    assert np.array_equal(twin.qpos, data.qpos) and np.array_equal(pad.read(twin).forces, pad.read().forces)


def test_a_copy_whose_history_is_lost_is_told_how_to_keep_it():
    model, data, pad = sliding()
    step(model, data, 50)
    twin = copy.copy(data)
    step(model, data, 100)
    with pytest.warns(RuntimeWarning, match="`read` of the copy when it is made keeps the history"):
        mujoco.mj_step(model, twin)
    assert pad.read().sum > 0
