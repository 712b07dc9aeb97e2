"""Recordings, opened by the programs of others; messages of ROS, without ROS."""

import io
import os
import random
import signal
import subprocess
import sys
import time
import types

import numpy as np
import pytest
from mcap.exceptions import EndOfFile
from mcap.reader import NonSeekingReader, make_reader
from mcap_protobuf.decoder import DecoderFactory as ProtobufDecoderFactory
from mcap_ros2.decoder import DecoderFactory
from PIL import Image
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

import dermis
import dermis.ros
from dermis._names import plain_name

SCENE = """
[world]
duration = "0.3 s"
time_step = "0.5 ms"

[[body]]
name = "cube"
motion = "free"
mass = "100 g"
shape.cuboid.size = ["20 mm", "40 mm", "20 mm"]
at = ["0 mm", "0 mm", "30 mm"]

[[sensor]]
name = "Left pad"
preset = "uji-foam-14x6"
contact_points = 1
skin.damping = "2 N s/m"
at = ["0 mm", "0 mm", "20 mm"]
"""
# Number of times that the writer of each kind of file is killed.
KILLS = int(os.environ.get("DERMIS_KILLS", "1"))


def _opened(data):
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"))


def _messages(path):
    """Topic, time (s) and content of every message for Foxglove."""
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[ProtobufDecoderFactory()], validate_crcs=True)
        return [(channel.topic, raw.log_time * 1e-9, message) for _, channel, raw, message in reader.iter_decoded_messages()]


def test_mcap_opens_elsewhere_and_its_images_decode(tmp_path):
    path = tmp_path / "run.mcap"
    recording = dermis.World.parse(SCENE).run(record=path)
    with path.open("rb") as file:
        summary = make_reader(file, validate_crcs=True).get_summary()
    names = {schema.name for schema in summary.schemas.values()}
    assert {"foxglove.CompressedImage", "foxglove.FrameTransforms", "foxglove.SceneUpdate", "dermis.Wrench", "dermis.Taxels"} <= names
    messages = _messages(path)
    assert summary.statistics.message_count == len(messages)
    taxels = [(when, message) for topic, when, message in messages if topic == "/left_pad/taxels"]
    assert np.array_equal([message.values_newton for _, message in taxels], recording.taxels("Left pad"))
    assert [when for when, _ in taxels] == pytest.approx(recording.times, abs=1e-9)
    forces = [[getattr(message.force, axis) for axis in "xyz"] for topic, _, message in messages if topic == "/left_pad/wrench"]
    assert np.array(forces) == pytest.approx(recording.force("Left pad"), abs=1e-12)
    images = [message.data for topic, _, message in messages if topic == "/left_pad/tactile"]
    assert 8 <= len(images) <= 11
    seen = [_opened(image) for image in images]
    assert seen[0].shape == seen[-1].shape and seen[0].shape[0] > 100 and (seen[0] != seen[-1]).any()
    placed = [message for topic, _, message in messages if topic == "/tf"][-1].transforms
    where = {frame.child_frame_id: frame for frame in placed}
    assert where["left_pad"].parent_frame_id == "world" and where["left_pad"].translation.z == pytest.approx(0.02)
    assert where["cube"].translation.z == pytest.approx(recording.positions("cube")[-1, 2])


def test_a_bag_decodes_with_both_readers_of_ros2(tmp_path):
    path = tmp_path / "bag"
    recording = dermis.World.parse(SCENE).run(record=path, format="ros2")
    with (path / "bag_0.mcap").open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()], validate_crcs=True)
        decoded = [(channel.topic, message) for _, channel, _, message in reader.iter_decoded_messages()]
    wrenches = [message for topic, message in decoded if topic == "/left_pad/wrench"]
    assert {wrench.header.frame_id for wrench in wrenches} == {"left_pad"}
    assert [wrench.wrench.force.z for wrench in wrenches] == pytest.approx(recording.force("Left pad")[:, 2], abs=1e-12)
    with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as bag:
        found = [(link.topic, when, bag.deserialize(raw, link.msgtype)) for link, when, raw in bag.messages()]
    assert len(found) == len(decoded)
    taxels = [message for topic, _, message in found if topic == "/left_pad/taxels"]
    assert [side.label for side in taxels[0].layout.dim] == ["rows", "cols"]
    assert [side.size for side in taxels[0].layout.dim] == [14, 6]
    assert np.array([message.data for message in taxels]) == pytest.approx(recording.taxels("Left pad"), rel=1e-6)
    (image, *_) = [message for topic, _, message in found if topic == "/left_pad/tactile"]
    assert image.encoding == "rgb8" and image.data.size == image.height * image.step and image.header.frame_id == "left_pad"
    transform = [message for topic, _, message in found if topic == "/tf"][-1].transforms
    assert {frame.child_frame_id for frame in transform} == {"left_pad", "cube"}
    assert {frame.header.frame_id for frame in transform} == {"world"}
    times = [when * 1e-9 for topic, when, _ in found if topic == "/left_pad/wrench"]
    assert times == pytest.approx(recording.times, abs=1e-9)


