"""Sizes are decided before memory: a limit is a ValueError, memory that is not given a MemoryError, and the process goes on."""

import subprocess
import sys
import time

import numpy as np
import pytest

import dermis
from dermis import Object, Sensor, metrics

BALL = Object.sphere(radius=10e-3)
ROW = np.array([0.0, 0.0, 9e-3])


@pytest.fixture(scope="module")
def foam():
    return Sensor.preset("uji-foam-14x6")


def rows(count):
    return np.broadcast_to(ROW, (count, 3))


HUGE = 10**9

SHAPES = {
    "cylinder": lambda foam: Object.cylinder(radius=1e-3, length=1e30),
    "long cylinder": lambda foam: Object.cylinder(radius=1e-3, length=1e9),
    "capsule": lambda foam: Object.capsule(radius=1e-3, length=1e20),
    "sphere": lambda foam: Object.sphere(radius=1e300),
    "ellipsoid": lambda foam: Object.ellipsoid(semi_axes=(1e-3, 1e9, 1e-3)),
    "box": lambda foam: Object.box(size=(1e-3, 1e9, 1e-3)),
    "resized": lambda foam: Object.capsule(radius=1e-3, length=1e-2).resized("length", 1e30),
    "scaled": lambda foam: BALL.resized("scale", 1e300),
    "flag": lambda foam: Object("torus:major=1e12m,minor=1mm"),
    "edge": lambda foam: Object.sphere(radius=1.0, edge=1e-9),
}
ARRAYS = {
    "press_batch poses": lambda foam: foam.press_batch(BALL, rows(HUGE)),
    "press_batch depth": lambda foam: foam.press_batch(BALL, depth=np.broadcast_to(1e-3, HUGE)),
    "press_batch integers": lambda foam: foam.press_batch(BALL, np.broadcast_to(np.int8(0), (HUGE, 3))),
    "press_batch range": lambda foam: foam.press_batch(BALL, depth=range(10**12)),
    "vjp": lambda foam: foam.vjp(BALL, rows(HUGE), {}),
    "step": lambda foam: foam.step(BALL, pose=rows(HUGE), dt=1e-3),
    "read_contacts": lambda foam: foam.read_contacts(rows(HUGE), rows(HUGE)),
    "read_contacts depths": lambda foam: foam.read_contacts([ROW], [ROW], depths=np.broadcast_to(0.0, HUGE)),
    "vertices": lambda foam: Object.mesh(vertices=rows(HUGE), triangles=[[0, 1, 2]]),
    "triangles": lambda foam: Object.mesh(vertices=rows(3), triangles=rows(HUGE)),
    "resized vertices": lambda foam: Object.mesh(vertices=np.eye(3), triangles=[[0, 1, 2]]).resized("vertices", rows(HUGE)),
    "height_field": lambda foam: Object.height_field(np.broadcast_to(0.0, (10**5, 10**5)), size=(1, 1)),
    "compare": lambda foam: metrics.compare(np.broadcast_to(0.0, (10**5, 10**5)), np.zeros((2, 2))),
}


@pytest.mark.parametrize("case", SHAPES | ARRAYS)
def test_a_size_beyond_a_limit_is_refused_before_memory_is_used(foam, case):
    """A cylinder of 1e30 m and a batch of 1e9 presses ended the process."""
    began = time.process_time()
    with pytest.raises(dermis.Error) as refused:
        (SHAPES | ARRAYS)[case](foam)
    # Three milliseconds alone; the machine may be busy.
    assert time.process_time() - began < 0.1
    message = str(refused.value)
    assert len(message) < 400
    if case in ARRAYS and case != "step":
        assert "at most" in message, message


