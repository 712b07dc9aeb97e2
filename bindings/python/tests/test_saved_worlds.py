"""Copies and pickles of worlds and of their recordings."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import dermis

DUPLICATES = {"deepcopy": copy.deepcopy, "pickle": lambda value: pickle.loads(pickle.dumps(value))}
GRASP = """
[world]
duration = "1 s"
time_step = "1 ms"
ground = "0 mm"

[[body]]
name = "can"
motion = "free"
mass = "200 g"
solid = true
shape.cylinder = { radius = "20 mm", length = "60 mm" }
at = ["0 mm", "0 mm", "30 mm"]

[gripper]
kind = "parallel"
sensor = { preset = "wts0614", response.noise.sd = "1 mN" }
center = ["0 mm", "0 mm", "40 mm"]
opening = "50 mm"

[task]
kind = "pick-and-place"
grasp_height = "0 mm"
lift_height = "20 mm"
"""


@pytest.fixture(params=DUPLICATES)
def duplicate(request):
    return DUPLICATES[request.param]


def heap():
    """A body of each shape in a world made by hand; the pusher moves as told."""
    world = dermis.World(ground=0.0, time_step=1e-3)
    world.add_body("table", pose=[0, 0, 0.01])
    world.mount("pad", dermis.Sensor.preset("uji-foam-14x6"), body="table")
    shapes = {
        "box": (dermis.Object.box(size=(0.04, 0.03, 0.02)), 0.2, (0, 0, 0.021)),
        "cylinder": (dermis.Object("cylinder:radius=10mm,length=20mm"), 0.1, (3e-3, 0, 0.042)),
        "mesh": (dermis.Object("indenter:moon"), 0.05, (0.08, 0, 0.05)),
        "ball": (dermis.Object.sphere(radius=0.01), 0.1, (4e-3, 0, 0.07)),
    }
    for name, (obj, mass, pose) in shapes.items():
        world.add_body(name, obj, motion="free", mass=mass, pose=pose, twist=[0, 0, -0.1, 0, 0, 1], solid=True)
    world.add_body("pusher", dermis.Object.box(size=(0.02, 0.02, 0.02)), motion="driven", pose=[-0.05, 0, 0.045], solid=True)
    return world


def seen(world):
    """Every number that a world shows, as bytes."""
    parts = [np.concatenate([world.pose(body).ravel(), world.twist(body)]) for body in world.bodies]
    for sensor in world.sensors:
        reading = world.reading(sensor)
        parts += [reading.taxels.ravel(), reading.reported.ravel(), reading.wrench, reading.touch.forces.ravel()]
    return np.concatenate([*parts, [world.time]]).tobytes(), world.phase, world.warnings


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("before", [0, 30, 300])
def test_a_world_could_not_be_pickled(duplicate, before):
    """Solids that fall, stand on each other and are pushed, with a sensor: the copy goes on with the same bytes."""
    world = heap()
    world.step(before)
    world.set_twist("pusher", [0.05, 0, 0, 0, 0, 0])
    world.add_body("late", dermis.Object.sphere(radius=0.01), motion="free", mass=0.1, pose=[2e-3, 0, 0.12], solid=True)
    twin = duplicate(world)
    assert seen(twin) == seen(world) and twin.bodies == world.bodies
    for count in (1, 49, 200):
        world.step(count)
        twin.step(count)
        assert seen(twin) == seen(world), count
    assert before < 300 or -world.reading("pad").force[2] > 1.0


def rows(recording):
    """What a recording has, but for the energy, which a copy counts anew."""
    readings = [array.tobytes() for name in recording.sensors for array in (recording.taxels(name), recording.force(name))]
    bodies = [recording.positions(name).tobytes() for name in recording.bodies]
    return recording.times.tobytes(), list(recording.phases), list(recording.warnings), readings, bodies


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_world_with_a_gripper_could_not_be_pickled(duplicate):
    """The grasp, the lift, the noise of the sensors and what is recorded of them go on alike."""
    world = dermis.World.parse(GRASP)
    phases, peak = set(), 0.0
    for count in (0, 500, 100):
        world.step(count)
        phases.add(world.phase)
        twin = duplicate(world)
        recordings = [one.run(duration=0.25) for one in (world, twin)]
        assert seen(twin) == seen(world)
        assert rows(recordings[0]) == rows(recordings[1])
        peak = max(peak, recordings[0].taxels("left").sum(axis=1).max())
    assert "Lift" in phases and peak > 1.0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_recording_could_not_be_pickled(duplicate):
    recording = heap().run(duration=0.1)
    again = duplicate(recording)
    assert len(again) == len(recording) and repr(again) == repr(recording)
    for name in ("times", "sensors", "bodies", "phases", "warnings"):
        assert np.array_equal(getattr(again, name), getattr(recording, name)), name
    assert np.array_equal(again.taxels("pad"), recording.taxels("pad")) and again.taxels("pad").max() > 0
    assert np.array_equal(again.force("pad"), recording.force("pad"))
    assert all(np.array_equal(again.positions(body), recording.positions(body)) for body in recording.bodies)


def test_a_copied_world_does_not_repeat_warnings():
    scene = GRASP.split("[gripper]")[0] + '[[sensor]]\nname = "pad"\npreset = "uji-foam-14x6"\nskin.max_penetration = "1 um"\nat = ["0 mm", "0 mm", "1 mm"]\n'
    world = dermis.World.parse(scene)
    with pytest.warns(RuntimeWarning, match="maximum penetration"):
        world.step(50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        copy.deepcopy(world).step()


def test_a_pickle_of_a_world_that_is_cut_short_is_refused():
    restore, (saved,) = heap().__reduce__()
    with pytest.raises(dermis.Error, match="the pickle is of another version of dermis"):
        restore(saved[:-2])