def test_arrays_are_numpys(tmp_path):
    folder = tmp_path / "arrays"
    recording = dermis.World.parse(SCENE).run(record=folder)
    assert np.load(folder / "times_s.npy") == pytest.approx(recording.times)
    taxels = np.load(folder / "left_pad" / "taxels_n.npy")
    assert taxels.shape == (len(recording), 14, 6)
    assert np.array_equal(taxels.reshape(len(recording), -1), recording.taxels("Left pad"))
    images = sorted((folder / "left_pad" / "tactile").glob("*.png"))
    assert len(images) == len(np.load(folder / "left_pad" / "tactile" / "times_s.npy"))
    assert _opened(images[-1].read_bytes()).ndim == 3
    with pytest.raises(dermis.Error, match="not empty"):
        dermis.World.parse(SCENE).run(record=folder)
    with pytest.raises(dermis.Error, match="`format`"):
        dermis.World.parse(SCENE).run(record=tmp_path / "x.mcap", format="bag")
    with pytest.raises(dermis.Error, match="x.txt"):
        dermis.World.parse(SCENE).run(record=tmp_path / "x.txt")
    assert not (tmp_path / "x.mcap").exists()


VICTIM = """
import sys, time, dermis
world = dermis.World.parse(sys.stdin.read())
print("started", flush=True)
world.run(record=sys.argv[1], format=sys.argv[2])
"""


