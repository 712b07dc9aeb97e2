"""Presses, steps and what is kept in all of them."""

import copy
import json
import multiprocessing
import os
import pickle
import threading
import time
import warnings

import numpy as np
import pytest

import dermis

BALL = dermis.Object.sphere(radius=20e-3)


@pytest.fixture
def foam():
    return dermis.Sensor.preset("uji-foam-14x6")


def test_a_press_lights_a_patch_and_the_taxels_carry_the_load(foam):
    reading = foam.press(BALL, depth=2e-3)
    assert reading.taxels.shape == foam.shape == (14, 6)
    assert reading.taxels.dtype == np.float64 and reading.taxels.flags.owndata
    assert 4 < reading.active < 84
    total = reading.forces.sum(axis=(0, 1)) + reading.outside
    assert total == pytest.approx(reading.force, abs=1e-12)
    assert reading.wrench[:3] == pytest.approx(reading.force, abs=1e-12)
    assert reading.touch.on_objects.sum(axis=0) == pytest.approx(-reading.touch.on_sensor, abs=1e-12)
    assert reading.travel == 2e-3
    # The ball's centre is one radius above the skin, minus the travel; a facet of its mesh may touch first.
    assert reading.pose[:3, 3] == pytest.approx([0, 0, 18e-3], abs=2e-5)


def test_force_is_reached(foam):
    assert foam.press(BALL, force=0.7).force[2] == pytest.approx(-0.7, rel=1e-8)


def test_rows_go_down_and_columns_right(foam):
    reading = foam.press(BALL, depth=1.5e-3, at=(5e-3, 15e-3))
    row, col = np.unravel_index(np.argmax(reading.taxels), foam.shape)
    assert row < 5 and col > 2
    assert reading.centers[row, col, :2] == pytest.approx([5e-3, 15e-3], abs=3e-3)
    features = reading.features()
    assert features.center == pytest.approx([5e-3, 15e-3], abs=1e-3)
    assert features.kind == "point" and features.total == pytest.approx(reading.sum)
    assert dermis.Sensor.preset("uji-foam-14x6").settle(BALL, pose=(0, 0, 1)).features() is None


@pytest.mark.parametrize("direction", [(1, 0), (-1, 0), (0, 1), (0, -1)])
def test_shear_follows_the_object(foam, direction):
    """The skin is dragged along: the force on the sensor has the sign of the object's velocity."""
    pose = foam.press(BALL, depth=2e-3).pose
    velocity = 5e-3 * np.array([*direction, 0.0])
    for _ in range(50):
        reading = foam.step(BALL, pose=pose, twist=[*velocity, 0, 0, 0], dt=1e-3)
        pose[:3, 3] += velocity * 1e-3
    along, across = reading.force[:2] @ direction, reading.force[:2] @ [direction[1], direction[0]]
    assert along > 0.01 * -reading.force[2] and abs(across) < 0.2 * along


def test_several_objects_get_their_own_loads(foam):
    small = dermis.Object.box(size=[8e-3, 8e-3, 4e-3])
    places = [(small, [0, 12e-3, 1e-3]), (BALL, [0, -10e-3, 18.5e-3], [0, 0, -1e-3, 0, 0, 0]), (small, [0, 0, 0.1], None)]
    touch = foam.step(places, dt=1e-3).touch
    assert touch.on_objects.shape == (3, 6)
    assert (touch.on_objects[:2, 2] > 0).all() and not touch.on_objects[2].any()
    assert touch.on_objects.sum(axis=0) == pytest.approx(-touch.on_sensor, abs=1e-12)
    assert set(touch.objects) == {0, 1}
    for place, wrench in zip((0, 1), touch.on_objects):
        assert touch.forces[touch.objects == place].sum(axis=0) == pytest.approx(-wrench[:3], abs=1e-12)
    assert len(touch.points) == len(touch.normals) == len(touch.areas) == len(touch.depths)


