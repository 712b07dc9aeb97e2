"""Sensors in a simulation of MuJoCo: what they feel, what they do to bodies, and that the engine plugin says the same."""

import copy
import gc
import pickle
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import dermis

mujoco = pytest.importorskip("mujoco")
import dermis.mujoco  # noqa: E402

FOAM = {
    "kind": "springs",
    "stiffness": "1000 N/m",
    "damping": "10 N s/m",
    "max_penetration": "12 mm",
    "friction": {
        "kind": "lugre",
        "sigma0": "1000 N/m",
        "sigma1": "1 N s/m",
        "viscous": "0.01 N s/m",
        "mu_static": 0.435,
        "mu_dynamic": 0.23,
        "stribeck_speed": "0.3 m/s",
    },
}
STIFF = dermis.Sensor.preset("uji-foam-14x6", parameters={"skin": FOAM})
PLUGIN_SKIN = """kind = 'springs'; stiffness = '1000 N/m'; damping = '10 N s/m'; max_penetration = '12 mm';
  friction = { kind = 'lugre', sigma0 = '1000 N/m', sigma1 = '1 N s/m', viscous = '0.01 N s/m',
               mu_static = 0.435, mu_dynamic = 0.23, stribeck_speed = '0.3 m/s' }"""


def scene(
    *,
    cube='<freejoint/><geom name="cube" type="box" size=".03 .03 .03" mass="1"/>',
    at="0 0 .03",
    finger="",
    own='size=".015 .045 .007" pos="0 0 -.0072"',
    step="1e-4",
    more="",
    integrator="Euler",
    plugin="",
):
    """A finger with a pad, turned by 30° about its normal, and something over it."""
    extension = '<extension><plugin plugin="dermis.sensor"/></extension>' if plugin else ""
    return f"""<mujoco>{extension}<option timestep="{step}" gravity="0 0 -9.8" integrator="{integrator}"/>{more}<worldbody>
      <body name="finger">{finger}<geom name="finger" type="box" {own}/><site name="pad" euler="0 0 30"/></body>
      <body name="cube" pos="{at}">{cube}</body></worldbody><sensor>{plugin}</sensor></mujoco>"""


def load(text):
    model = mujoco.MjModel.from_xml_string(text)
    return model, mujoco.MjData(model)


def step(model, data, count):
    for _ in range(count):
        mujoco.mj_step(model, data)


def test_a_weight_stands_on_the_skin():
    """Coupled, at rest: the taxels carry m g. MuJoCo's own contact of that pair is off."""
    model, data = load(scene(step="2e-3"))
    pad = dermis.mujoco.attach(model, data, STIFF, site="pad", mode="couple")
    step(model, data, 800)
    reading = pad.read()
    assert reading.sum == pytest.approx(9.8, rel=1e-3)
    assert data.ncon == 0 and pad.objects == ["geom 'cube'"]
    assert abs(data.qvel).max() < 1e-4
    assert reading.touch.on_objects[0] == pytest.approx(-reading.touch.on_sensor, abs=1e-12)


@pytest.mark.parametrize("sensor", [STIFF, dermis.Sensor.preset("wts0614-layer")], ids=["springs", "layer"])
def test_contacts_of_mujoco_are_read_in_full(sensor):
    """The taxels and the rest add up to mj_contactForce; what presses on the back of the finger is not felt."""
    pusher = '<body name="pusher" pos="0 0 -.0205"><joint type="slide" axis="0 0 1"/><geom type="sphere" size=".006" mass=".01"/></body>'
    text = scene(own='size=".015 .045 .007" pos="0 0 -.007"', step="2e-3").replace("</worldbody>", pusher + "</worldbody>")
    model, data = load(text)
    data.qfrc_applied[-1] = 3
    pad = dermis.mujoco.attach(model, data, sensor, site="pad", mode="contacts")
    step(model, data, 500)
    finger, cube = model.geom("finger").id, model.geom("cube").id
    total = np.zeros(3)
    for i, contact in enumerate(data.contact):
        if set(contact.geom) == {finger, cube}:
            force = np.zeros(6)
            mujoco.mj_contactForce(model, data, i, force)
            total += (1 if contact.geom[1] == finger else -1) * contact.frame.reshape(3, 3).T @ force[:3]
    total = pad.pose[:3, :3].T @ total
    reading = pad.read()
    assert data.ncon > 4 and total[2] == pytest.approx(-9.8, rel=1e-3)
    assert reading.force == pytest.approx(total, abs=1e-12)
    assert reading.forces.reshape(-1, 3).sum(axis=0) + reading.outside == pytest.approx(total, abs=1e-9)
    cube_load = reading.touch.on_objects[pad.objects.index("geom 'cube'")]
    assert cube_load[:3] == pytest.approx(-total, abs=1e-12) and pad.mode == "contacts"


