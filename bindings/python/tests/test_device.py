"""Batches on a GPU. Without one, what is said then; the rest is skipped, loudly."""

import gc
import subprocess
import sys
import warnings

import numpy as np
import pytest

import dermis

BALL = dermis.Object.sphere(radius=10e-3)


def why_no_gpu() -> str | None:
    try:
        dermis.Sensor.preset("uji-foam-14x6").press_batch(BALL, np.zeros((0, 3)), device="cuda")
    except dermis.Error as error:
        return str(error)
    return None


WHY = why_no_gpu()
on_gpu = pytest.mark.skipif(WHY is not None, reason=f"SKIPPED: no GPU: {WHY}")
if WHY is not None:
    print(f"SKIPPED: batches on a GPU are not compared: {WHY}", file=sys.stderr)


@pytest.fixture
def foam():
    return dermis.Sensor.preset("uji-foam-14x6")


def places(count, seed=1):
    random = np.random.default_rng(seed)
    poses = np.empty((count, 7))
    poses[:, 0] = random.uniform(-10e-3, 10e-3, count)
    poses[:, 1] = random.uniform(-25e-3, 25e-3, count)
    poses[:, 2] = 10e-3 - random.uniform(-1e-3, 4e-3, count)
    poses[:, 3:] = random.normal(size=(count, 4))
    poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    return poses


def test_devices_are_three(foam):
    with pytest.raises(dermis.Error, match="auto, cpu or cuda"):
        foam.press_batch(BALL, places(2), device="gpu")
    assert isinstance(foam.press_batch(BALL, places(2), device="cpu"), dermis.Batch)


@pytest.mark.skipif(WHY is None, reason="there is a GPU")
def test_without_a_gpu_cuda_names_what_is_missing(foam):
    for ask in (
        lambda: foam.press_batch(BALL, places(2), device="cuda"),
        lambda: foam.press_batch(BALL, depth=1e-3, device="cuda"),
        lambda: foam.environments(BALL, 3, device="cuda"),
        lambda: foam.vjp(BALL, places(2), {}, device="cuda"),
    ):
        with pytest.raises(dermis.Error, match="no (NVIDIA driver|NVIDIA GPU|run-time compiler)") as caught:
            ask()
        assert "device cpu" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.skipif(WHY is None, reason="there is a GPU")
