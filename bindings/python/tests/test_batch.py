"""Batches of presses: memory, parts, pickles, images, speed, progress and interrupts."""

import io
import pathlib
import pickle
import signal
import subprocess
import sys
import time
import types

import numpy as np
import pytest

import dermis

BALL = dermis.Object.sphere(radius=4e-3)
LARGE = dermis.Object.sphere(radius=20e-3)


@pytest.fixture(scope="module")
def gel():
    return dermis.Sensor.preset("gelsight-dots")


@pytest.mark.skipif(not pathlib.Path("/proc/self/statm").exists(), reason="reads /proc")
def test_a_batch_keeps_no_images():
    """A camera frame takes 8.6 MB; a press keeps its contact and its taxels. Images are made in the memory of their array."""
    code = """
import gc, numpy as np, dermis, os, pathlib
def resident(): return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
def peak(): return [int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM")][0]
sensor, ball = dermis.Sensor.preset("gelsight"), dermis.Object.sphere(radius=4e-3)
def press(count):
    batch = sensor.press_batch(ball, depth=np.linspace(0.2e-3, 0.3e-3, count))
    batch.depth, batch.normals, batch.flow
    for reading in batch: reading.image
    gc.collect()
    return batch
press(4)
before = resident()
batch = press(32)
print((resident() - before) / 32)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    kept = float(done.stdout)
    # About 1 MB, with memory that the allocator has not returned.
    assert kept < 2e6, f"{kept / 1e6} MB a press"


@pytest.mark.skipif(not pathlib.Path("/proc/self/status").exists(), reason="reads /proc")
def test_images_of_a_batch_are_made_in_the_memory_of_their_array():
    code = """