NEWER = """
import sys, numpy, mujoco, dermis, dermis.mujoco
from dermis import _engine_plugin, _mujoco_layout
if mujoco.mj_versionString() < "4":
    dermis.mujoco.load_plugin()
_mujoco_layout.provide(_engine_plugin.path(), always=True)
text = sys.stdin.read()
model = mujoco.MjModel.from_xml_string(text)
data = mujoco.MjData(model)
mujoco.mj_step(model, data, 400)
print(repr(float(data.sensordata.sum())))
"""


@pytest.mark.usefixtures("engine_plugin")
def test_structs_of_newer_versions_are_found_from_their_declarations():
    """The offsets computed from the package are those of the C compiler, and the plugin works with them."""
    from dermis import _mujoco_layout, _native

    versions, fields = _native.mujoco_layouts()
    assert mujoco.mj_versionString() in versions and "sensordata" in fields
    computed = _mujoco_layout.offsets(fields)
    assert computed == {field: number for field, number in zip(fields, _native.mujoco_layout(), strict=True)}
    with pytest.raises(LookupError, match="no field nonsense"):
        _mujoco_layout.offsets(["nonsense"])
    plugin = '<plugin name="touch" plugin="dermis.sensor" objtype="site" objname="pad"><config key="preset" value="uji-foam-14x6"/><config key="mode" value="couple"/><config key="objects" value="cube"/></plugin>'
    text = scene(plugin=plugin, step="2e-3", more='<default><geom contype="0" conaffinity="0"/></default>')
    run = subprocess.run([sys.executable, "-c", NEWER], input=text, capture_output=True, text=True, check=True)
    model, data = load(text)
    mujoco.mj_step(model, data, 400)
    assert float(run.stdout) == data.sensordata.sum() > 1 and run.stderr == ""


def test_every_evaluation_is_a_step_of_the_sensor_once():
    """mj_forward between steps, steps in two halves, and reading changes nothing."""
    paths = []
    for disturb in (False, True):
        model, data = load(scene())
        data.qvel[:] = [0.02, -0.01, 0, 0.1, 0.2, 0.3]
        pad = dermis.mujoco.attach(model, data, STIFF, site="pad", mode="couple")
        for _ in range(200):
            if disturb:
                mujoco.mj_forward(model, data)
                pad.read()
                mujoco.mj_step1(model, data)
                mujoco.mj_step2(model, data)
            else:
                mujoco.mj_step(model, data)
        paths.append(data.qpos.copy())
        assert pad.read().force[0] != 0
    assert np.array_equal(*paths)


def test_runge_kutta_keeps_the_history_in_step():
    ends = []
    for integrator in ("Euler", "RK4"):
        model, data = load(scene(integrator=integrator))
        data.qvel[:3] = [0.02, -0.01, 0]
        pad = dermis.mujoco.attach(model, data, STIFF, site="pad", mode="couple")
        step(model, data, 500)
        ends.append((data.qpos.copy(), pad.read().force))
    assert ends[0][0] == pytest.approx(ends[1][0], abs=2e-5)
    assert ends[0][1] == pytest.approx(ends[1][1], abs=2e-2)


@pytest.mark.parametrize("direction", [(1, 0), (-1, 0), (0, 1), (0, -1)])
def test_shear_has_a_sign_and_the_sensors_frame(direction):
    model, data = load(scene(cube="".join(f'<joint name="{a}" type="slide" axis="{v}"/>' for a, v in
                                          (("x", "1 0 0"), ("y", "0 1 0"), ("z", "0 0 1")))
                             + '<geom name="cube" type="sphere" size=".02" mass="1"/>', at="0 0 .018", own='size=".015 .045 .001" pos="0 0 -.02"',
                             step="1e-3"))
    model.opt.gravity[:] = 0
    pad = dermis.mujoco.attach(model, data, STIFF, site="pad", mode="sense")
    pad.read()
    for _ in range(50):
        data.qvel[:] = [1e-2 * direction[0], 1e-2 * direction[1], 0]
        mujoco.mj_step(model, data)
        reading = pad.read()
    shear = (pad.pose[:3, :3] @ reading.force)[:2]
    along, across = shear @ direction, shear @ (-direction[1], direction[0])
    assert along > 1e-3 and abs(across) < 0.05 * along


def test_a_coupled_pair_pushes_back_and_forth():
    """Finger and cube both float: momentum and angular momentum about the origin stay nought."""
    model, data = load(scene(finger="<freejoint/>", own='size=".015 .045 .007" pos="0 0 -.0072" mass="2"', at="0 0 .0295"))
    model.opt.gravity[:] = 0
    pad = dermis.mujoco.attach(model, data, STIFF, body="finger", mode="couple")
    moved = 0.0
    for _ in range(300):
        mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        mujoco.mj_subtreeVel(model, data)
        moved = max(moved, abs(data.qvel).max())
        assert abs(data.subtree_linvel[0]).max() * 3 < 1e-12
    assert moved > 1e-2 and pad.read().sum >= 0