def test_without_a_gpu_auto_works_on_the_cpu_and_says_so_once():
    program = """
import sys, warnings, numpy, dermis
warnings.simplefilter("always")
foam, ball = dermis.Sensor.preset("uji-foam-14x6"), dermis.Object.sphere(radius=10e-3)
poses = numpy.array([[0, 0, 9e-3], [0, 0, 8e-3]])
first = foam.press_batch(ball, poses, device="auto")
again = foam.press_batch(ball, poses, device="auto")
assert isinstance(first, dermis.Batch) and (first.forces == foam.press_batch(ball, poses).forces).all()
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stderr.count("dermis runs on the CPU: no ") == 1, run.stderr


@on_gpu
@pytest.mark.parametrize("skin", [None, "hydroelastic"])
def test_the_gpu_feels_what_the_cpu_feels(skin):
    foam = dermis.Sensor.preset("uji-foam-14x6", skin=skin)
    for obj in (BALL, dermis.Object.box(size=[18e-3, 14e-3, 12e-3])):
        # A ball on a pressure field is triangles: on the GPU a fine mesh, on the CPU divided where they touch.
        bound = 2e-3 if obj is BALL and skin else 1e-9
        poses = places(200)
        here, there = foam.press_batch(obj, poses), foam.press_batch(obj, poses, device="cuda")
        assert isinstance(there, dermis.DeviceBatch) and len(there) == 200
        scale = np.abs(here.forces).max()
        assert scale > 0.05
        for name in ("taxels", "forces", "force", "wrench", "reported"):
            one, other = getattr(here, name), getattr(there, name)
            assert one.shape == other.shape and one.dtype == other.dtype, name
            assert np.abs(one - other).max() <= bound * max(scale, np.abs(one).max()), name
        if bound == 1e-9:
            assert np.array_equal(here.raw, there.raw) and np.array_equal(here.saturated, there.saturated)
        assert np.abs(here.outside - there.outside).max() <= bound * scale
        assert there.forces.sum(axis=(1, 2)) + there.outside == pytest.approx(there.force, abs=1e-12)
        assert np.isnan(there.travel).all()
        again = foam.press_batch(obj, poses, device="auto")
        assert again.forces.tobytes() == there.forces.tobytes()


def over_gelsight(count, seed=2):
    random = np.random.default_rng(seed)
    poses = np.zeros((count, 7))
    poses[:, 0] = random.uniform(-3e-3, 3e-3, count)
    poses[:, 1] = random.uniform(-3e-3, 3e-3, count)
    poses[:, 2] = 4e-3 - random.uniform(0.2e-3, 1e-3, count)
    poses[:, 3] = 1
    return poses


@on_gpu
def test_warnings_on_the_gpu_are_those_of_the_cpu():
    thin = dermis.Sensor.preset("uji-foam-14x6", parameters={"skin": {"max_penetration": "0.2 mm"}})
    layer, springs = dermis.Sensor.preset("wts0614-layer"), dermis.Sensor.preset("wts0614")
    for sensor, radius, match in [
        (thin, 4e-3, "exceed the maximum penetration"),
        (layer, 4e-3, "largest strain"),
        (springs, 5e-5, "between the contact points"),
    ]:
        batches = []
        for device in ("cpu", "cuda"):
            with pytest.warns(RuntimeWarning, match=match):
                # With friction, a layer on the CPU takes several increments.
                ball = dermis.Object.sphere(radius=radius, mu=0.0)
                batches.append(sensor.press_batch(ball, [(0, 0, 0.8 * radius)], device=device))
        assert batches[0].warnings == batches[1].warnings and batches[0].warnings


@on_gpu
def test_images_on_the_gpu_are_those_of_the_cpu():
    sensor, ball = dermis.Sensor.preset("gelsight"), dermis.Object.sphere(radius=4e-3)
    here, there = (sensor.press_batch(ball, over_gelsight(6), device=device) for device in ("cpu", "cuda"))
    height, width, _ = sensor.image_shape
    assert there.image.shape == here.image.shape == (6, height, width, 3)
    assert np.abs(there.image.astype(int) - here.image.astype(int)).max() <= 1
    assert there.image.std() > 5, "something is seen"
    np.testing.assert_allclose(there.force, here.force, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(there.forces.sum(axis=(1, 2)) + there.outside, there.force, rtol=0, atol=1e-9)
    torch = pytest.importorskip("torch")
    images = torch.from_dlpack(there.image_on_device)
    assert images.is_cuda and (images.cpu().numpy() == there.image).all()


@on_gpu
def test_gradients_on_the_gpu_are_those_of_the_cpu():
    # With friction, a layer on the CPU takes several increments.
    sensor, ball = dermis.Sensor.preset("gelsight"), dermis.Object.sphere(radius=4e-3, mu=0.0)
    poses, random = over_gelsight(6), np.random.default_rng(4)
    there = sensor.press_batch(ball, poses, device="cuda")
    assert np.abs(there.levels - sensor.press_batch(ball, poses).levels).max() < 0.1
    column = np.linspace(-1.0, 1.0, there.levels.shape[2], dtype=np.float32)[:, None]
    by = {
        "force": random.normal(size=(6, 3)),
        "taxels": random.normal(size=(6, 20, 20)),
        "image": 1e-3 * (there.levels * column).astype(np.float64),
    }
    here, found = (sensor.vjp(ball, poses, by, device=device) for device in ("cpu", "cuda"))
    for name in ("position", "rotation", "scale", "radius", "young"):
        scale = np.abs(here["position"]).max() * (1e-3 if name == "rotation" else 0.0) + np.abs(here[name]).max()
        assert np.abs(found[name] - here[name]).max() <= 1e-3 * scale, name
    assert "mu" in sensor.vjp(dermis.Object.sphere(radius=4e-3), poses, by, device="cuda")
    with pytest.raises(dermis.Error, match="not finite at index 1"):
        sensor.vjp(ball, poses, {"force": np.array([[0.0, np.nan, 0.0]] * 6)}, device="cuda")
    with pytest.raises(dermis.Error, match="response"):
        sensor.vjp(ball, poses, {"reported": np.ones((6, 20, 20))}, device="cuda")
    with pytest.raises(dermis.Error, match="no layer"):
        dermis.Sensor.preset("uji-foam-14x6").vjp(BALL, places(2), {}, device="cuda")


@on_gpu
def test_torch_differentiates_layers_on_the_gpu():
    torch = pytest.importorskip("torch")
    from dermis.torch import press

    sensor, ball = dermis.Sensor.preset("gelsight"), dermis.Object.sphere(radius=4e-3, mu=0.0)
    found = []
    for device in ("cpu", "cuda"):
        pose = torch.tensor(over_gelsight(5), device=device, requires_grad=True)
        radius = torch.tensor(4e-3, device=device, dtype=torch.float64, requires_grad=True)
        pressed = press(sensor, ball, pose, {"radius": radius}, image=True)
        assert all(part.device.type == device for part in pressed)
        (1e-6 * pressed.image.square().sum() + pressed.taxels.square().sum() + pressed.wrench[:, 2].sum()).backward()
        found.append([pose.grad.cpu().numpy(), radius.grad.cpu().numpy()])
    for here, there in zip(*found, strict=True):
        assert np.abs(here - there).max() <= 1e-3 * np.abs(here).max()


@on_gpu
def test_presses_to_a_depth_find_their_places_on_the_host(foam):
    depths = np.linspace(0.5e-3, 3e-3, 7)
    here, there = foam.press_batch(BALL, depth=depths), foam.press_batch(BALL, depth=depths, device="cuda")
    assert np.abs(here.forces - there.forces).max() <= 1e-9 * np.abs(here.forces).max()
    assert np.array_equal(there.travel, depths)
    with pytest.raises(dermis.Error, match="press 1: .*more than sensor"):
        foam.press_batch(BALL, depth=[1e-3, 1.0], device="cuda")


@on_gpu
@pytest.mark.parametrize(
    ("name", "skin", "size_mm", "mu", "off"),
    [
        ("uji-foam-14x6", None, [18, 14, 12], None, 1e-6),
        ("uji-foam-14x6", "hydroelastic", [18, 14, 12], None, 1e-6),
        ("gelsight", None, [6, 5, 4], 0.0, 1e-4),
        ("gelsight", None, [6, 5, 4], None, 5e-3),
    ],
)
def test_forces_are_reached_at_the_depths_of_the_cpu(name, skin, size_mm, mu, off):
    sensor = dermis.Sensor.preset(name, skin=skin)
    block = dermis.Object.box(size=[1e-3 * side for side in size_mm], mu=mu)
    forces, at = np.linspace(0.05, 0.6, 6), np.linspace([-1e-3, 1e-3], [2e-3, 0.0], 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arguments = {"force": forces, "at": at, "tilt": [0.02, -0.03], "yaw": 0.4}
        here, there = (sensor.press_batch(block, **arguments, device=device) for device in ("cpu", "cuda"))
        auto = sensor.press_batch(block, **arguments, device="auto")
        known = sensor.press_batch(block, np.stack([reading.pose for reading in here]), device="cuda")
    assert isinstance(there, dermis.DeviceBatch) and auto.taxels.tobytes() == there.taxels.tobytes()
    np.testing.assert_allclose(-there.force[:, 2], forces, rtol=1e-6)
    np.testing.assert_allclose(there.travel, here.travel, rtol=off)
    assert np.abs(there.taxels - known.taxels).max() <= 3 * off * np.abs(known.taxels).max()
    with pytest.raises(dermis.Error, match="press 2: .* cannot carry 10000 N"):
        sensor.press_batch(block, force=[0.1, 0.2, 1e4], device="cuda")
    with pytest.raises(dermis.Error, match="press 1: .* is not above sensor"):
        sensor.press_batch(block, force=[0.1, 0.2], at=[[0.0, 0.0], [1.0, 0.0]], device="cuda")


@on_gpu
def test_what_cannot_be_done_there_is_said_in_a_sentence(foam):
    with pytest.raises(AttributeError, match="no camera"):
        foam.press_batch(BALL, places(2), device="cuda").image
    assert len(foam.press_batch(BALL, np.zeros((0, 7)), device="cuda")) == 0


@on_gpu
def test_torch_takes_and_gives_tensors_without_a_copy(foam):
    torch = pytest.importorskip("torch")
    poses = places(300, seed=2)
    batch = foam.press_batch(BALL, torch.as_tensor(poses, device="cuda"), device="cuda")
    assert batch.forces.tobytes() == foam.press_batch(BALL, poses, device="cuda").forces.tobytes()
    for name in ("taxels", "forces", "force", "wrench", "outside", "saturated"):
        array = getattr(batch, f"{name}_on_device")
        tensor = torch.from_dlpack(array)
        assert tensor.is_cuda and tensor.data_ptr() == array.__cuda_array_interface__["data"][0], name
        assert tuple(tensor.shape) == array.shape and np.array_equal(tensor.cpu().numpy(), getattr(batch, name)), name
        assert np.array_equal(np.asarray(array), getattr(batch, name))
    # The tensor alone keeps the memory alive.
    tensor = torch.from_dlpack(batch.forces_on_device)
    known = batch.forces
    del batch, array
    gc.collect()
    fill = [foam.press_batch(BALL, places(300, seed=s), device="cuda") for s in range(5)]
    assert np.array_equal(tensor.cpu().numpy(), known) and len(fill) == 5
    # A capsule that is not consumed also releases the memory.
    fill[0].forces_on_device.__dlpack__()


@on_gpu
def test_poses_on_the_gpu_may_be_written_in_every_way(foam):
    torch = pytest.importorskip("torch")
    poses = places(50, seed=3)
    matrices = np.tile(np.eye(4), (50, 1, 1))
    w, x, y, z = poses[:, 3:].T
    matrices[:, :3, 0] = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=1)
    matrices[:, :3, 1] = np.stack([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)], axis=1)
    matrices[:, :3, 2] = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=1)
    matrices[:, :3, 3] = poses[:, :3]
    box = dermis.Object.box(size=[18e-3, 14e-3, 12e-3])
    known = foam.press_batch(box, poses).forces
    for form, bound in ((poses, 1e-9), (matrices, 1e-9)):
        got = foam.press_batch(box, torch.as_tensor(form, device="cuda"), device="cuda").forces
        assert np.abs(got - known).max() <= bound * np.abs(known).max()
    got = foam.press_batch(BALL, torch.as_tensor(poses[:, :3], device="cuda").contiguous(), device="cuda").forces
    expected = foam.press_batch(BALL, poses[:, :3]).forces
    assert np.abs(got - expected).max() <= 1e-9 * np.abs(expected).max()
    single = torch.as_tensor(poses, device="cuda", dtype=torch.float32)
    expected = foam.press_batch(BALL, single.cpu().numpy().astype(np.float64)).forces
    got = foam.press_batch(BALL, single, device="cuda").forces
    assert np.abs(got - expected).max() <= 1e-9 * np.abs(expected).max()
    for bad, words in (
        (torch.full((2, 7), float("nan"), device="cuda"), "pose 0 is not finite"),
        (torch.zeros((3, 7), device="cuda"), "pose 0 is no rigid transform"),
        (torch.zeros((3, 5), device="cuda"), "must have shape"),
        (torch.zeros((7, 3), device="cuda").T, "row by row"),
        (torch.zeros((3, 7), device="cuda", dtype=torch.int32), "float32 or float64"),
    ):
        with pytest.raises(dermis.Error, match=words):
            foam.press_batch(BALL, bad, device="cuda")


@on_gpu
def test_cuda_array_interface_is_read(foam):
    cupy = pytest.importorskip("cupy")
    poses = places(20, seed=4)

    class Bare:
        def __init__(self, array):
            self.kept = array
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    got = foam.press_batch(BALL, Bare(cupy.asarray(poses)), device="cuda").forces
    assert np.array_equal(got, foam.press_batch(BALL, poses, device="cuda").forces)


@on_gpu
def test_environments_go_on_as_sensors_do(foam):
    count, dt = 6, 1e-3
    random = np.random.default_rng(5)
    poses, sensors = places(count, seed=5), [dermis.Sensor.preset("uji-foam-14x6") for _ in range(count)]
    environments = foam.environments(BALL, count)
    assert len(environments) == count
    for step in range(8):
        twists = random.uniform(-0.2, 0.2, (count, 6))
        if step == 5:
            environments.reset([i == 2 for i in range(count)])
            sensors[2].reset()
        felt = environments.step(poses, twists, dt=dt)
        for i, sensor in enumerate(sensors):
            expected = sensor.step(BALL, pose=poses[i], twist=twists[i], dt=dt).forces
            assert np.abs(felt.forces[i] - expected).max() <= 1e-9 * max(1e-3, np.abs(expected).max())
        poses[:, :3] += twists[:, :3] * dt
    torch = pytest.importorskip("torch")
    here, there = foam.environments(BALL, count), foam.environments(BALL, count)
    twists = random.uniform(-0.2, 0.2, (count, 6))
    one = here.step(poses, twists, dt=dt).forces
    other = there.step(torch.as_tensor(poses, device="cuda"), torch.as_tensor(twists, device="cuda"), dt=dt).forces
    assert np.abs(one - other).max() <= 1e-12 * np.abs(one).max()
    with pytest.raises(dermis.Error, match="dt"):
        here.step(poses, dt=0.0)


@on_gpu
def test_gels_of_a_batch_are_those_of_the_cpu():
    gel = dermis.Sensor.parse(
        """
        name = "gel"
        [surface.grid]
        rows = 6
        cols = 6
        pitch = "2 mm"
        [skin]
        kind = "gel"
        young = "145 kPa"
        poisson = 0.45
        thickness = "3 mm"
        size = ["14 mm", "14 mm"]
        cell = "1 mm"
        """
    )
    ball = dermis.Object.sphere(radius=5e-3)
    depths = np.linspace(0.2e-3, 0.6e-3, 9)
    cpu, cuda = (gel.press_batch(ball, depth=depths, device=device) for device in ("cpu", "cuda"))
    assert isinstance(cuda, dermis.Batch)
    assert np.array_equal(cuda.travel, depths)
    np.testing.assert_allclose(cuda.taxels, cpu.taxels, atol=2e-3 * cpu.taxels.max())
    assert np.array_equal(cuda.taxels, gel.press_batch(ball, depth=depths, device="cuda").taxels)
    poses = np.array([[0.0, 0.0, 5e-3 - depth] for depth in depths])
    np.testing.assert_allclose(
        gel.press_batch(ball, poses, device="cuda").force, gel.press_batch(ball, poses).force, rtol=2e-3, atol=1e-9
    )
    forces = np.array([0.1, 0.4, 0.7])
    here, there = (gel.press_batch(ball, force=forces, device=device) for device in ("cpu", "cuda"))
    np.testing.assert_allclose(-there.force[:, 2], forces, rtol=2e-3)
    np.testing.assert_allclose(there.travel, here.travel, rtol=4e-3)
    assert all(reading.pose[2, 3] == pytest.approx(5e-3 - reading.travel) for reading in there)
    with pytest.raises(dermis.Error, match="press 1: sensor \"gel\" cannot carry 1000 N"):
        gel.press_batch(ball, force=[0.1, 1e3], device="cuda")