def test_the_world_frame_gives_the_same_numbers(foam):
    """Sensor and object moved together: what matters is relative."""
    angle = 0.7
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    world_from_sensor = np.eye(4)
    world_from_sensor[:3, :3], world_from_sensor[:3, 3] = turn, [0.3, -0.2, 1.1]
    sensor_from_object = np.eye(4)
    sensor_from_object[:3, 3] = [1e-3, 2e-3, 18.5e-3]
    twist = np.array([3e-3, -2e-3, 1e-3, 0.1, 0.2, 0.3])
    here = foam.step(BALL, pose=sensor_from_object, twist=twist, dt=1e-3)
    other = dermis.Sensor.preset("uji-foam-14x6")
    spin, speed = np.array([0.3, -0.5, 0.2]), np.array([0.4, 0.1, -0.6])
    arm = turn @ sensor_from_object[:3, 3]
    object_twist = np.concatenate([turn @ twist[:3] + speed + np.cross(spin, arm), turn @ twist[3:] + spin])
    there = other.step(
        [(BALL, world_from_sensor @ sensor_from_object, object_twist)],
        dt=1e-3,
        sensor_pose=world_from_sensor,
        sensor_twist=np.concatenate([speed, spin]),
    )
    assert there.taxels == pytest.approx(here.taxels, abs=1e-12)
    assert there.wrench == pytest.approx(here.wrench, abs=1e-12)


def test_a_quaternion_is_w_first(foam):
    quarter = np.sqrt(0.5)
    bar = dermis.Object.box(size=[20e-3, 5e-3, 4e-3])
    across = foam.settle(bar, pose=[0, 0, 1e-3, quarter, 0, 0, quarter]).features()
    along = dermis.Sensor.preset("uji-foam-14x6").settle(bar, pose=[0, 0, 1e-3]).features()
    assert abs(across.direction) > 1.5 and abs(along.direction) < 0.1 and across.kind == "edge"


def test_state_goes_back_to_the_last_bit(foam):
    foam.press(BALL, depth=2e-3)
    saved = foam.state
    
    def slide():
        return [foam.step(BALL, pose=(i * 1e-5, 0, 18e-3), twist=(1e-2, 0, 0, 0, 0, 0), dt=1e-3).force for i in range(20)]
    first = slide()
    assert foam.state != saved
    foam.state = pickle.loads(pickle.dumps(saved))
    assert np.array_equal(first, slide())
    foam.reset()
    assert foam.state != saved


@pytest.mark.parametrize("name", ["uji-foam-14x6", "wts0614", "shadow-fingertip", "gelsight"])
def test_copies_and_pickles_go_on_alike(name):
    sensor = dermis.Sensor.preset(name)
    pose = sensor.press(BALL, depth=0.5e-3).pose
    others = [copy.copy(sensor), copy.deepcopy(sensor), pickle.loads(pickle.dumps(sensor))]
    readings = [s.step(BALL, pose=pose, twist=(1e-3, 0, 0, 0, 0, 0), dt=1e-3) for s in [sensor, *others]]
    for reading in readings[1:]:
        assert np.array_equal(reading.forces, readings[0].forces)
        assert np.array_equal(reading.raw, readings[0].raw)
    others[0].reset()
    assert sensor.step(BALL, pose=pose, dt=1e-3).active > 0


def test_readings_objects_and_touches_survive_a_pickle(foam):
    reading = foam.press(BALL, depth=1e-3)
    again = pickle.loads(pickle.dumps(reading))
    assert np.array_equal(again.forces, reading.forces) and np.array_equal(again.pose, reading.pose)
    assert np.array_equal(again.touch.points, reading.touch.points) and again.travel == reading.travel
    for thing in [BALL, dermis.Object("indenter:moon"), dermis.Object.capsule(radius=3e-3, length=5e-3)]:
        twin = pickle.loads(pickle.dumps(thing))
        assert np.array_equal(twin.vertices, thing.vertices) and twin.name == thing.name
    twin = pickle.loads(pickle.dumps(BALL))
    assert np.array_equal(foam.press(twin, depth=1e-3).forces, reading.forces)