@pytest.fixture(scope="module")
def engine_plugin():
    """Loads the engine plugin."""
    try:
        dermis.mujoco.load_plugin()
    except FileNotFoundError:
        pytest.skip("installed without the engine plugin")
    except Exception as error:  # MuJoCo 4.0 has loaded it already
        assert "already" in str(error)


@pytest.mark.usefixtures("engine_plugin")
def test_what_the_plugin_says():
    """The engine plugin is another program around the same skin: forces and path agree to rounding, in both modes."""
    for mode in ("sense", "couple"):
        plugin = f"""<plugin plugin="dermis.sensor" objtype="site" objname="pad"><config key="preset" value="uji-foam-14x6"/>
          <config key="skin" value="{PLUGIN_SKIN}"/><config key="mode" value="{mode}"/><config key="output" value="force wrench"/></plugin>"""
        own = 'size=".015 .045 .007" pos="0 0 -.0072" contype="0" conaffinity="0"'
        paths = []
        for with_plugin in (True, False):
            model, data = load(scene(own=own, plugin=plugin if with_plugin else "", cube='<freejoint/><geom name="cube" type="capsule" size=".02 .02" '
                                     'euler="0 90 10" mass="1"/>', at="0 0 .019"))
            data.qvel[:] = [0.02, -0.01, 0, 0.1, 0.2, 0.3]
            pad = None if with_plugin else dermis.mujoco.attach(model, data, STIFF, site="pad", mode=mode)
            for _ in range(150):
                mujoco.mj_step(model, data)
                last = np.array(data.sensordata) if with_plugin else pad.read()
            paths.append((data.qpos.copy(), last))
        assert paths[0][0] == pytest.approx(paths[1][0], abs=1e-9)
        said, reading = paths[0][1], paths[1][1]
        assert reading.active > 4
        assert reading.wrench == pytest.approx(said[-6:], abs=1e-6)
        assert reading.forces.reshape(-1, 3).T.ravel() == pytest.approx(said[:-6], abs=1e-6)


GEOMS = {
    "sphere": ('type="sphere" size=".02"', ".019"),
    "ellipsoid": ('type="ellipsoid" size=".03 .03 .02"', ".019"),
    "capsule": ('type="capsule" size=".02 .01" euler="0 90 0"', ".019"),
    "cylinder": ('type="cylinder" size=".02 .01"', ".009"),
    "box": ('type="box" size=".02 .02 .02"', ".019"),
    "plane": ('type="plane" size="1 1 1" euler="180 0 0"', "-.001"),
    "mesh": ('type="mesh" mesh="wedge"', ".019"),
    "hfield": ('type="hfield" hfield="hill" euler="180 0 0"', ".019"),
}
ASSETS = """<asset><mesh name="wedge" vertex="-.02 -.02 -.02  .02 -.02 -.02  .02 .02 -.02  -.02 .02 -.02  -.02 -.02 .02
  .02 -.02 .02  .02 .02 .02  -.02 .02 .02"/><hfield name="hill" nrow="3" ncol="3" size=".02 .02 .02 .01"/></asset>"""


@pytest.mark.parametrize("kind", GEOMS)
def test_every_kind_of_geom_is_felt(kind):
    """Each reaches 1 mm into the skin; a taxel under its lowest part is pressed by 1 mm of 1 N/mm, or a little less where it is round."""
    geom, height = GEOMS[kind]
    mocap = '<body name="cube" mocap="true" pos'
    model, data = load(scene(cube=f'<geom name="cube" {geom}/>', at=f"0 0 {height}", more=ASSETS).replace('<body name="cube" pos', mocap))
    if kind == "hfield":
        model.hfield_data[:] = 1
    mujoco.mj_forward(model, data)
    reading = dermis.mujoco.attach(model, data, STIFF, site="pad", mode="sense").read()
    low, high = (0.6, 1.001)
    assert low < reading.taxels.max() < high, kind
    assert reading.forces.sum(axis=(0, 1)) + reading.outside == pytest.approx(reading.force, abs=1e-12)
    if kind in ("box", "plane", "mesh"):
        assert reading.taxels.max() == pytest.approx(1.0, rel=1e-6)


def test_a_height_field_is_not_mirrored():
    """A hill on one side, hanging over the pad and turned about x: it presses where it is."""
    text = scene(cube='<geom name="cube" type="hfield" hfield="hill" euler="180 0 0"/>', at="0 0 .019", more=ASSETS.replace('nrow="3" ncol="3"', 'nrow="9" ncol="9"'))
    model, data = load(text.replace('euler="0 0 30"', "").replace('<body name="cube"', '<body name="cube" mocap="true"'))
    heights = np.full((9, 9), 0.9)
    heights[1:3, 5:7] = 1.0  # columns 5 and 6 are at +x, rows 1 and 2 at -y of the geom and so at +y of the world
    model.hfield_data[:] = heights.ravel()
    mujoco.mj_forward(model, data)
    reading = dermis.mujoco.attach(model, data, STIFF, site="pad", mode="sense").read()
    center = reading.features().center
    assert center == pytest.approx([0.0075, 0.0125], abs=2e-3)