import numpy as np, dermis
def peak(): return [int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM")][0]
batch = dermis.Sensor.preset("gelsight").press_batch(dermis.Object.sphere(radius=4e-3), depth=np.full(48, 0.1e-3))
batch[:4].depth
before, depth = peak(), batch.depth
print((peak() - before) / depth.nbytes)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 1.5  # 3.0 with the images apart, joined and copied


def test_a_part_of_a_batch_is_a_batch(gel):
    batch = gel.press_batch(BALL, depth=np.linspace(0.1e-3, 0.3e-3, 6))
    for chosen in (slice(1, 4), slice(None, None, -2), slice(4, 99), slice(3, 3), slice(-2, None)):
        part = batch[chosen]
        assert isinstance(part, dermis.Batch) and np.array_equal(part.force, batch.force[chosen]), chosen
        assert part.image.shape == (len(part), *gel.image_shape) and len(part) == len(part.travel)
    assert batch[np.int64(2)].travel == batch[2].travel
    with pytest.raises(TypeError):
        batch["all"]


def test_a_batch_survives_a_pickle(gel):
    batch = gel.press_batch(BALL, depth=[0.1e-3, 0.2e-3], dtype=np.float32)
    again = pickle.loads(pickle.dumps(batch))
    for name in ("taxels", "reported", "raw", "forces", "force", "wrench", "outside", "travel", "saturated", "image"):
        ours, theirs = getattr(batch, name), getattr(again, name)
        assert ours.dtype == theirs.dtype and np.array_equal(ours, theirs), name
    assert np.array_equal(again[1].touch.surface, batch[1].touch.surface) and again.warnings == batch.warnings


def test_the_images_of_a_batch_are_those_of_its_readings(gel):
    batch = gel.press_batch(BALL, depth=[0.15e-3, 0.25e-3])
    for name in ("image", "depth", "normals", "markers", "flow"):
        whole = getattr(batch, name)
        for place, reading in enumerate(batch):
            assert np.array_equal(getattr(reading, name), whole[place]), name
    assert batch.normals.shape == (2, *gel.image_shape) and batch.flow.shape == (2, *gel.image_shape[:2], 2)
    assert batch.markers.shape[0] == 2 and batch.markers.shape[1] > 10 and batch.markers.shape[2] == 4
    plain = dermis.Sensor.preset("gelsight").press_batch(BALL, depth=[0.1e-3])
    assert not hasattr(plain, "markers")
    for name in ("image", "depth", "normals", "markers", "flow"):
        with pytest.raises(AttributeError, match="no camera"):
            getattr(dermis.Sensor.preset("wts0614").press_batch(LARGE, depth=[0.1e-3]), name)


@pytest.mark.parametrize("shape", ["sphere", "mesh"])
def test_a_press_to_a_depth_costs_as_much_as_one_at_a_pose(shape):
    """Finding first contact took 0.9 ms, and a press 0.006 ms."""
    ball = LARGE if shape == "sphere" else dermis.Object.mesh(vertices=LARGE.vertices, triangles=LARGE.triangles)
    foam = dermis.Sensor.preset("uji-foam-14x6")
    depths = np.full(400, 1e-3)
    poses = np.array([reading.pose for reading in foam.press_batch(ball, depth=depths[:1])] * len(depths))

    def seconds(**where):
        start = time.perf_counter()
        foam.press_batch(ball, **where)
        return time.perf_counter() - start

    # In alternation, and the best of each: other programs may be running. A mesh takes 1.4 times as long.
    rounds = [(seconds(poses=poses), seconds(depth=depths)) for _ in range(10)]
    by_pose, by_depth = (min(times) for times in zip(*rounds, strict=True))
    assert by_depth < 3 * by_pose, (by_depth / len(depths), by_pose / len(depths))
    assert foam.press_batch(ball, poses[:1]).taxels == pytest.approx(foam.press_batch(ball, depth=depths[:1]).taxels, abs=1e-12)


def test_float32_comes_out_where_asked_for():
    foam = dermis.Sensor.preset("uji-foam-14x6")
    pose = foam.press(LARGE, depth=1e-3).pose
    made = {
        kind: [
            foam.press(LARGE, depth=1e-3, dtype=kind),
            foam.settle(LARGE, pose=pose, dtype=kind),
            foam.step(LARGE, pose=pose, dt=1e-3, dtype=kind),
            foam.read_contacts([[0, 0, 0]], [[0, 0, -1]], dtype=kind),
            foam.press_batch(LARGE, [pose, pose], dtype=kind),
            foam.press_batch(LARGE, [pose, pose], dtype=kind)[0],
        ]
        for kind in (np.float32, "float64")
    }
    for single, double in zip(made[np.float32], made["float64"]):
        for name in ("taxels", "reported", "forces", "force", "wrench", "outside"):
            ours, whole = getattr(single, name), getattr(double, name)
            assert ours.dtype == np.float32 and whole.dtype == np.float64, name
            assert ours.shape == whole.shape and ours == pytest.approx(whole, rel=1e-6), name
    with pytest.raises(dermis.Error, match="`dtype` must be float32 or float64"):
        foam.press(LARGE, depth=1e-3, dtype=int)


def test_numbers_of_numpy_are_parameters():
    plain = {"surface": {"grid": {"rows": 8, "cols": 9}}, "response": {"noise": {"seed": 5}}}
    numpy = {"surface": {"grid": {"rows": np.int64(8), "cols": np.uint8(9)}}, "response": {"noise": {"seed": np.int64(5)}}}
    made = [dermis.Sensor.preset("uji-foam-14x6", parameters=parameters) for parameters in (plain, numpy)]
    assert made[0].toml == made[1].toml and made[1].shape == (8, 9)
    foam = made[1]
    assert foam.press(LARGE, depth=np.float32(1e-3), at=np.zeros(2, np.float16), yaw=np.int64(0)).active > 0
    assert dermis.Object.sphere(radius=np.float32(1e-2), mu=np.float64(0.5)).mu == 0.5
    world = dermis.World(time_step=np.float32(1e-3))
    world.step(np.int64(3))
    with pytest.raises(TypeError, match="must be a number, text, list or dict, got {1, 2}"):
        dermis.Sensor.preset("uji-foam-14x6", parameters={"surface": {1, 2}})


def test_progress_is_told_on_stderr(capsys, monkeypatch):
    foam = dermis.Sensor.preset("uji-foam-14x6")
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # not installed
    batch = foam.press_batch(LARGE, depth=np.full(20, 1e-3), progress=True)
    assert len(batch) == 20 and capsys.readouterr().err.endswith("20 of 20 presses\n")
    world = dermis.World()
    world.run(duration=0.1, progress=True)
    assert capsys.readouterr().err.endswith("100 of 100 % of the run\n")
    foam.press_batch(LARGE, depth=1e-3)
    assert capsys.readouterr().err == ""

    class Bar:
        def __init__(self, **options):
            self.n, self.total, self.told = 0, options["total"], io.StringIO()

        def update(self, more):
            self.n += more

        def close(self):
            print(f"bar at {self.n} of {self.total}", file=sys.stderr)

    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    foam.press_batch(LARGE, depth=np.full(7, 1e-3), progress=True)
    assert capsys.readouterr().err == "bar at 7 of 7\n"


LONG = {
    "a batch": "dermis.Sensor.preset('gelsight').press_batch(ball, depth=np.full(20000, 3e-4))",
    "a press": "dermis.Sensor.preset('tacchi').press(ball, depth=1e-3)",
    "a settled gel": "dermis.Sensor.preset('digit', parameters={'skin': {'kind': 'gel'}}).with_parameters({'skin': {'cell': '0.5 mm'}}).settle(ball, pose=(0, 0, 3.7e-3))",
    "images": "batch.image",
    "a run": "world.run(duration=1e5)",
    "steps": "world.step(10**8)",
    "a bench": "dermis.calibration.characterise(dermis.Sensor.preset('uji-foam-14x6'), presses=100)",
    "an experiment": "dermis.experiments.reproduce('tacchi-images')",
    "environments": "envs.launch()",
    "an attached gel": "pad.read()",
}
# What is made before the call.
BEFORE = {
    "images": "batch = dermis.Sensor.preset('gelsight').press_batch(ball, depth=np.full(240, 1e-4))",
    "environments": """envs = dermis.Sensor.preset('uji-foam-14x6').environments(ball, 200000, device='cpu')
poses = np.tile([0, 0, 3.7e-3, 1, 0, 0, 0], (200000, 1))
envs.bind(dt=1e-3, pose=poses)""",
    "an attached gel": """import mujoco, dermis.mujoco
model = mujoco.MjModel.from_xml_string('<mujoco><worldbody><site name="pad"/><body pos="0 0 3.98e-3"><freejoint/>'
    '<geom name="ball" type="sphere" size="4e-3" mass=".1"/></body></worldbody></mujoco>')
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
pad = dermis.mujoco.attach(model, data, dermis.Sensor.preset('digit', parameters={'skin': {'kind': 'gel'}}).with_parameters({'skin': {'cell': '0.5 mm'}}), site='pad', objects='ball', mode='sense')""",
}
CALL = """
import time, numpy as np, dermis, dermis.calibration, dermis.experiments
ball, world = dermis.Object.sphere(radius=4e-3), dermis.World(ground=0.0)
world.add_body("ball", ball, motion="free", mass=0.1, pose=(0, 0, 4e-3), solid=True)
{before}
print("ready", flush=True)
try:
    {call}
    print("done")
except KeyboardInterrupt:
    print(time.time(), flush=True)
"""


@pytest.mark.parametrize("what", LONG)
def test_an_interrupt_acts_within_a_fifth_of_a_second(what):
    """The best of three: other programs may hold the cores."""
    delays = []
    for _ in range(3):
        code = CALL.format(call=LONG[what], before=BEFORE.get(what, ""))
        # A program that a shell starts in the background ignores Ctrl-C, and so would its children.
        with subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", code],
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as child:
            assert child.stdout.readline() == "ready\n"
            time.sleep(0.3)
            start = time.time()
            child.send_signal(signal.SIGINT)
            said = child.stdout.readline().strip()
        assert said and said != "done", f"{what} took less than 0.3 s"
        delays.append(float(said) - start)
        if delays[-1] < 0.2:
            return
    raise AssertionError(f"{what}: {delays}")


def test_arrays_that_lie_in_columns_were_read_as_rows():
    """Arrays in Fortran order, such as transposed ones, and arrays of other memory give the numbers that they show."""
    foam = dermis.Sensor.preset("uji-foam-14x6")
    poses = np.array([[0, 0, 9e-3], [5e-3, 0, 9e-3], [0, 9e-3, 9.5e-3], [1e-3, 2e-3, 9.2e-3]])
    expected = foam.press_batch(LARGE, poses).taxels
    apart = np.zeros(4, [("flag", "i1"), ("pose", "f8", 3)])  # not aligned
    apart["pose"] = poses
    kinds = {"columns": np.asfortranarray(poses), "float32 columns": np.asfortranarray(poses, np.float32), "apart": apart["pose"], "big": poses.astype(">f8")}
    for name, same in kinds.items():
        tolerance = 1e-4 if "float32" in name else 0
        assert np.abs(foam.press_batch(LARGE, same).taxels - expected).max() <= tolerance * expected.max(), name
    pose = foam.press(LARGE, depth=1e-3, tilt=(0.1, 0.2), at=(1e-3, 0)).pose
    by_rows, by_columns = (foam.press_batch(LARGE, [matrix])[0].taxels for matrix in (pose, np.asfortranarray(pose)))
    assert np.array_equal(foam.press_batch(LARGE, np.asfortranarray(pose[None])).taxels[0], by_rows) and np.array_equal(by_columns, by_rows)
    heights = np.arange(20.0).reshape(4, 5) * 1e-4
    fields = [dermis.Object.height_field(field, size=(4e-3, 3e-3)).vertices for field in (heights, np.asfortranarray(heights))]
    assert np.array_equal(*fields)
