"""Many sensors in arrays of other libraries: the same code on the CPU, with numpy, and on a GPU, with torch."""

import numpy as np
import pytest

import dermis

BALL = dermis.Object.sphere(radius=10e-3)
N, DT = 5, 1e-3


def has_gpu() -> bool:
    try:
        dermis.Sensor.preset("uji-foam-14x6").environments(BALL, 1, device="cuda")
    except dermis.Error:
        return False
    return True


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not has_gpu(), reason="SKIPPED: no GPU"))])
def device(request):
    return request.param


def on(device, array):
    """The array on a device, and a function that reads it as numpy."""
    if device == "cpu":
        return array, lambda: array
    torch = pytest.importorskip("torch")
    tensor = torch.as_tensor(array, device="cuda")
    return tensor, lambda: tensor.cpu().numpy()


def motions(seed=1):
    """World poses and velocities of sensors and objects in contact."""
    random = np.random.default_rng(seed)
    pose = np.zeros((N, 7))
    pose[:, :2] = random.uniform(-5e-3, 5e-3, (N, 2))
    pose[:, 2] = 10e-3 - random.uniform(0.5e-3, 3e-3, N)
    pose[:, 3] = 1
    return pose, random.uniform(-0.1, 0.1, (N, 6))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_launches_read_what_single_sensors_read(device, dtype):
    foam = dermis.Sensor.preset("uji-foam-14x6")
    pose, twist = motions()
    poses, _ = on(device, pose.astype(dtype))
    twists, _ = on(device, twist.astype(dtype))
    taxels, read_taxels = on(device, np.full((N, 14, 6), 9, dtype))
    wrench, read_wrench = on(device, np.full((N, 6), 9, dtype))
    on_object, read_load = on(device, np.ones((N, 6), dtype))
    environments = foam.environments(BALL, N, device=device)
    environments.bind(
        dt=DT, pose=poses, twist=twists, taxels=taxels, wrench=wrench, on_object=on_object, add_to_object=True
    )
    sensors = [dermis.Sensor.preset("uji-foam-14x6") for _ in range(N)]
    for step in range(4):
        if step == 2:
            mask, _ = on(device, (np.arange(N) == 1).astype(np.int32))
            environments.reset(mask if dtype == np.float32 else [0, 1] + [0] * (N - 2))
            sensors[1].reset()
        environments.launch()
        for i, sensor in enumerate(sensors):
            reading = sensor.step(BALL, pose=pose.astype(dtype)[i], twist=twist.astype(dtype)[i], dt=DT)
            np.testing.assert_allclose(read_taxels()[i], reading.taxels, rtol=1e-6, atol=1e-7)
            np.testing.assert_allclose(read_wrench()[i], reading.wrench, rtol=1e-6, atol=1e-7)
    assert read_wrench()[:, 2].max() < -0.01
    total = read_load().copy()
    environments.launch()
    np.testing.assert_allclose(read_load()[:, :3], total[:, :3] - read_wrench()[:, :3], rtol=1e-5, atol=1e-6)
    environments.check()


def test_pads_slide_like_single_sensors(device):
    """A block that slides and twists on a hydroelastic pad with LuGre friction."""
    block = dermis.Object.box(size=(12e-3, 10e-3, 8e-3))
    pose, twist = motions(6)
    pose[:, 2] -= 5.5e-3
    poses, _ = on(device, pose)
    twists, _ = on(device, twist)
    taxels, read_taxels = on(device, np.full((N, 14, 6), 9.0))
    wrench, read_wrench = on(device, np.full((N, 6), 9.0))
    sensors = [dermis.Sensor.preset("wts0614", skin="hydroelastic") for _ in range(N)]
    environments = sensors[0].environments(block, N, device=device, max_polygons=200)
    environments.bind(dt=DT, pose=poses, twist=twists, taxels=taxels, wrench=wrench)
    for _ in range(4):
        environments.launch()
        for i, sensor in enumerate(sensors):
            reading = sensor.step(block, pose=pose[i], twist=twist[i], dt=DT)
            np.testing.assert_allclose(read_taxels()[i], reading.taxels, rtol=1e-6, atol=1e-7)
            np.testing.assert_allclose(read_wrench()[i], reading.wrench, rtol=1e-6, atol=1e-7)
    assert np.hypot(*read_wrench()[:, :2].T).min() > 0.01
    environments.check()