def test_sense_leaves_the_simulation_alone():
    paths = []
    for attached in (False, True):
        model, data = load(scene(at="0 0 .0298"))
        pad = dermis.mujoco.attach(model, data, STIFF, geom="finger", pose=[0, 0, 0.0082], mode="sense") if attached else None
        for _ in range(100):
            mujoco.mj_step(model, data)
            if pad:
                assert pad.read().sum > 0
        paths.append(data.qpos.copy())
    assert np.array_equal(*paths)


def warnings_of(pad, model, data, count=3):
    """The texts of the warnings of several readings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(count):
            pad.read()
            step(model, data, 1)
    return [str(warning.message) for warning in told]


@pytest.mark.parametrize("ratio", [0.3, 0.7, 1.5, 3.0])
def test_a_force_that_mujocos_contact_contradicts_is_told_once(ratio):
    """In "sense" the depth is not that of the weight: here the skin is placed so that it reads a multiple of it."""
    model, data = load(scene(cube='<freejoint/><geom name="cube" type="box" size=".008 .008 .008" mass="1"/>', at="0 0 .0078", step="2e-3"))
    step(model, data, 500)
    bottom = data.body("cube").xpos[2] - 0.008
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        per_metre = dermis.mujoco.attach(model, data, STIFF, site="pad", pose=[0, 0, bottom + 1e-3], mode="sense").read().sum / 1e-3
    pad = dermis.mujoco.attach(model, data, STIFF, site="pad", pose=[0, 0, bottom + ratio * 9.8 / per_metre], mode="sense")
    assert pad.mode == "sense"
    told = warnings_of(pad, model, data)
    assert pad.read().sum == pytest.approx(ratio * 9.8, rel=1e-2)
    if 0.5 < ratio < 2:
        assert told == []
    else:
        assert len(told) == 1 and "MuJoCo's contact carries 9.800 N" in told[0] and "at geom 'cube'" in told[0], told
        assert f"the skin reads {ratio * 9.8:.1f}" in told[0] and 'mode "couple"' in told[0] and '"contacts"' in told[0]


def test_the_example_of_the_guide_is_told_in_sense():
    """A cube of 1 N on a skin that MuJoCo's contact presses by 2 mm."""
    model, data = load(
        """<mujoco><option timestep="0.002"/><worldbody><body name="plate" pos="0 0 0.05"><geom type="box" size="0.03 0.05 0.01"/>
        <site name="pad" pos="0 0 0.012"/></body><body name="cube" pos="0 0 0.0825"><freejoint/>
        <geom name="cube" type="box" size="0.01 0.01 0.02" mass="0.1"/></body></worldbody></mujoco>"""
    )
    pad = dermis.mujoco.attach(model, data, dermis.Sensor.preset("wts0614"), site="pad", objects="cube", mode="sense")
    step(model, data, 1000)
    with pytest.warns(RuntimeWarning, match=r"reads 15\d\.\d+ N at geom 'cube', where MuJoCo's contact carries 0\.981 N"):
        pad.read()


@pytest.mark.parametrize("case", ["excluded", "gap", "prescribed", "falling"])
def test_forces_are_compared_only_at_rest_on_mujocos_contact(case):
    held = '<joint type="slide" axis="0 0 1" stiffness="1e5" damping="100"/>'
    geom = {"gap": 'gap=".003" pos="0 0 .001"'}.get(case, "")
    free = case in ("prescribed", "falling")
    more = '<contact><exclude body1="finger" body2="cube"/></contact>' if case == "excluded" else ""
    cube = f'{"<freejoint/>" if free else held}<geom name="cube" type="box" size=".01 .01 .01" mass="1" {geom}/>'
    model, data = load(scene(cube=cube, at="0 0 .0085" if case == "prescribed" else "0 0 .0095", step="2e-3", more=more))
    pad = dermis.mujoco.attach(model, data, STIFF, site="pad", pose=[0, 0, 2e-3], mode="sense")
    if case == "prescribed":
        mujoco.mj_forward(model, data)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert pad.read().sum > 5
    else:
        if case == "falling":
            data.qvel[2] = -0.1
        step(model, data, 1 if case == "falling" else 400)
        assert warnings_of(pad, model, data, 1) == [] and pad.read().sum > 5