def test_a_batch_is_its_presses(foam):
    at = np.array([[0, 0], [2e-3, -5e-3], [-3e-3, 9e-3]])
    batch = foam.press_batch(BALL, depth=[1e-3, 1.5e-3, 2e-3], at=at)
    assert len(batch) == 3 and batch.taxels.shape == (3, 14, 6) and batch.force.shape == (3, 3)
    for i, reading in enumerate(batch):
        alone = dermis.Sensor.preset("uji-foam-14x6").press(BALL, depth=[1e-3, 1.5e-3, 2e-3][i], at=at[i])
        assert np.array_equal(reading.forces, alone.forces) and np.array_equal(batch.taxels[i], alone.taxels)
    held = foam.press_batch(BALL, [batch[0].pose, batch[1].pose])
    assert held.taxels == pytest.approx(batch.taxels[:2], abs=1e-12)
    assert batch[-1].sum == batch[2].sum
    with pytest.raises(IndexError):
        batch[3]


def test_a_batch_names_the_press_that_fails(foam):
    with pytest.raises(dermis.Error, match="press 1: .* is not above sensor"):
        foam.press_batch(BALL, depth=1e-3, at=[[0, 0], [1, 0], [2, 0]])
    with pytest.raises(ValueError, match="`depth` is for 2 presses and `at` for 3"):
        foam.press_batch(BALL, depth=[1e-3, 2e-3], at=[[0, 0]] * 3)
    with pytest.raises(ValueError, match="not both"):
        foam.press_batch(BALL, [[0, 0, 9e-3]], depth=1e-3)


def test_python_goes_on_while_a_skin_works():
    """Another thread must be able to run during a batch. The batch grows until it takes a tenth of a second."""
    sensor, small, presses, elapsed = dermis.Sensor.preset("gelsight"), dermis.Object.sphere(radius=4e-3), 4, 0.0
    while elapsed < 0.1:
        presses *= 2
        places, done, turns = np.linspace(-1e-3, 1e-3, 2 * presses).reshape(presses, 2), threading.Event(), 0

        def work(places=places, done=done):
            sensor.press_batch(small, depth=0.2e-3, at=places)
            done.set()

        worker, start = threading.Thread(target=work), time.perf_counter()
        worker.start()
        while not done.is_set():
            turns += 1
            time.sleep(1e-4)
        worker.join()
        elapsed = time.perf_counter() - start
    assert turns > 20


def press_in_child(sensor, queue):
    batch = sensor.press_batch(BALL, depth=1e-3, at=np.zeros((8, 2)))
    queue.put(batch.taxels.sum())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_threads_work_in_a_forked_process(foam):
    """Threads stay behind in a fork; a batch must not wait for those of the parent."""
    here = foam.press_batch(BALL, depth=1e-3, at=np.zeros((8, 2))).taxels.sum()
    fork = multiprocessing.get_context("fork")
    queue = fork.Queue()
    child = fork.Process(target=press_in_child, args=(foam, queue), daemon=True)
    child.start()
    assert queue.get(timeout=60) == here
    child.join(timeout=60)
    assert child.exitcode == 0


def test_parameters_and_skins_change_a_preset():
    grid = {"surface": {"grid": {"rows": 40, "cols": 40}}}
    assert dermis.Sensor.preset("uji-foam-14x6", parameters=grid).shape == (40, 40)
    hydro = dermis.Sensor.preset("uji-foam-14x6", skin="hydroelastic")
    reading = hydro.press(BALL, depth=1e-3)
    assert reading.forces.sum(axis=(0, 1)) + reading.outside == pytest.approx(reading.force, abs=1e-9)
    again = dermis.Sensor.parse(hydro.toml)
    assert np.array_equal(again.press(BALL, depth=1e-3).forces, reading.forces)