def test_strided_parts_of_a_simulation_are_bound_in_place(device):
    """Bodies of a simulation, as in MuJoCo: positions and quaternions (world, body), angular velocity first, at a point of its own."""
    foam = dermis.Sensor.preset("uji-foam-14x6")
    pose, twist = motions(2)
    xpos, xquat, cvel = np.zeros((N, 3, 3), np.float32), np.zeros((N, 3, 4), np.float32), np.zeros((N, 3, 6), np.float32)
    xpos[:, 2], xquat[:, 2] = pose[:, :3], pose[:, 3:]
    xpos[:, 1] += [0.0, 0.0, 0.0]
    xquat[:, 1, 0] = 1
    point = np.array([0.02, -0.01, 0.03], np.float32)
    cvel[:, 2, :3] = twist[:, 3:]
    cvel[:, 2, 3:] = twist[:, :3] + np.cross(twist[:, 3:], point - pose[:, :3])
    xpos_there, _ = on(device, xpos)
    xquat_there, _ = on(device, xquat)
    cvel_there, _ = on(device, cvel)
    points, _ = on(device, np.tile(point, (N, 1)))
    wrench, read = on(device, np.zeros((N, 6)))
    environments = foam.environments(BALL, N, device=device)
    environments.bind(
        dt=DT,
        pose=(xpos_there[:, 2], xquat_there[:, 2]),
        sensor_pose=(xpos_there[:, 1], xquat_there[:, 1]),
        twist=cvel_there[:, 2],
        twist_at=points,
        twist_order="angular",
        wrench=wrench,
    )
    environments.launch()
    for i in range(N):
        expected = dermis.Sensor.preset("uji-foam-14x6").step(BALL, pose=pose[i], twist=twist[i], dt=DT).wrench
        np.testing.assert_allclose(read()[i], expected, rtol=2e-4, atol=1e-6)


def test_numbers_of_steps_tell_which_history_is_meant(device):
    """0 starts without contact, as a reset; a number that is not that of the launches is a fault."""
    foam = dermis.Sensor.preset("uji-foam-14x6")
    pose, twist = motions(4)
    poses, _ = on(device, pose)
    twists, _ = on(device, twist)
    wrench, read = on(device, np.zeros((N, 6)))
    environments = foam.environments(BALL, N, device=device)
    environments.bind(dt=DT, pose=poses, twist=twists, wrench=wrench)
    results = []
    for given in ([0] * N, [1] * N, [2, 0, 2, 2, 2], [3, 1, 1, 3, 3]):
        steps, _ = on(device, np.array(given, np.int32))
        environments.launch(steps=steps)
        results.append(read().copy())
    assert (results[2][1] == results[0][1]).all() and (results[3][1] == results[1][1]).all()
    assert (results[2][0] != results[0][0]).any()
    assert environments.status.tolist() == [0, 0, 64, 0, 0]
    with pytest.raises(dermis.Error, match="environment 2: its number of steps is not that of its history.*; its readings are wrong"):
        environments.check()
    steps, _ = on(device, np.zeros(N, np.int32))
    environments.launch(steps=steps)
    environments.check()
    assert (read() == results[0]).all()
    with pytest.raises(dermis.Error, match=r"`steps` must have shape \(5,\)"):
        environments.launch(steps=on(device, np.zeros(4, np.int32))[0])


def test_a_broken_environment_is_named_and_harms_no_other(device):
    foam = dermis.Sensor.preset("uji-foam-14x6")
    pose, _ = motions(3)
    bad = pose.copy()
    bad[1, 0], bad[3, 2] = np.nan, 1e9
    results = []
    for poses in (pose, bad):
        there, _ = on(device, poses)
        taxels, read = on(device, np.zeros((N, 84)))
        environments = foam.environments(BALL, N, device=device)
        environments.bind(dt=DT, pose=there, taxels=taxels)
        environments.launch()
        results.append(read())
    assert np.array_equal(results[0][[0, 2, 4]], results[1][[0, 2, 4]])
    assert not results[1][[1, 3]].any()
    assert environments.status.tolist() == [0, 1, 0, 4, 0]
    with pytest.raises(dermis.Error, match=r"environment 1 \(1 others have faults too\): a pose or a velocity is not finite"):
        environments.check()
    environments.reset()
    environments.check()


def test_every_skin_steps_on_the_cpu():
    for skin in ("hydroelastic", "layer"):
        sensor = dermis.Sensor.preset("wts0614", skin=skin)
        environments = sensor.environments(BALL, 2, device="cpu")
        pose, wrench = np.array([[0, 0, 9.8e-3], [0, 0, 9.9e-3]]), np.zeros((2, 6))
        environments.bind(dt=DT, pose=pose, wrench=wrench)
        environments.launch()
        assert wrench[0, 2] < wrench[1, 2] < 0, skin