def test_a_place_may_be_said_in_three_ways():
    """A site, and the same place from the frames of its body and of a geom, on a finger that spins: the same slip, the same forces."""
    text = scene(finger="<freejoint/>", own='size=".015 .045 .007" pos=".02 0 -.0072" euler="0 0 90"', at=".02 .01 .029")
    model, data = load(text.replace('euler="0 0 30"/>', 'pos=".02 .01 0" euler="0 0 30"/>'))
    data.qvel[:6] = [0, 0, 0, 0.2, 0.1, 0.5]
    data.qvel[6:] = [0.01, 0, 0, 0, 0.3, 0]
    half = np.radians(15)
    quarter_back = np.radians(15 - 45)
    places = [
        {"site": "pad"},
        {"body": "finger", "pose": [0.02, 0.01, 0, np.cos(half), 0, 0, np.sin(half)]},
        {"geom": "finger", "pose": [0.01, 0, 0.0072, np.cos(quarter_back), 0, 0, np.sin(quarter_back)]},
    ]
    wrenches = []
    for place in places:
        pad = dermis.mujoco.attach(model, data, STIFF, objects="cube", **place, mode="sense")
        mujoco.mj_forward(model, data)
        wrenches.append(pad.read().wrench)
    assert abs(wrenches[0][:2]).min() > 1e-3
    assert wrenches[1] == pytest.approx(wrenches[0], abs=1e-10)
    assert wrenches[2] == pytest.approx(wrenches[0], abs=1e-10)


def test_only_the_pair_loses_mujocos_contact():
    """A second body still rests on the finger, and the cube on the ground; detaching brings everything back."""
    more = '<worldbody><geom name="ground" type="plane" size="1 1 1" pos="0 0 -1"/><body name="pebble" pos="0 .04 .5"><freejoint/>' \
           '<geom name="pebble" size=".004"/></body></worldbody>'
    model, data = load(scene(more=more))
    bits = model.geom_contype.copy(), model.geom_conaffinity.copy()

    def touching(a, b):
        a, b = model.geom(a).id, model.geom(b).id
        return bool(model.geom_contype[a] & model.geom_conaffinity[b] or model.geom_contype[b] & model.geom_conaffinity[a])

    pad = dermis.mujoco.attach(model, data, STIFF, site="pad", objects="cube", mode="couple")
    other = dermis.mujoco.attach(model, data, STIFF, body="finger", objects=["cube", "cube"], mode="couple")
    assert not touching("finger", "cube")
    for pair in (("finger", "pebble"), ("finger", "ground"), ("cube", "pebble"), ("cube", "ground"), ("pebble", "ground")):
        assert touching(*pair), pair
    pad.detach()
    assert not touching("finger", "cube")
    other.detach()
    assert np.array_equal(bits[0], model.geom_contype) and np.array_equal(bits[1], model.geom_conaffinity)
    assert mujoco.get_mjcb_passive() is None
    pad = dermis.mujoco.attach(model, data, STIFF, site="pad", objects="cube", mode="couple")
    del pad
    gc.collect()
    assert touching("finger", "cube") and mujoco.get_mjcb_passive() is None


def test_another_callback_goes_on():
    calls = []
    def count(model, data):
        calls.append(data.time)
    model, data = load(scene())
    mujoco.set_mjcb_passive(count)
    try:
        pad = dermis.mujoco.attach(model, data, STIFF, site="pad", mode="couple")
        step(model, data, 3)
        assert len(calls) == 3 and pad.read().sum >= 0
        pad.detach()
        assert mujoco.get_mjcb_passive() is count
    finally:
        mujoco.set_mjcb_passive(None)


def test_resets_let_go():
    model, data = load(scene(at="0 0 .0295"))
    pad = dermis.mujoco.attach(model, data, STIFF, site="pad", mode="couple")
    data.qvel[0] = 0.05
    step(model, data, 100)
    assert pad.read().force[0] != 0
    mujoco.mj_resetData(model, data)
    mujoco.mj_forward(model, data)
    assert pad.read().force[:2] == pytest.approx([0, 0], abs=1e-12)
    first = pad.read().taxels
    pad.reset()
    mujoco.mj_forward(model, data)
    assert np.array_equal(pad.read().taxels, first)


def test_many_data_of_a_model_are_apart():
    model, one = load(scene())
    two = mujoco.MjData(model)
    pads = [dermis.mujoco.attach(model, data, STIFF, site="pad", mode="couple") for data in (one, two)]
    two.qpos[2] += 0.01
    step(model, one, 300)
    step(model, two, 300)
    assert pads[0].read().sum > 1 and pads[1].read().sum == 0
    assert pads[0].sensor.state != pads[1].sensor.state


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"site": "thumb"}, "no site 'thumb'"),
        ({"geom": "thumb"}, "no geom 'thumb'"),
        ({"body": "thumb"}, "no body 'thumb'"),
        ({"body": 99}, "no body number 99"),
        ({}, "one of `site`, `body` and `geom`"),
        ({"site": "pad", "body": "finger"}, "got site and body"),
        ({"site": "pad", "objects": "pear"}, "no geom or body 'pear'"),
        ({"site": "pad", "objects": []}, "names nothing"),
        ({"site": "pad", "objects": "finger"}, "moves with the sensor"),
        ({"site": "pad", "mode": "press"}, "'couple' or 'contacts'"),
        ({"site": "pad", "pose": [0, 0, np.nan]}, "finite"),
        ({"site": "pad", "pose": np.ones((4, 4))}, "rigid transform"),
        ({"site": "pad", "pose": [0, 0]}, "shape"),
    ],
)
def test_slips_are_named(arguments, words):
    model, data = load(scene())
    with pytest.raises(ValueError, match=words):
        dermis.mujoco.attach(model, data, STIFF, **arguments)
    step(model, data, 2)
    assert np.isfinite(data.qpos).all()