def test_parameters_follow_the_rules_of_overrides():
    """As in scenes: an alternative key removes the old one, a kind alone converts the skin, another kind replaces it."""
    per_area = dermis.Sensor.preset("uji-foam-14x6", parameters={"skin": {"stiffness_per_area": "10 MPa/m"}})
    assert 'stiffness_per_area = "10000000 Pa/m"' in per_area.toml and "stiffness = " not in per_area.toml
    layer = dermis.Sensor.preset("uji-foam-14x6", parameters={"skin": {"kind": "layer"}})
    assert layer.toml == dermis.Sensor.preset("uji-foam-14x6", skin="layer").toml
    own = {"kind": "hydroelastic", "hydroelastic_modulus": "60 kPa", "thickness": "6 mm"}
    assert "max_penetration" not in dermis.Sensor.preset("uji-foam-14x6", parameters={"skin": own}).toml
    with pytest.raises(dermis.Error, match="`skin.friction.sigma0`"):
        dermis.Sensor.preset("uji-foam-14x6", parameters={"skin": {"friction": {"sigma0": "1 N"}}})
    for wrong, message in [
        ({"skin": {"poisson": float("nan")}}, "`skin.poisson` must be a finite number, got nan"),
        ({"skin": {"young": object}}, "`skin.young` must be a number, text, list or dict, got <class"),
        (["skin"], "`parameters` must be a dict"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            dermis.Sensor.preset("gelsight", parameters=wrong)


def test_contacts_of_another_engine():
    sensor = dermis.Sensor.preset("uji-foam-14x6")
    points = sensor.centers[[10, 40]]
    forces = np.array([[0.1, 0, -1.0], [0, -0.2, -2.0]])
    reading = sensor.read_contacts(points, forces, objects=[0, 1])
    assert reading.taxels.ravel()[[10, 40]] == pytest.approx([1, 2]) and reading.active == 2
    assert reading.force == pytest.approx([0.1, -0.2, -3.0])
    assert reading.touch.on_objects[1, :3] == pytest.approx([0, 0.2, 2.0])
    lifted = np.eye(4)
    lifted[2, 3] = 0.5
    world = sensor.read_contacts(points + [0, 0, 0.5], forces, sensor_pose=lifted)
    assert world.taxels == pytest.approx(reading.taxels)
    assert sensor.read_contacts([], []).active == 0


def test_a_layer_spreads_contact_points():
    sensor = dermis.Sensor.preset("wts0614-layer")
    center = sensor.centers[7 * 6 + 3]
    reading = sensor.read_contacts([center], [[0, 0, -2.0]])
    taxels = reading.forces.reshape(-1, 3)[:, 2]
    assert taxels.sum() + reading.outside[2] == pytest.approx(-2) and reading.force == pytest.approx([0, 0, -2])
    assert -2 < taxels.min() < -0.2 and np.count_nonzero(taxels < -0.02) > 4
    assert np.argmin(taxels) == 7 * 6 + 3


def test_every_preset_is_pressed():
    for name in dermis.presets():
        if name in ("tacchi", "finger-gel"):  # gels take seconds, and are tested in Rust
            continue
        sensor = dermis.Sensor.preset(name)
        reading = sensor.press(BALL, depth=0.4e-3)
        total = reading.forces.reshape(-1, 3).sum(axis=0) + reading.outside
        assert total == pytest.approx(reading.wrench[:3], abs=1e-9 + 1e-9 * abs(reading.force[2])), name
        assert reading.force[2] < 0 and sensor.description, name


def test_an_object_between_contact_points_warns():
    coarse = dermis.Sensor.preset("uji-foam-14x6", parameters={"contact_points": 1})
    small = dermis.Object.sphere(radius=2e-3)
    with pytest.warns(RuntimeWarning, match="increase `contact_points`"):
        reading = coarse.press(small, depth=1e-3)
    assert reading.force[2] == 0 and len(reading.touch.warnings) == 1
    with pytest.warns(RuntimeWarning, match="contact points"):
        coarse.press_batch(small, depth=[0.5e-3, 1e-3])
    with pytest.warns(RuntimeWarning, match="contact points"):
        coarse.step(small, pose=(0, 0, 1e-3), dt=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        coarse.step(small, pose=(0, 0, 1e-3), dt=1e-3)  # once until the sensor is reset
        dermis.Sensor.preset("uji-foam-14x6").press(dermis.Object.sphere(radius=6e-3), depth=1e-3)


def test_a_saturated_skin_warns():
    thin = dermis.Sensor.preset("uji-foam-14x6", parameters={"skin": {"max_penetration": "0.2 mm"}})
    for press in (lambda: thin.press_batch(BALL, [(0, 0, 19e-3)]), lambda: thin.step(BALL, pose=(0, 0, 19e-3), dt=1e-3)):
        with pytest.warns(RuntimeWarning, match="exceed the maximum penetration"):
            press()


def test_youngs_modulus_converts_to_a_hydroelastic_modulus():
    hertz = dermis.hydroelastic_modulus(young=50e3, poisson=0.0, depth=6e-3, radius=4e-3, indentation=1e-3)
    assert hertz == pytest.approx(4 * 50e3 * 6e-3 / (3 * np.pi * 2e-3))
    with pytest.raises(dermis.Error, match="all of"):
        dermis.hydroelastic_modulus(young=50e3, poisson=0.0, depth=6e-3)
    with pytest.raises(dermis.Error, match="hydroelastic_modulus"):
        own = {"kind": "hydroelastic", "modulus": "60 kPa", "thickness": "6 mm"}
        dermis.Sensor.preset("uji-foam-14x6", parameters={"skin": own})


def test_a_damaged_state_is_refused(foam):
    foam.step(BALL, pose=(0, 0, 19e-3), dt=1e-3)
    saved = json.loads(foam.state.__reduce__()[1][0])
    saved["skin"]["Springs"]["bristles"][-1]["site"] = 10**6
    damaged = dermis.State._restore(json.dumps(saved).encode())
    with pytest.raises(dermis.Error, match="damaged"):
        foam.state = damaged


def test_what_a_sensor_does_not_have_is_no_attribute_of_its_readings():
    """hasattr raised dermis.Error for images, and was True for `magnetic`, `pressures` and `markers` without any."""
    foam = dermis.Sensor.preset("uji-foam-14x6").press(BALL, depth=1e-3)
    reasons = {
        "image": "has no camera: add a .camera. table", "depth": "camera", "normals": "camera", "flow": "camera", "markers": "camera",
        "magnetic": "has no magnetometers: add .magnets. .* or take reskin", "pressures": "reading.kind = .rays.",
    }  # fmt: skip
    for name, reason in reasons.items():
        assert not hasattr(foam, name), name
        with pytest.raises(AttributeError, match=reason):
            getattr(foam, name)
    for name in ("surface", "base", "cell"):
        with pytest.raises(AttributeError, match="come with the skins layer, gel and imprint"):
            getattr(foam.touch, name)
    gel = dermis.Sensor.preset("gelsight").press(dermis.Object.sphere(radius=4e-3), depth=0.2e-3)
    assert hasattr(gel, "image") and hasattr(gel.touch, "surface") and not hasattr(gel, "markers")
    with pytest.raises(AttributeError, match="add a .markers. table .* or take gelsight-dots or finger-gel"):
        gel.markers
    assert dermis.Sensor.preset("reskin").press(dermis.Object.sphere(radius=4e-3), depth=0.2e-3).magnetic.shape[1] == 3
    step = dermis.Sensor.preset("uji-foam-14x6").step([], dt=1e-3)
    assert step.travel is None and step.pose is None