LIMITED = """
import resource, sys
import numpy as np
import dermis
from dermis import Object, Sensor
foam, ball = Sensor.preset("uji-foam-14x6"), Object.sphere(radius=10e-3)
foam.press_batch(ball, depth=[1e-3, 1e-3])
used = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, (used + (150 << 20), resource.RLIM_INFINITY))
row = np.array([0.0, 0.0, 9e-3])
rows = lambda count: np.broadcast_to(row, (count, 3))
cases = [
    lambda: foam.press_batch(ball, rows(9_000_000)),
    lambda: foam.press_batch(ball, depth=np.broadcast_to(np.float32(1e-3), 5_000_000)),
    lambda: foam.read_contacts(rows(9_000_000), rows(9_000_000)),
    lambda: Object.mesh(vertices=rows(40_000_000), triangles=rows(40_000_000)),
    lambda: Object.mesh(vertices=np.eye(3), triangles=np.broadcast_to([0, 1, 2], (3_000_000, 3))),
    lambda: Object.height_field(np.broadcast_to(0.0, (1400, 1400)), size=(1, 1)),
    lambda: Object.sphere(radius=1.0, edge=5e-3),
]
for number, case in enumerate(cases):
    try:
        case()
    except MemoryError as error:
        assert "memory" in str(error) and "\\n" not in str(error), error
    else:
        sys.exit(f"case {number} was accepted")
assert foam.press(ball, depth=1e-3).active > 0
print("refused", len(cases))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of the address space")
def test_memory_that_is_not_given_is_a_memory_error():
    """Under a limit of the address space the copies of large arrays ended the process."""
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["refused", "7"]


@pytest.mark.parametrize(
    ("what", "value"),
    [("points", 1e308), ("points", -1e7), ("forces", -1e308), ("forces", 1e13), ("depths", -1e308), ("depths", np.inf), ("depths", np.nan)],
)
def test_contacts_whose_sums_are_not_finite_are_refused(foam, what, value):
    """Depths of -1e308 and infinity gave a force of -inf."""
    given = {"points": np.zeros((2, 3)), "forces": np.zeros((2, 3)), "depths": np.zeros(2)}
    given[what][1] = value
    with pytest.raises(dermis.Error, match=what):
        foam.read_contacts(given.pop("points"), given.pop("forces"), **given)
    reading = foam.read_contacts(np.zeros((2, 3)), np.full((2, 3), 1e12), depths=[1e6, -1e6])
    assert np.isfinite(reading.force).all()


def test_arrays_of_any_layout_are_read_alike(foam):
    """Views, big-endian, broadcast and read-only arrays have the result of a plain one; those in Fortran's order were read column by column."""
    poses = np.array([[0, 0, 9e-3], [0, 0, 8e-3], [0, 0, 9e-3], [0, 0, 8e-3]])
    expected = foam.press_batch(BALL, poses).force
    locked = poses.copy()
    locked.flags.writeable = False
    layouts = [poses.astype(">f8"), np.asfortranarray(poses), np.repeat(poses, 2, axis=0)[::2], poses[::-1][::-1], locked, poses.tolist()]
    for layout in layouts:
        np.testing.assert_array_equal(foam.press_batch(BALL, layout).force, expected)
    for wrong in (poses.astype(object), poses.astype(complex), np.array("pose"), None):
        with pytest.raises((TypeError, ValueError)):
            foam.press_batch(BALL, wrong)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/zero")
def test_devices_are_not_read(tmp_path):
    """A description or a table that was a link to /dev/zero was read until the memory was full."""
    from dermis import calibration, dataset

    for name in ("x.toml", "x.csv", "x.stl"):
        (tmp_path / name).symlink_to("/dev/zero")
    readers = [
        lambda: Sensor.load(tmp_path / "x.toml"),
        lambda: dataset.describe(tmp_path / "x.toml"),
        lambda: dermis.World.load(tmp_path / "x.toml"),
        lambda: calibration.load(tmp_path / "x.csv"),
        lambda: Object.load(tmp_path / "x.stl", unit="mm"),
    ]
    for reader in readers:
        with pytest.raises(dermis.Error, match="no regular file"):
            reader()