def test_wrong_types_are_named():
    model, data = load(scene())
    with pytest.raises(TypeError, match="dermis.Sensor"):
        dermis.mujoco.attach(model, data, "uji-foam-14x6", site="pad")
    with pytest.raises(TypeError, match="name or a number"):
        dermis.mujoco.attach(model, data, STIFF, site=1.5)


def test_a_long_explicit_step_is_refused():
    model, data = load(scene(step="0.02"))
    with pytest.raises(dermis.Error, match='0.02 s is too long for geom .cube.* <option timestep="0.00'):
        dermis.mujoco.attach(model, data, STIFF, site="pad", mode="couple", coupling="explicit")
    assert mujoco.get_mjcb_passive() is None and model.geom("finger").contype[0] == 1
    with pytest.raises(dermis.Error, match="'implicit' or 'explicit'"):
        dermis.mujoco.attach(model, data, STIFF, site="pad", mode="couple", coupling="semi")


def test_a_pair_is_refused():
    more = '<contact><pair geom1="finger" geom2="cube"/></contact>'
    model, data = load(scene(more=more))
    with pytest.raises(dermis.Error, match="<pair> of geom 'finger' and geom 'cube'"):
        dermis.mujoco.attach(model, data, STIFF, site="pad", mode="couple")


@pytest.mark.parametrize("mode", ["sense", "couple"])
def test_a_pose_that_is_no_number_raises_and_the_simulation_goes_on(mode):
    text = scene().replace('<body name="cube"', '<body name="cube" mocap="true"').replace("<freejoint/>", "")
    more = '<worldbody><body name="apple" pos="0 0 1"><freejoint/><geom name="apple" size=".01" mass="1"/></body></worldbody>'
    model, data = load(text.replace("<worldbody>", more + "<worldbody>", 1))
    pad = dermis.mujoco.attach(model, data, STIFF, site="pad", objects=["cube", "apple"], mode=mode)
    data.mocap_pos[0, 0] = np.nan
    with pytest.raises(dermis.Error, match="position of geom 'cube' is not finite"):
        mujoco.mj_forward(model, data)
        pad.read()
    data.mocap_pos[0] = [0, 0, 0.0295]
    step(model, data, 3)
    assert pad.read().sum > 1 and np.isfinite(data.qpos).all()


URDF = """<robot name="hand"><mujoco><compiler fusestatic="false"/></mujoco>
  <link name="palm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <sensor name="skin"><parent link="finger"/><origin xyz="0.01 0 0" rpy="0 0 0"/>
    <tactile><array rows="4" cols="6" size=".004 .004" spacing=".005 .005" offset="0 0"/></tactile></sensor></robot>"""


def test_a_robot_description_places_its_arrays(tmp_path):
    """Rows along x, columns along y from the <origin>: a ball over cell (1, 4) lights that one most."""
    path = tmp_path / "hand.urdf"
    path.write_text(URDF)
    at = [0.01 + 1 * 0.005, 4 * 0.005]
    model, data = load(scene(cube='<freejoint/><geom name="cube" type="sphere" size=".01"/>', at=f"{at[0]} {at[1]} .009"))
    mujoco.mj_forward(model, data)
    pads = dermis.mujoco.attach_urdf(model, data, path, preset="capacitive-8x8", mode="sense")
    taxels = pads["skin"].read().taxels
    assert taxels.shape == (4, 6)
    assert np.unravel_index(taxels.argmax(), taxels.shape) == (1, 4)
    given = dermis.mujoco.attach_urdf(model, data, path, sensors={"skin": STIFF})
    assert given["skin"].pose[:3, 3] == pytest.approx([0.01, 0, 0])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('link="finger"', 'link="thumb"', "no body of that name"),
        ('xyz="0.01 0 0"', 'xyz="0.01 0"', "`xyz` must be 3 numbers"),
        ('spacing=".005 .005"', 'spacing=".005 .006"', "same in both directions"),
        ('rows="4"', 'rows="four"', "`rows`"),
        ("<array", '<taxel idx="0"/><ray', "one by one"),
        ("<tactile>", "<camera/></sensor><sensor>", "no <sensor> with a <tactile>"),
        ("</robot>", "", "not well-formed XML"),
    ],
)
def test_slips_in_a_robot_description_are_named(tmp_path, old, new, words):
    assert old in URDF
    path = tmp_path / "hand.urdf"
    text = URDF.replace(old, new)
    path.write_text(text.replace("</tactile>", "") if "camera" in new else text)
    model, data = load(scene())
    with pytest.raises(dermis.Error, match=words):
        dermis.mujoco.attach_urdf(model, data, path, preset="capacitive-8x8")