def test_gels_are_seen(device):
    """A ball that presses a gel and slides on it: loads, markers and images are those of single sensors."""
    gel = dermis.Sensor.preset("gelsight-dots")
    singles = [dermis.Sensor.preset("gelsight-dots") for _ in range(2)]
    taxels, read_taxels = on(device, np.zeros((2, 20, 20)))
    markers, read_markers = on(device, np.zeros((2, 108, 2), np.float32))
    image, read_image = on(device, np.zeros((2, 480, 640, 3), np.uint8))
    environments = gel.environments(BALL, 2, device=device)
    for step in range(2):
        pose = np.array([[1e-4 * step, 0, 9.95e-3 - 2e-5 * step], [0, 0, 9.9e-3]])
        twist = np.tile([0.1, 0, 0, 0, 0, 0], (2, 1))
        poses, _ = on(device, pose)
        twists, _ = on(device, twist)
        environments.bind(dt=DT, pose=poses, twist=twists, taxels=taxels, markers=markers, image=image)
        environments.launch()
        readings = [one.step([(BALL, pose[i], twist[i])], dt=DT) for i, one in enumerate(singles)]
        got = read_taxels(), read_markers(), read_image()
        for i, reading in enumerate(readings):
            # On a GPU a step is one increment, and the first touch of a cell depends on its path.
            assert np.allclose(got[0][i], reading.taxels, atol=1e-12 if device == "cpu" else 2e-2 * reading.taxels.max())
            assert np.allclose(got[1][i], reading.markers[:, 2:], atol=1e-3 if device == "cpu" else 0.05)
            assert np.abs(got[2][i].astype(int) - reading.image).max() <= (0 if device == "cpu" else 6)
        assert np.abs(readings[0].markers[:, 2:] - readings[0].markers[:, :2]).max() > 0.01
    for words, arrays in (
        (r"`image` must have shape \(2, 480, 640, 3\)", {"image": np.zeros((2, 640, 480, 3), np.uint8)}),
        (r"`image` must be of uint8", {"image": np.zeros((2, 480, 640, 3), np.float32)}),
        (r"`image`: an image must have no gaps", {"image": np.zeros((2, 480, 1280, 3), np.uint8)[:, :, ::2]}),
        (r"`markers` must have shape \(2, 108, 2\)", {"markers": np.zeros((2, 108, 4))}),
    ):
        with pytest.raises(dermis.Error, match=words):
            gel.environments(BALL, 2, device="cpu").bind(dt=DT, pose=np.zeros((2, 7)), **arrays)
    with pytest.raises(dermis.Error, match="\"uji-foam-14x6\" has no camera"):
        foam = dermis.Sensor.preset("uji-foam-14x6").environments(BALL, 2, device="cpu")
        foam.bind(dt=DT, pose=np.zeros((2, 7)), image=np.zeros((2, 480, 640, 3), np.uint8))


