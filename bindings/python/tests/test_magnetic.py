"""Magnetic skins: the same flux densities from every part of dermis."""

import json
import subprocess
import sys

import numpy as np
import pytest

import dermis
import dermis.dataset
import dermis.estimate

SENSOR = """
name = "patch"
surface.grid = { rows = 4, cols = 4, pitch = "5 mm" }
[skin]
kind = "layer"
thickness = "5 mm"
young = "0.2 MPa"
poisson = 0.45
cell = "0.5 mm"
[magnets]
lattice = { rows = 2, cols = 2, pitch = "8 mm", depth = "2.5 mm" }
shape = { kind = "cylinder", diameter = "3 mm", height = "1 mm", remanence = "1.2 T" }
[magnetometers]
positions = [["0 mm", "0 mm", "-7 mm"], ["6 mm", "0 mm", "-7 mm"], ["-6 mm", "1 mm", "-7 mm"]]
"""
SCENE = """
world = { duration = "4 ms", time_step = "1 ms" }
[[body]]
name = "ball"
motion = "driven"
shape.sphere.radius = "6 mm"
at = ["2 mm", "1 mm", "5.5 mm"]
[[sensor]]
name = "skin"
file = "patch.toml"
"""
DATASET = """
name = "presses"
format = "parquet"
count = 2
[[sensor]]
file = "patch.toml"
[[object]]
shape.sphere.radius = "6 mm"
[pose]
x = "2 mm"
y = "1 mm"
depth = "0.5 mm"
[scenario]
kind = "press"
"""
BALL = dermis.Object.sphere(radius=6e-3)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "patch.toml").write_text(SENSOR)
    (tmp_path / "scene.toml").write_text(SCENE)
    (tmp_path / "presses.toml").write_text(DATASET)
    return tmp_path


def truth(folder):
    """Of a press to 0.5 mm at (2, 1) mm, in µT."""
    return dermis.Sensor.load(folder / "patch.toml").press(BALL, depth=0.5e-3, at=(2e-3, 1e-3)).magnetic


def test_the_command_line_a_scene_a_recording_and_a_dataset_agree(folder):
    expected = truth(folder)
    assert expected.shape == (3, 3) and np.abs(expected).max() > 100
    line = "press --sensor patch.toml --object sphere:radius=6mm --depth 0.5mm --at 2mm,1mm --json"
    run = subprocess.run([sys.executable, "-m", "dermis", *line.split()], cwd=folder, check=True, capture_output=True, text=True)
    assert np.array(json.loads(run.stdout)["magnetic_ut"]) == pytest.approx(expected, rel=1e-9)
    dermis.World.load(folder / "scene.toml").run(record=folder / "arrays")
    recorded = np.load(folder / "arrays/skin/magnetic_ut.npy")
    assert recorded.shape[1:] == (3, 3)
    assert recorded[-1] == pytest.approx(expected, rel=1e-4)
    line = "run scene.toml --out run --record run.mcap"
    subprocess.run([sys.executable, "-m", "dermis", *line.split()], cwd=folder, check=True, capture_output=True)
    heads, *rows = (folder / "run/readings-skin.csv").read_text().splitlines()
    last = dict(zip(heads.split(","), rows[-1].split(","), strict=True))
    table = [[float(last[f"b{axis}{chip}_ut"]) for axis in "xyz"] for chip in range(3)]
    assert np.array(table) == pytest.approx(recorded[-1], rel=1e-12)
    assert (folder / "run/magnetic-skin.png").stat().st_size > 10_000
    reader = pytest.importorskip("mcap.reader")
    decoder = pytest.importorskip("mcap_protobuf.decoder")
    with (folder / "run.mcap").open("rb") as file:
        messages = reader.make_reader(file, decoder_factories=[decoder.DecoderFactory()]).iter_decoded_messages(topics=["/skin/taxels"])
        fields = [message.magnetic_ut for _, _, _, message in messages]
    assert np.reshape(fields[-1], (3, 3)) == pytest.approx(recorded[-1], rel=1e-12)
    dermis.dataset.make(folder / "presses.toml", folder / "set")
    column = dermis.dataset.Touches(folder / "set").column("observation.magnetic")
    assert column.shape[1:] == (3, 3) and column[0] == pytest.approx(expected, rel=1e-5)