def test_a_description_without_matter_is_asked_for_it(tmp_path):
    path = tmp_path / "hand.urdf"
    path.write_text(URDF)
    model, data = load(scene())
    with pytest.raises(dermis.Error, match="give a `preset`"):
        dermis.mujoco.attach_urdf(model, data, path)
    with pytest.raises(dermis.Error, match="no tactile sensor 'tip'"):
        dermis.mujoco.attach_urdf(model, data, path, sensors={"tip": STIFF})


def sliding(step="2e-3"):
    """A cube that slides on a coupled pad: bristles have a history."""
    model, data = load(scene(step=step))
    data.qvel[:2] = [0.05, -0.03]
    return model, data, dermis.mujoco.attach(model, data, STIFF, site="pad", mode="couple")


def path(model, data, count):
    out = []
    for _ in range(count):
        mujoco.mj_step(model, data)
        out.append(data.qpos.copy())
    return np.array(out)


def test_copies_of_the_data_are_pressed_too():
    """A copy, a restored state and a rollout in threads go on as the original does, to the last bit."""
    from mujoco import rollout

    model, data, pad = sliding()
    step(model, data, 100)
    twin = copy.copy(data)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    saved = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, saved, kind)
    whole = mujoco.mjtState.mjSTATE_INTEGRATION
    all_saved = np.empty(mujoco.mj_stateSize(model, whole))
    mujoco.mj_getState(model, data, all_saved, whole)
    rest = path(model, data, 50)
    assert np.array_equal(path(model, twin, 50), rest) and pad.read(twin).sum == pad.read().sum > 1
    assert np.array_equal(pad.read(twin).forces, pad.read().forces)
    mujoco.mj_setState(model, data, all_saved, whole)
    assert np.array_equal(path(model, data, 50), rest)
    pool = [mujoco.MjData(model) for _ in range(3)]
    states, _ = rollout.rollout(model, pool, np.array([saved] * 8), nstep=50, skip_checks=False)
    assert states.shape[0] == 8 and np.abs(states[:, -1, 1:8] - rest[-1]).max() < 1e-6
    assert all(np.array_equal(states[0], one) for one in states)


def test_an_unknown_history_is_told():
    model, data, pad = sliding()
    step(model, data, 100)
    other = copy.copy(data)
    other.qvel[0] += 0.01
    with pytest.warns(RuntimeWarning, match="its skin starts untouched"):
        mujoco.mj_step(model, other)
    pad.read()


def test_data_that_are_attached_on_their_own_keep_to_themselves():
    model, data = load(scene(step="2e-3"))
    other = mujoco.MjData(model)
    pads = [dermis.mujoco.attach(model, each, STIFF, site="pad", mode="couple") for each in (data, other)]
    step(model, data, 400)
    step(model, other, 400)
    assert [pad.read().sum for pad in pads] == pytest.approx([9.8, 9.8], rel=1e-3)


def test_a_copy_of_the_model_is_refused_until_it_has_its_own_skin():
    """A copied model has the contact disabled too: its cube would fall through the finger."""
    model, data, pad = sliding()
    pad.read()
    copied = copy.copy(model)
    fresh = mujoco.MjData(copied)
    with pytest.warns(RuntimeWarning, match="a copy of the model is stepped"):
        mujoco.mj_step(copied, fresh)
    with pytest.raises(dermis.Error, match="attach a sensor to the copy"):
        pad.read()
    own = dermis.mujoco.attach(copied, fresh, STIFF, site="pad", mode="couple")
    mujoco.mj_resetData(copied, fresh)
    step(copied, fresh, 400)
    assert own.read().sum == pytest.approx(9.8, rel=1e-3)
    own.detach()
    assert copied.geom("finger").contype[0] == 1
    mujoco.mj_step(model, data)
    assert pad.read().sum >= 0


@pytest.mark.parametrize("mode", ["sense", "couple"])
def test_a_replaced_simulation_is_refused(mode):
    """MjSpec.recompile and hard resets make new data; the attachment does not go on reading the old."""
    spec = mujoco.MjSpec.from_string(scene())
    model = spec.compile()
    data = mujoco.MjData(model)
    pad = dermis.mujoco.attach(model, data, STIFF, site="pad", mode=mode)
    second = dermis.mujoco.attach(model, data, STIFF, site="pad", mode="sense")
    step(model, data, 3)
    pad.read()
    model, data = spec.recompile(model, data)
    step(model, data, 3)
    for old in (pad, second):
        with pytest.raises(dermis.Error, match="was replaced"):
            old.read()
    assert dermis.mujoco.attach(model, data, STIFF, site="pad", mode=mode).read().sum >= 0


def test_only_the_data_may_be_replaced():
    model, data = load(scene())
    pad = dermis.mujoco.attach(model, data, STIFF, site="pad", mode="sense")
    pad.read()
    data = mujoco.MjData(model)
    step(model, data, 3)
    with pytest.raises(dermis.Error, match="was replaced"):
        pad.read()
    # Data that the program asks the attachment for are in use.
    mujoco.mj_step(model, pad.data)
    assert pad.read().sum >= 0
    assert dermis.mujoco.attach(model, mujoco.MjData(model), STIFF, site="pad", mode="sense").read().sum >= 0