@pytest.mark.parametrize(("kind", "name"), [("mcap", "a.mcap"), ("ros2", "b"), ("npy", "c"), ("parquet", "d.parquet")])
@pytest.mark.parametrize("kill", range(KILLS))
def test_what_a_killed_process_has_recorded_opens_elsewhere(tmp_path, kind, name, kill):
    path = tmp_path / name
    scene = SCENE.replace('duration = "0.3 s"', 'duration = "1000 s"')
    process = subprocess.Popen(
        [sys.executable, "-c", VICTIM, str(path), kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    process.stdin.write(scene)
    process.stdin.close()
    assert process.stdout.readline() == "started\n"
    _wait_until_written(tmp_path)
    time.sleep(random.uniform(0.5, 2.0))
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    if kind == "npy":
        times, taxels = np.load(path / "times_s.npy"), np.load(path / "left_pad" / "taxels_n.npy")
        assert 1 < len(times) <= len(taxels) and np.isfinite(taxels).all()
    elif kind == "parquet":
        parts = sorted((tmp_path / "d.parquet.parts").glob("*.parquet"))
        assert parts and all(part.read_bytes().endswith(b"PAR1") for part in parts)
        parquet = pytest.importorskip("pyarrow.parquet")
        times = np.concatenate([parquet.read_table(part)["time_s"].to_numpy() for part in parts])
    else:
        file = path / "b_0.mcap" if kind == "ros2" else path
        times = np.array([when for topic, when, *_ in _read_what_is_there(file) if topic == "/left_pad/wrench"])
    assert np.diff(times) == pytest.approx(0.01, abs=1e-6) and times[0] == 0 and len(times) > 1


def _wait_until_written(folder, times=5):
    """Waits until what is in a folder has grown several times: on busy cores the first rows may take seconds."""
    size, end = 0, time.monotonic() + 60
    while times > 0 and time.monotonic() < end:
        time.sleep(0.05)
        try:
            now = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        except FileNotFoundError:  # renamed meanwhile
            continue
        times, size = times - (now > size), max(now, size)


def _read_what_is_there(path):
    """With the index where it is whole, otherwise from the start up to where it was cut."""
    found = []
    with path.open("rb") as file:
        try:
            for _, channel, message in make_reader(file).iter_messages():
                found.append((channel.topic, message.log_time * 1e-9))
            return found
        except Exception:
            found.clear()
            file.seek(0)
        try:
            for _, channel, message in NonSeekingReader(file).iter_messages():
                found.append((channel.topic, message.log_time * 1e-9))
        except EndOfFile:
            pass
    return found


def _state(first, second, points, forces, normals, depths):
    vector = lambda row: types.SimpleNamespace(x=row[0], y=row[1], z=row[2])  # noqa: E731
    return types.SimpleNamespace(
        collision1_name=first,
        collision2_name=second,
        wrenches=[types.SimpleNamespace(force=vector(force), torque=vector((0, 0, 0))) for force in forces],
        contact_positions=[vector(point) for point in points],
        contact_normals=[vector(normal) for normal in normals],
        depths=depths,
    )


def _contacts_state(*states, frame="world"):
    return types.SimpleNamespace(header=types.SimpleNamespace(frame_id=frame), states=list(states))


def test_contact_states_become_touch():
    """A cube of 0.981 N on four points, given once with the sensor's collision first and once second."""
    sensor = dermis.Sensor.preset("uji-foam-14x6")
    pose = np.eye(4)
    pose[:3, 3] = [0.1, 0.2, 0.3]
    corners = [(0.1 + x, 0.2 + y, 0.3) for x in (-5e-3, 5e-3) for y in (-10e-3, 10e-3)]
    up, down = [(0, 0, 1)] * 4, [(0, 0, -1)] * 4
    load = 0.981 / 4
    first = _state("pad::link::pad", "cube::c", corners, [(0, 0, -load)] * 4, up, [1e-4] * 4)
    second = _state("cube::c", "pad::link::pad", corners, [(0, 0, load)] * 4, down, [1e-4] * 4)
    other = _state("cube::c", "table::c", corners, [(0, 0, 5)] * 4, up, [0] * 4)
    readings = []
    for states in ((first,), (second,), (first, other)):
        contacts = dermis.ros.parse_contacts(_contacts_state(*states), collision="pad::link")
        assert contacts.points.shape == (4, 3) and contacts.frame == "world"
        readings.append(dermis.ros.read_contacts(sensor, contacts, frame="pad", sensor_pose=pose))
    for reading in readings:
        assert reading.force == pytest.approx([0, 0, -0.981]) and reading.taxels.sum() == pytest.approx(0.981)
        assert reading.active == 4 and reading.touch.normals[:, 2] == pytest.approx(1) and reading.touch.max_depth == pytest.approx(1e-4)
        assert np.array_equal(reading.taxels, readings[0].taxels)
    inside = _contacts_state(_state("pad", "cube", [(0, 0, 0)], [(0.1, 0, -2)], [], []), frame="/pad")
    reading = dermis.ros.read_contacts(sensor, dermis.ros.parse_contacts(inside), frame="pad", sensor_pose=pose)
    assert reading.force == pytest.approx([0.1, 0, -2]) and reading.active >= 1
    nothing = dermis.ros.read_contacts(sensor, dermis.ros.parse_contacts(_contacts_state()), frame="pad", sensor_pose=pose)
    assert nothing.active == 0
    bad = _state("pad", "cube", [(0, 0, 0)], [], [], [])
    with pytest.raises(dermis.Error, match="1 positions and 0 wrenches"):
        dermis.ros.parse_contacts(_contacts_state(bad))


def _fake_rclpy(monkeypatch, store):
    """A stand-in for rclpy whose message classes are those of rosbags; returns what is published, and the subscriptions."""
    published, subscribed = [], {}
    stamp = types.SimpleNamespace(sec=1, nanosec=2)
    clock = types.SimpleNamespace(now=lambda: types.SimpleNamespace(to_msg=lambda: stamp))
    node = types.SimpleNamespace(
        create_publisher=lambda kind, topic, depth: types.SimpleNamespace(publish=lambda message: published.append((topic, message))),
        create_subscription=lambda kind, topic, on_message, depth: subscribed.update({topic: on_message}),
        get_clock=lambda: clock,
        destroy_node=lambda: None,
    )
    names = {"init": lambda: None, "create_node": lambda name: node, "ok": lambda: True, "try_shutdown": lambda: None}
    fake = types.SimpleNamespace(**names, spin_once=lambda node, timeout_sec: time.sleep(timeout_sec))
    monkeypatch.setitem(sys.modules, "rclpy", fake)
    for package in ("builtin_interfaces", "geometry_msgs", "sensor_msgs", "std_msgs", "tf2_msgs"):
        classes = {kind.rsplit("/", 1)[1]: made for kind, made in store.types.items() if kind.startswith(f"{package}/msg/")}
        monkeypatch.setitem(sys.modules, f"{package}.msg", types.SimpleNamespace(**classes))
    contacts = types.SimpleNamespace(ContactsState=object)
    monkeypatch.setitem(sys.modules, "gazebo_msgs.msg", contacts)
    return published, subscribed


def test_a_node_of_ros2_publishes_messages_that_fit_their_definitions(monkeypatch):
    """The definitions are those of ROS 2 Humble, in rosbags, which encodes and decodes every message; rclpy itself is not there."""
    from dermis.ros import _node
    from dermis.ros._transport import Rclpy

    store = get_typestore(Stores.ROS2_HUMBLE)
    published, subscribed = _fake_rclpy(monkeypatch, store)
    node, world = Rclpy("touch"), dermis.World.parse(SCENE)
    _node.simulate(node, world, duration=0.2)
    reading = world.reading("Left pad")
    last = dict(published)
    assert set(last) == {"/left_pad/wrench", "/left_pad/taxels", "/left_pad/tactile", "/tf"}
    for topic, message in last.items():
        if hasattr(message, "data"):
            message.data = np.array(message.data)
        last[topic] = store.deserialize_cdr(store.serialize_cdr(message, message.__msgtype__), message.__msgtype__)
    wrench = last["/left_pad/wrench"]
    assert wrench.wrench.force.z == pytest.approx(reading.force[2], rel=1e-2) and wrench.header.frame_id == "left_pad"
    assert (wrench.header.stamp.sec, wrench.header.stamp.nanosec) == (1, 2)
    taxels = last["/left_pad/taxels"]
    assert [(side.label, side.size) for side in taxels.layout.dim] == [("rows", 14), ("cols", 6)] and taxels.data.shape == (84,)
    image = last["/left_pad/tactile"]
    assert image.data.size == image.height * image.step and image.width >= 100 and image.encoding == "rgb8"
    assert {frame.child_frame_id for frame in last["/tf"].transforms} >= {"left_pad", "cube"}

    published.clear()
    corners = [(x, y, 0.02) for x in (-5e-3, 5e-3) for y in (-10e-3, 10e-3)]
    state = _contacts_state(_state("pad::link::pad", "cube", corners, [(0, 0, -0.981 / 4)] * 4, [(0, 0, 1)] * 4, [1e-4] * 4))
    state.header.stamp = types.SimpleNamespace(sec=7, nanosec=8)
    spin = node.spin
    node.spin = lambda seconds: spin(0) and (subscribed["/bumper"](state) or True)
    _node.listen(node, world, name="Left pad", topic="/bumper", collision="pad::link", duration=0.02)
    wrench = dict(published)["/left_pad/wrench"]
    assert wrench.wrench.force.z == pytest.approx(-0.981) and wrench.header.stamp.sec == 7
    node.close()


def test_heat_maps_of_curved_sensors():
    from dermis import _heat

    curved = dermis.Sensor.preset("fingertip").press(dermis.Object.sphere(radius=5e-3), depth=1e-3)
    drawn = _heat.image(curved.taxels, curved.centers)
    assert drawn.shape[2] == 3 and min(drawn.shape[:2]) > 50 and drawn.max() > 200


def test_transforms_are_the_poses():
    random_ = np.random.default_rng(1)
    for _ in range(50):
        q = random_.normal(size=4)
        x, y, z, w = q / np.linalg.norm(q) * (1 if q[3] >= 0 else -1)
        turn = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = turn, [1, 2, 3]
        ((fields),) = dermis.ros.transforms({"f": pose})
        found = fields["transform"]["rotation"]
        assert [found[key] for key in "xyzw"] == pytest.approx([x, y, z, w], abs=1e-9)
        assert fields["transform"]["translation"] == {"x": 1, "y": 2, "z": 3} and fields["child_frame_id"] == "f"


def test_names_are_those_of_recordings():
    assert [plain_name(name) for name in ("Left pad", "2", "a-b", "ü")] == ["left_pad", "s_2", "a_b", "s__"]


def test_a_bag_from_the_command_line(tmp_path):
    scene = tmp_path / "scene.toml"
    scene.write_text(SCENE)
    command = [sys.executable, "-m", "dermis.ros", "--scene", str(scene)]
    ran = subprocess.run([*command, "--bag", "out", "--duration", "0.1"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "recorded out" in ran.stdout and (tmp_path / "out" / "out_0.mcap").stat().st_size > 1000
    without = [sys.executable, "-c", "import sys; sys.modules['rclpy'] = sys.modules['cyclonedds'] = None; import runpy; runpy.run_module('dermis.ros', run_name='__main__')"]
    ran = subprocess.run([*without, "--scene", str(scene)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode != 0 and "pip install 'dermis[ros]'" in ran.stderr and "Traceback" not in ran.stderr
    for more, words in [(["--bag", "out.txt"], "a folder"), (["--collision", "x"], "--contacts"), (["--scene", "nowhere.toml"], "nowhere.toml")]:
        ran = subprocess.run([*command, *more], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ran.returncode != 0 and words in ran.stderr and "Traceback" not in ran.stderr


def test_rerun_says_what_it_needs():
    try:
        import rerun  # noqa: F401
    except ImportError:
        import dermis.rerun

        with pytest.raises(ImportError, match=r"pip install 'dermis\[rerun\]'"):
            dermis.rerun.log(dermis.World.parse(SCENE))
    else:
        pytest.skip("it is there: `cargo xtask validate rerun` tests it")