def test_a_gel_in_mujoco_warp_is_seen():
    """Markers and image of a gel under a ball at rest are those of a single sensor."""
    mujoco, mujoco_warp, warp = (pytest.importorskip(name) for name in ("mujoco", "mujoco_warp", "warp"))
    from dermis import mjwarp

    model = mujoco.MjModel.from_xml_string(
        '<mujoco><option timestep=".001"/><worldbody><body><site name="gel"/></body>'
        '<body name="ball" pos="0 0 .0099"><geom name="ball" size=".01"/></body></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    m, d = mujoco_warp.put_model(model), mujoco_warp.put_data(model, data, nworld=2)
    markers, image = warp.zeros((2, 108, 2)), warp.zeros((2, 480, 640, 3), dtype=warp.uint8)
    gel = dermis.Sensor.preset("gelsight-dots")
    mjwarp.attach(m, d, gel, model=model, site="gel", object="ball", mode="sense", markers=markers, image=image)
    m.callback.passive(m, d)  # as in a step, whose kernels take a minute to compile
    reading = gel.step([(BALL, np.array([0, 0, 9.9e-3]), np.zeros(6))], dt=DT)
    assert np.abs(reading.markers[:, 2:] - reading.markers[:, :2]).max() > 0.01
    for world in range(2):
        assert np.allclose(markers.numpy()[world], reading.markers[:, 2:], atol=0.05)
        assert np.abs(image.numpy()[world].astype(int) - reading.image).max() <= 6


def test_arrays_that_do_not_fit_are_refused():
    environments = dermis.Sensor.preset("uji-foam-14x6").environments(BALL, N, device="cpu")
    pose = np.zeros((N, 7))
    with pytest.raises(dermis.Error, match=r"bind\(\) must name the arrays"):
        environments.launch()
    frozen = np.zeros((N, 6))
    frozen.flags.writeable = False
    shared = np.zeros((N, 84))
    for words, arrays in (
        (r"`pose` must have shape \(5, 3\), \(5, 7\) or \(5, 4, 4\)", {"pose": np.zeros((4, 7))}),
        (r"`taxels` must have shape \(5, 84\) or \(5, 14, 6\)", {"taxels": np.zeros((N, 83))}),
        (r"`wrench` is read-only", {"wrench": frozen}),
        (r"the elements of `wrench` share memory", {"wrench": np.lib.stride_tricks.as_strided(np.zeros(6), (N, 6), (0, 8))}),
        (r"`wrench` must be of float32 or float64, got int32", {"wrench": np.zeros((N, 6), np.int32)}),
        (r"`pose` must be of float32 or float64, got int64", {"pose": np.zeros((N, 7), int)}),
        (r"`pose\[1\]` must be of float32 or float64, got int8", {"pose": (np.zeros((N, 3)), np.zeros((N, 4), np.int8))}),
        (r"`twist` must be of float32 or float64, got bool", {"twist": np.zeros((N, 6), bool)}),
        (r"`twist` must be an array in host memory", {"twist": [[0.0] * 6] * N}),
        (r"`quaternion` must be \"xyzw\" or \"wxyz\"", {"quaternion": "wzyx"}),
        (r"`dt`", {"dt": 0.0}),
        (r"`dt` must be at most 1e6 s, got 1e300", {"dt": 1e300}),
        (r"`reported` has the memory of `taxels`", {"taxels": shared, "reported": shared}),
        (r"`wrench` has the memory of a pose or a velocity", {"wrench": pose[:, :6]}),
    ):
        with pytest.raises(dermis.Error, match=words):
            environments.bind(**({"dt": DT, "pose": pose} | arrays))
    loads = np.zeros((N, 6))
    with pytest.raises(dermis.Error, match="`on_object` has the memory of `on_object`"):
        environments.bind(dt=DT, pose=[pose, pose], on_object=[loads, loads])
    environments.bind(dt=DT, pose=[pose, pose], on_object=[loads, loads], add_to_object=True)
    for dtype in (np.int8, np.float64):
        with pytest.raises(dermis.Error, match=f"`mask` must be of bool, uint8, int32 or int64, got {np.dtype(dtype)}"):
            environments.reset(np.ones(N, dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_single_precision_reads_what_double_precision_reads(device, dtype):
    foam = dermis.Sensor.preset("uji-foam-14x6")
    pose, twist = motions()
    poses, _ = on(device, pose)
    twists, _ = on(device, twist)
    read = []
    for precision in (None, "double", "single"):
        taxels, values = on(device, np.zeros((N, 14, 6), dtype))
        environments = foam.environments(BALL, N, device=device, precision=precision)
        environments.bind(dt=DT, pose=poses, twist=twists, taxels=taxels)
        for _ in range(3):
            environments.launch()
        environments.check()
        read.append(values())
    plain, double, single = read
    assert double.max() > 0.1
    np.testing.assert_array_equal(plain, double)
    if device == "cpu":
        np.testing.assert_array_equal(single, double)  # the CPU always computes in double precision
    else:
        assert 0 < np.abs(single - double).max() < 1e-4 * double.max()


def test_a_wrong_precision_is_refused():
    with pytest.raises(dermis.Error, match='`precision` must be "double" or "single", got "half"'):
        dermis.Sensor.preset("uji-foam-14x6").environments(BALL, N, device="cpu", precision="half")
    with pytest.raises(dermis.Error, match='`precision` is for springs, and the skin of sensor "gelsight" is a layer'):
        dermis.Sensor.preset("gelsight").environments(BALL, N, device="cpu", precision="single")


def test_readings_go_through_the_response_of_the_sensor(device):
    """Environment 0 has the noise of the sensor itself, the others another."""
    weiss = dermis.Sensor.preset("weiss-dsa", parameters={"response": {"noise": {"sd": "5 mN", "seed": 3}}})
    pose, twist = motions()
    pose[1] = pose[0]
    twist[1] = twist[0]
    poses, _ = on(device, pose)
    twists, _ = on(device, twist)
    reported, read = on(device, np.zeros((N, 13, 6)))
    environments = weiss.environments(BALL, N, device=device)
    environments.bind(dt=DT, pose=poses, twist=twists, reported=reported)
    for _ in range(5):
        environments.launch()
        single = weiss.step([(BALL, pose[0], twist[0])], dt=DT)
        environments.check()
        np.testing.assert_allclose(read()[0], single.reported, atol=1e-9)
        assert single.reported.sum() > 0.1
    assert np.abs(read()[1] - read()[0]).max() > 1e-3


def test_environments_differ_by_their_drawn_parameters(device):
    weiss = dermis.Sensor.preset("weiss-dsa")
    ranges = {"stiffness": (0.5, 2.0), "gain": (0.9, 1.1), "position": (-1e-3, 1e-3)}
    pose = np.tile([0, 0, 9e-3, 1, 0, 0, 0.0], (N, 1))
    poses, _ = on(device, pose)
    taxels, read = on(device, np.zeros((N, 13, 6)))
    environments = weiss.environments(BALL, N, device=device, randomise=ranges, seed=4)
    environments.bind(dt=DT, pose=poses, taxels=taxels)
    environments.launch()
    drawn = environments.parameters
    assert drawn["stiffness"].shape == (N,) and drawn["position"].shape == (N, 3)
    assert (drawn["friction"] == 1).all() and (drawn["rotation"] == 0).all()
    for i in range(N):
        single = dermis.Sensor.preset("weiss-dsa")
        moved = pose[i].copy()
        moved[:3] -= drawn["position"][i]
        expected = single.step([(BALL, moved)], dt=DT).taxels * drawn["stiffness"][i]
        np.testing.assert_allclose(read()[i], expected, atol=1e-9)
    environments.reset([i == 2 for i in range(N)])
    again = environments.parameters
    assert again["stiffness"][2] != drawn["stiffness"][2]
    assert (np.delete(again["stiffness"], 2) == np.delete(drawn["stiffness"], 2)).all()
    same = weiss.environments(BALL, N, device="cpu", randomise=ranges, seed=4)
    assert all((same.parameters[name] == drawn[name]).all() for name in drawn)
    assert weiss.environments(BALL, N, device="cpu").parameters == {}


@pytest.mark.parametrize(
    ("ranges", "text"),
    [
        ({"stifness": (1, 2)}, "no parameter \"stifness\""),
        ({"gain": (2, 1)}, "the lower first"),
        ({"noise": (0.5, 1.0)}, "the sensor has no \\[response.noise\\]"),
        ({"gain": (1.0, 2.0, 3.0)}, "randomise"),
    ],
)
def test_wrong_ranges_are_refused(ranges, text):
    with pytest.raises(dermis.Error, match=text):
        dermis.Sensor.preset("weiss-dsa").environments(BALL, N, device="cpu", randomise=ranges)


def test_a_factor_that_spreads_more_than_the_load_is_refused():
    wide = {"response": {"spread": {"sigma": "6 mm", "kernel": 5}}}
    foam = dermis.Sensor.preset("uji-foam-14x6", parameters=wide)
    with pytest.raises(dermis.Error, match="with more than 1.* passes on more than its load, got the range"):
        foam.environments(BALL, N, device="cpu", randomise={"spread": (0.5, 1.5)})
    foam.environments(BALL, N, device="cpu", randomise={"spread": (0.5, 1.0)})


BOX = dermis.Object.box(size=[8e-3, 10e-3, 12e-3])
EGG = dermis.Object.ellipsoid(semi_axes=[12e-3, 6e-3, 8e-3])
SHAPES = [BALL, BOX, EGG]


def object_motions(objects, seed=5):
    """Poses and velocities of several objects over the sensor in every environment, (objects, N, 7) and (objects, N, 6)."""
    random = np.random.default_rng(seed)
    pose = np.zeros((objects, N, 7))
    pose[..., :2] = random.uniform(-8e-3, 8e-3, (objects, N, 2))
    pose[..., 2] = random.uniform(4e-3, 7e-3, (objects, N))
    pose[..., 3:] = random.normal(size=(objects, N, 4))
    pose[..., 3:] /= np.linalg.norm(pose[..., 3:], axis=-1, keepdims=True)
    return pose, random.uniform(-0.1, 0.1, (objects, N, 6))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_several_objects_of_different_shapes_read_like_a_single_sensor(device, dtype):
    """Three objects at once, of shapes that differ and are drawn again at a reset: taxels, wrench and the load on each object."""
    pose, twist = object_motions(3)
    index = np.array([[(i + k) % 3 for i in range(N)] for k in range(3)], dtype)
    poses, twists, indices = on(device, pose), on(device, twist), on(device, index)
    taxels, read_taxels = on(device, np.full((N, 14, 6), 9.0))
    wrench, read_wrench = on(device, np.full((N, 6), 9.0))
    # The second and the third object are parts of one body.
    loads = [on(device, np.full((N, 6), 9.0)) for _ in range(2)]
    environments = dermis.Sensor.preset("uji-foam-14x6").environments(SHAPES, N, device=device)
    environments.bind(
        dt=DT,
        pose=[poses[0][k] for k in range(3)],
        twist=[twists[0][k] for k in range(3)],
        object=[indices[0][k] for k in range(3)],
        taxels=taxels,
        wrench=wrench,
        on_object=[loads[0][0], loads[1][0], loads[1][0]],
        on_object_at=[np.zeros(3), None, None],
        add_to_object=[False, False, True],
    )
    sensors = [dermis.Sensor.preset("uji-foam-14x6") for _ in range(N)]
    touched = 0
    for step in range(6):
        if step == 3:
            mask, _ = on(device, np.arange(N) % 2 == 0)
            environments.reset(mask)
            for k in range(3):
                for i in range(0, N, 2):
                    index[k, i] = (index[k, i] + 1) % 3
                    indices[0][k, i] = int(index[k, i])
            for i in range(0, N, 2):
                sensors[i].reset()
        environments.launch()
        environments.check()
        for i, sensor in enumerate(sensors):
            objects = [(SHAPES[index[k, i]], pose[k, i], twist[k, i]) for k in range(3)]
            reading = sensor.step(objects, dt=DT)
            np.testing.assert_allclose(read_taxels()[i], reading.taxels, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(read_wrench()[i], reading.wrench, rtol=1e-9, atol=1e-9)
            forces = reading.touch.on_objects[:, :3]
            np.testing.assert_allclose(loads[0][1]()[i, :3], forces[0], rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(loads[1][1]()[i, :3], forces[1] + forces[2], rtol=1e-9, atol=1e-9)
            touched += np.abs(forces).sum(axis=1).astype(bool).all()
    assert touched >= N
    # What acts on the objects and on the sensor has no sum.
    total = loads[0][1]()[:, :3] + loads[1][1]()[:, :3] + read_wrench()[:, :3]
    assert np.abs(total).max() < 1e-12


def test_a_wrong_index_is_named_and_harms_no_other(device):
    pose, _ = object_motions(2)
    good = np.array([[0, 1, 2, 0, 1], [1, 1, 2, 0, 0]])
    bad = good.copy()
    bad[0, 1], bad[1, 3] = 3, -1
    results = []
    for index in (good, bad):
        poses, indices = on(device, pose), on(device, index)
        taxels, read = on(device, np.full((N, 84), 9.0))
        load, read_load = on(device, np.full((N, 6), 9.0))
        environments = dermis.Sensor.preset("uji-foam-14x6").environments(SHAPES, N, device=device)
        objects = {"pose": [poses[0][0], poses[0][1]], "object": [indices[0][0], indices[0][1]], "on_object": [load, None]}
        environments.bind(dt=DT, taxels=taxels, **objects)
        environments.launch()
        results.append((read(), read_load()))
    assert environments.status.tolist() == [0, 32, 0, 32, 0]
    with pytest.raises(dermis.Error, match=r"environment 1 \(1 others have faults too\): the index of its object is not in the list"):
        environments.check()
    for fine, broken in zip(*results, strict=True):
        assert np.array_equal(fine[[0, 2, 4]], broken[[0, 2, 4]]) and not broken[[1, 3]].any() and fine[[1, 3]].any()
    environments.reset()
    assert not environments.status.any()


def test_sensors_share_a_stream_and_a_graph(device):
    """Two fingers at one box: two sets of environments; on a GPU in one captured graph, which reads the arrays anew when it is replayed."""
    box = dermis.Object.box(size=[20e-3, 20e-3, 20e-3])
    place = np.zeros((N, 7))
    place[:, 3] = 1
    poses, _ = on(device, place)
    fingers, outputs = [], []
    for side in (-1, 1):
        # The skin of each finger faces the box.
        frame = np.tile([side * 9.75e-3, 0, 0, np.sqrt(0.5), 0, -side * np.sqrt(0.5), 0], (N, 1))
        wrench, read = on(device, np.zeros((N, 6)))
        finger = dermis.Sensor.preset("uji-foam-14x6").environments(box, N, device=device)
        frames, _ = on(device, frame)
        load = on(device, np.zeros((N, 6))) if not outputs else outputs[0][1]
        finger.bind(dt=DT, pose=poses, sensor_pose=frames, wrench=wrench, on_object=load[0], add_to_object=bool(outputs))
        fingers.append(finger)
        outputs.append((read, load))

    def step(stream=None):
        for finger in fingers:
            finger.launch(stream)

    if device == "cuda":
        torch = pytest.importorskip("torch")
        step()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step(torch.cuda.current_stream())
        step = graph.replay
    for shift in (0.0, 0.2e-3):
        poses[:, 0] = shift
        for finger in fingers:
            finger.reset()
        step()
        (left, right), load = [read() for read, _ in outputs], outputs[0][1][1]()
        for finger in fingers:
            finger.check()
        assert (left[:, 2] < -0.01).all() and (right[:, 2] < -0.01).all()
        # Along x the left finger pushes with its own normal force, the right one against it.
        np.testing.assert_allclose(load[:, 0], right[:, 2] - left[:, 2], atol=1e-9)
        assert np.allclose(left[:, 2], right[:, 2], atol=1e-9) == (shift == 0.0)


RESPONDING = """
name = "responding"
contact_points = 1
surface.grid = { rows = 12, cols = 12, pitch = "2 mm" }
skin = { kind = "springs", stiffness = "400 N/m", damping = "2 N s/m", max_penetration = "6 mm" }
[response]
quantised = true
spread = { sigma_taxels = 0.6, kernel = 3 }
creep = [{ amplitude = 0.1, time = "0.1 s" }]
crosstalk = { adjacent = 0.02 }
noise = { sd = "1 mN", seed = 1 }
sampling = { rate = "400 Hz" }
delay = { time = "1 ms" }
"""


def test_responses_beside_other_work_are_those_in_order(device):
    """Nine steps with readings that nothing waits for but `wait`; on a GPU three in each graph, whose objects move."""
    pose, twist = motions()
    sensor = dermis.Sensor.parse(RESPONDING)

    def made():
        poses, _ = on(device, pose.copy())
        twists, _ = on(device, twist)
        reported, read = on(device, np.full((N, 144), 9.0, np.float32))
        taxels, _ = on(device, np.zeros((N, 144), np.float32))
        environments = sensor.environments(BALL, N, device=device)
        environments.bind(dt=DT, pose=poses, twist=twists, taxels=taxels, reported=reported)
        return environments, poses, twists, reported, read

    environments, poses, twists, _, read = made()
    expected = []
    for _ in range(9):
        environments.launch()
        expected.append(read().copy())
        poses[:, :3] += DT * twists[:, :3]
    environments, poses, twists, reported, read = made()
    seen, read_seen = on(device, np.zeros((N, 144), np.float32))

    def three_steps(stream=None):
        for step in range(3):
            environments.launch(stream, beside=True)
            poses[:, :3] += DT * twists[:, :3]
            if step == 1:
                environments.wait(stream)
                seen[:] = reported

    if device == "cuda":
        torch = pytest.importorskip("torch")
        stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            three_steps(stream)
        three_steps = graph.replay
    for first in (0, 3, 6):
        three_steps()
        assert np.array_equal(read(), expected[first + 2])
        assert np.array_equal(read_seen(), expected[first + 1])
    assert not np.array_equal(expected[7], expected[8]) and expected[8].max() > 0.05


@pytest.mark.parametrize("skin", ["springs", "hydroelastic", "layer"])
def test_shapes_change_during_contact_on_the_cpu(skin):
    """The shape of an object in contact may change without a reset; after a reset the history is that of a new sensor."""
    sensor = dermis.Sensor.preset("wts0614", skin=skin)
    shapes = [BALL, dermis.Object.mesh(vertices=BALL.vertices, triangles=BALL.triangles), EGG]
    index, wrench = np.zeros(2, np.int64), np.zeros((2, 6))
    pose = np.array([[0, 0, 9.9e-3], [0, 0, 7.9e-3]])
    environments = sensor.environments(shapes, 2, device="cpu")
    environments.bind(dt=DT, pose=pose, object=index, wrench=wrench)
    for first, second in ((0, 2), (0, 2), (2, 2), (0, 1)):
        index[:] = first, second
        environments.launch()
        assert np.isfinite(wrench).all()
    environments.reset()
    index[:] = 0, 2
    environments.launch()
    for i, shape in ((0, BALL), (1, EGG)):
        single = dermis.Sensor.preset("wts0614", skin=skin).step([(shape, pose[i])], dt=DT)
        np.testing.assert_allclose(wrench[i], single.wrench, atol=1e-12)
        assert wrench[i, 2] < 0


def test_arguments_of_several_objects_are_checked():
    foam = dermis.Sensor.preset("uji-foam-14x6")
    environments = foam.environments(SHAPES, N, device="cpu")
    pose, index = np.zeros((N, 7)), np.zeros(N, np.int32)
    for words, arrays in (
        (r"`object` must say which of the 3 objects each environment has", {"pose": pose}),
        (r"`object` must be of int32 or int64", {"pose": pose, "object": np.zeros(N)}),
        (r"`object` must have shape \(5,\)", {"pose": pose, "object": index[:4]}),
        (r"`object` must be a list with an entry for each of the 2 objects", {"pose": [pose, pose], "object": index}),
        (r"`twist` must be a list with an entry for each of the 2 objects", {"pose": [pose, pose], "object": [index] * 2, "twist": [None]}),
        (r"`twist\[1\]` must have shape \(5, 6\)", {"pose": [pose] * 3, "twist": [None, np.zeros((N, 3)), None]}),
        (r"`object` must have indices for every object", {"pose": [pose, pose], "object": [index, None]}),
        (r"`pose\[0\]` must be a pose", {"pose": [None] * 3}),
        (r"1 to 32 objects, got 33", {"pose": [pose] * 33, "object": [index] * 33}),
        (r"1 to 32 objects, got 0", {"pose": [], "object": []}),
    ):
        with pytest.raises(dermis.Error, match=words):
            environments.bind(dt=DT, **arrays)
    with pytest.raises(dermis.Error, match="at least one object"):
        foam.environments([], N, device="cpu")


def test_two_sensors_and_two_objects_in_mujoco_warp():
    """Two pads under two balls each: taxels of single sensors, and the loads of both pads on a ball that both touch add up."""
    mujoco, mujoco_warp = (pytest.importorskip(name) for name in ("mujoco", "mujoco_warp"))
    from dermis import mjwarp

    model = mujoco.MjModel.from_xml_string(
        '<mujoco><option timestep=".001"/><worldbody><site name="left"/><site name="right" pos=".01 0 0"/>'
        '<body pos="0 0 .009"><freejoint/><geom name="a" size=".01" mass="1"/></body>'
        '<body pos=".02 0 .004"><freejoint/><geom name="b" type="box" size=".005 .005 .005" mass="1"/></body></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    m, d = mujoco_warp.put_model(model), mujoco_warp.put_data(model, data, nworld=2)
    pads = [
        mjwarp.attach(m, d, dermis.Sensor.preset("uji-foam-14x6"), model=model, site=site, object=["a", "b"], dtype="float64")
        for site in ("left", "right")
    ]
    m.callback.passive(m, d)
    with pytest.raises(dermis.Error, match='`response` must be True, False or "beside", got \'later\''):
        mjwarp.attach(m, d, dermis.Sensor.preset("uji-foam-14x6"), model=model, site="left", object="a", response="later")
    for name, value, words in (
        ("integrator", mujoco.mjtIntegrator.mjINT_RK4, "RK4 evaluates forces four times a step"),
        ("disableflags", mujoco.mjtDisableBit.mjDSBL_SPRING | mujoco.mjtDisableBit.mjDSBL_DAMPER, "`spring` and `damper` are both disabled"),
    ):
        before = getattr(m.opt, name)
        setattr(m.opt, name, int(value))
        with pytest.raises(dermis.Error, match=words):
            mjwarp.attach(m, d, dermis.Sensor.preset("uji-foam-14x6"), model=model, site="left", object="a")
        with pytest.raises(dermis.Error, match=words):
            m.callback.passive(m, d)
        setattr(m.opt, name, before)
    total = np.zeros((2, 3))
    for pad, x in zip(pads, (0.0, 0.01), strict=True):
        objects = [(BALL, np.array([-x, 0, 9e-3])), (dermis.Object.box(size=[0.01] * 3), np.array([0.02 - x, 0, 4e-3]))]
        reading = dermis.Sensor.preset("uji-foam-14x6").step(objects, dt=DT)
        assert np.allclose(pad.taxels.numpy(), reading.taxels.reshape(-1), atol=1e-6)
        total += reading.touch.on_objects[:, :3]
    assert (total[:, 2] > 0.01).all()
    for body, force in zip((1, 2), total, strict=True):
        assert np.allclose(d.xfrc_applied.numpy()[:, body, :3], force, atol=1e-6)