@pytest.mark.parametrize("mode", ["sense", "couple", "contacts"])
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))], ids=["deepcopy", "pickle"])
def test_an_attachment_is_copied_with_its_simulation(mode, duplicate):
    model, data = load(scene(step="2e-3", own='size=".015 .045 .007" pos="0 0 -.007"'))
    data.qvel[:2] = [0.05, -0.03]
    pad = dermis.mujoco.attach(model, data, STIFF, site="pad", mode=mode)
    for _ in range(60):
        mujoco.mj_step(model, data)
        pad.read()
    twin = duplicate({"model": model, "data": data, "pad": pad})
    other = twin["pad"]
    assert other.model is twin["model"] and other.data is twin["data"] and other.mode == mode
    assert np.array_equal(other.read().forces, pad.read().forces)
    for _ in range(40):
        mujoco.mj_step(model, data)
        mujoco.mj_step(twin["model"], twin["data"])
        assert np.array_equal(other.read().forces, pad.read().forces)
    assert np.array_equal(data.qpos, twin["data"].qpos) and pad.read().force[2] < 0
    other.detach()
    assert twin["model"].geom("finger").contype[0] == 1


SKINS = {
    "springs": dermis.Sensor.preset("wts0614"),
    "hydroelastic": dermis.Sensor.preset("wts0614", parameters={"skin": {"kind": "hydroelastic"}}),
    "layer": dermis.Sensor.preset("wts0614-layer", parameters={"skin": {"cell": "1 mm"}}),
    "imprint": dermis.Sensor.preset("wts0614", parameters={"skin": {"kind": "imprint"}}),
    "gel": dermis.Sensor.preset("digit", parameters={"skin": {"kind": "gel"}}).with_parameters({"surface": {"grid": {"rows": 4, "cols": 4}}, "skin": {"size": ["4 mm", "4 mm"], "thickness": "2 mm", "cell": "0.5 mm"}}),
}


@pytest.mark.parametrize("step_s", [2e-3, 1e-4])
@pytest.mark.parametrize("kind", SKINS)
def test_an_object_may_leave_at_once(kind, step_s):
    """Retracting by 0.1 mm, and by 3 mm, in one step is no error in any skin."""
    mocap = '<geom name="cube" type="sphere" size=".005"/>'
    model, data = load(scene(cube=mocap, at="0 0 .0055").replace('<body name="cube"', '<body name="cube" mocap="true"'))
    model.opt.timestep = step_s
    pad = dermis.mujoco.attach(model, data, SKINS[kind], site="pad", objects="cube", mode="sense")
    sums = []
    for depth in (-0.5e-3, 0.1e-3, 0.2e-3, 0.1e-3, 0.2e-3, -3e-3):
        data.mocap_pos[0, 2] = 5e-3 - depth
        mujoco.mj_step(model, data)
        reading = pad.read()
        sums.append(reading.sum)
    assert np.isfinite(sums).all() and sums[0] == 0 and sums[2] > 0, sums
    assert not reading.touch.on_objects.any()  # a gel goes on vibrating


def test_a_digit_reads_in_milliseconds():
    """The image of a press of its layer is like that of a gel of the same block and material (``tests/test_optics.py``)."""
    layer = dermis.Sensor.preset("digit")
    model, data = load(scene(cube='<geom name="cube" type="sphere" size=".005"/>', at="0 0 .0048").replace('<body name="cube"', '<body name="cube" mocap="true"'))
    pad = dermis.mujoco.attach(model, data, layer, site="pad", objects="cube", mode="sense")
    times = []
    for depth in np.linspace(0, 0.8e-3, 9):
        data.mocap_pos[0, 2] = 5e-3 - depth
        mujoco.mj_step(model, data)
        start = time.process_time()
        reading = pad.read()
        times.append(time.process_time() - start)
    assert reading.sum > 0.1 and reading.image.shape == (320, 240, 3)
    assert np.median(times) < 0.1, times  # 10 ms without load on the machine


def test_a_name_that_is_none_is_refused():
    """MuJoCo itself would end the process."""
    from dermis._mujoco_geoms import id_of

    text = '<mujoco><worldbody><site name="pad"/><geom name="box" size="1"/></worldbody></mujoco>'
    model = mujoco.MjModel.from_xml_string(text)
    assert (id_of(model, "site", "pad"), id_of(model, "object", "box")) == (0, 0)
    for what, name, message in [
        ("site", None, "`site` must be one name, got None"),
        ("object", ["box"], "must be one name"),
        ("object", "bock", "no geom 'bock'; it has 'box'"),
    ]:
        with pytest.raises(dermis.Error, match=message):
            id_of(model, what, name)
    with pytest.raises(dermis.Error, match=r"must be the mujoco\.MjModel, got str"):
        id_of(text, "site", "pad")