def test_mujoco_agrees(folder):
    mujoco = pytest.importorskip("mujoco")
    import dermis.mujoco

    sensor, uskin = dermis.Sensor.load(folder / "patch.toml"), dermis.Sensor.preset("uskin-4x4")
    plugin = """<plugin plugin="dermis.sensor" objtype="site" objname="pad"><config key="preset" value="uskin-4x4"/>
      <config key="mode" value="sense"/><config key="output" value="magnetic"/></plugin>"""

    def model(plugin):
        extension = '<extension><plugin plugin="dermis.sensor"/></extension>' if plugin else ""
        return mujoco.MjModel.from_xml_string(f"""<mujoco>{extension}<worldbody><body name="finger"><geom type="box" size=".01 .01 .002" pos="0 0 -.008"/>
          <site name="pad"/></body><body name="ball" mocap="true" pos=".002 .001 .0055"><geom type="sphere" size=".006"/></body></worldbody>
          <sensor>{plugin}</sensor></mujoco>""")

    plain = model("")
    data = mujoco.MjData(plain)
    pad = dermis.mujoco.attach(plain, data, sensor, site="pad", mode="sense")
    for _ in range(3):
        mujoco.mj_step(plain, data)
    assert pad.read().magnetic == pytest.approx(truth(folder), rel=1e-4)
    try:
        dermis.mujoco.load_plugin()
    except FileNotFoundError:
        pytest.skip("installed without the engine plugin")
    except Exception as error:  # MuJoCo 4.0 has loaded it already
        assert "already" in str(error)
    with_plugin = model(plugin)
    data = mujoco.MjData(with_plugin)
    pad = dermis.mujoco.attach(with_plugin, data, uskin, site="pad", mode="sense")
    for _ in range(3):
        mujoco.mj_step(with_plugin, data)
    expected = pad.read().magnetic
    assert np.abs(expected).max() > 1
    assert np.reshape(data.sensordata, expected.shape) == pytest.approx(expected, rel=1e-6)


def test_a_contact_comes_from_channels(folder):
    sensor = dermis.Sensor.load(folder / "patch.toml")
    reading = sensor.press(BALL, depth=0.5e-3, at=(2e-3, 1e-3))
    covered = []
    for seed in range(8):
        noisy = reading.magnetic + np.random.default_rng(seed).normal(0, 1, (3, 3))
        found = dermis.estimate.placement(sensor, BALL, magnetic=noisy)
        for value, error, true in zip((*found.at, found.depth), found.standard_errors.values(), (2e-3, 1e-3, 0.5e-3), strict=True):
            assert abs(value - true) < 0.1e-3 and found.quantile * error < 0.5e-3
            covered.append(abs(value - true) < found.quantile * error)
        covered.append(abs(found.force[2] - reading.force[2]) < found.quantile * found.force_errors[2])
    # Intervals of 95 %: 30.4 of 32 on average, fewer than 27 in one of 100 cases.
    assert sum(covered) >= 27, covered
    with pytest.raises(dermis.Error, match="no magnets with a measured `motion`"):
        dermis.estimate.contact(sensor, noisy)
    with pytest.raises(dermis.Error, match="has 2 magnetometers"):
        dermis.estimate.placement(sensor, BALL, magnetic=noisy[:2])
    skin = dermis.Sensor.preset("eflesh")
    pressed = skin.press(BALL, depth=3e-3, at=(4e-3, -3e-3))
    contact = dermis.estimate.contact(skin, pressed.magnetic)
    assert np.allclose(contact.at, [4e-3, -3e-3], atol=0.5e-3) and contact.depth == pytest.approx(3e-3, abs=0.5e-3)
    assert contact.load_interval is None or contact.load_interval > 0
