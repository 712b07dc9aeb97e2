"""Wrong input: one clear sentence, the right class, and everything still works afterwards."""

import numpy as np
import pytest

import dermis
from dermis import Object, Sensor

BALL = Object.sphere(radius=10e-3)
NAN = float("nan")


@pytest.fixture(scope="module")
def foam():
    return Sensor.preset("uji-foam-14x6")


@pytest.fixture(autouse=True)
def still_usable(foam):
    """After every refusal the sensor is as it was and answers."""
    foam.press(BALL, depth=1e-3)
    before = foam.state
    yield
    assert foam.state == before
    assert foam.step(BALL, pose=(0, 0, 9e-3), dt=1e-3).active > 0


def tilted(angle):
    matrix = np.eye(4)
    matrix[0, 1] = angle
    return matrix


@pytest.mark.parametrize(
    ("pose", "words"),
    [
        ((0, 0), r"`pose` must have shape \(4, 4\), \(7,\) or \(3,\), got \(2,\)"),
        (np.eye(3), r"got \(3, 3\)"),
        ([0, 0, NAN], "`pose` must be finite numbers"),
        ([0, 0, np.inf], "finite"),
        (np.full((4, 4), NAN), "finite"),
        (2 * np.eye(4), "rigid transform"),
        (np.diag([1.0, 1.0, -1.0, 1.0]), "rigid transform"),
        (tilted(0.1), "rigid transform"),
        ([0, 0, 0, 2, 0, 0, 0], "length 1, got 2"),
        ([0, 0, 0, 0, 0, 0, 0], "length 1"),
    ],
)
def test_poses(foam, pose, words):
    with pytest.raises(dermis.Error, match=words):
        foam.step(BALL, pose=pose, dt=1e-3)


@pytest.mark.parametrize("pose", ["here", None, [1, "a", 2], np.zeros(3, complex), np.zeros(3, bool), {}, object(), [[0, 0], [1]]])
def test_poses_of_no_numbers(foam, pose):
    with pytest.raises((TypeError, ValueError)):
        foam.step(BALL, pose=pose, dt=1e-3)


def test_integers_and_floats_of_any_size_are_numbers(foam):
    state = foam.state
    truth = foam.settle(BALL, pose=[0, 0, 9e-3]).taxels
    for kind in (np.float32, np.longdouble, list, tuple):
        made = kind([0, 0, 9e-3]) if kind in (list, tuple) else np.array([0, 0, 9e-3], kind)
        assert foam.settle(BALL, pose=made).taxels == pytest.approx(truth, abs=1e-6)
    assert foam.settle(BALL, pose=np.array([0, 0, 1])).active == 0
    assert foam.settle(BALL, pose=np.array([0, 7, 0, 7, 9e-3, 7])[::2]).taxels == pytest.approx(truth)
    foam.state = state


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: s.step(BALL, pose=(0, 0, 0), twist=(0, 0, 0), dt=1e-3), r"`twist` must have shape \(6,\), got \(3,\)"),
        (lambda s: s.step(BALL, pose=(0, 0, 0), twist=[NAN] * 6, dt=1e-3), "`twist` must be finite"),
        (lambda s: s.step(BALL, pose=(0, 0, 0), dt=0), "`dt` must be a positive number of seconds, got 0"),
        (lambda s: s.step(BALL, pose=(0, 0, 0), dt=NAN), "`dt`"),
        # The history of the response was no longer finite afterwards.
        (lambda s: s.step(BALL, pose=(0, 0, 9e-3), dt=1e300), "`dt` must be at most 1e6 s, got 1e300"),
        (lambda s: Sensor.preset("wts0614", parameters={"skin.friction.mu": NAN}), "`skin.friction.mu` must be a finite number"),
        (lambda s: s.step([(BALL, (0, 0, 9e-3), (NAN,) * 6)], dt=1e-3), "twist of object 0"),
        (lambda s: s.step([(BALL, (0, 0, 9e-3)), (BALL, (0, 9e-3))], dt=1e-3), "pose of object 1"),
        (lambda s: s.step([(BALL, (0, 0, 0))], pose=(0, 0, 0), dt=1e-3), "go with one object"),
        (lambda s: s.press(BALL), "give `depth`"),
        (lambda s: s.press(BALL, depth=1e-3, force=1), "not both"),
        (lambda s: s.press(BALL, depth=-1e-3), "depth of a press must be a positive"),
        (lambda s: s.press(BALL, depth=NAN), "depth of a press"),
        (lambda s: s.press(BALL, depth=1.0), "is more than sensor"),
        (lambda s: s.press(BALL, force=1e6), "cannot carry"),
        (lambda s: s.press(BALL, depth=1e-3, at=(1, 0)), "is not above sensor"),
        (lambda s: s.press(BALL, depth=1e-3, at=(NAN, 0)), "`at`"),
        (lambda s: s.press(BALL, depth=1e-3, tilt=(0, 0, 0)), "`tilt`"),
        (lambda s: s.press(BALL, depth=1e-3, yaw=NAN), "`yaw`"),
        (lambda s: s.press_batch(BALL, np.zeros((2, 5))), r"\(n, 4, 4\), \(n, 7\) or \(n, 3\), got \(2, 5\)"),
        (lambda s: s.press_batch(BALL, 1.0), "`poses`"),
        (lambda s: s.press_batch(BALL, force=[1, 2, NAN]), r"`force` must be finite numbers, and the one at \[2\] is NaN"),
        (lambda s: s.press_batch(BALL, depth=NAN), "`depth` must be a finite number, got NaN"),
        (lambda s: s.press_batch(BALL, depth=1e-3, at=[(0, 0), (0, np.inf)]), r"`at` must be finite numbers, and the one at \[1, 1\] is inf"),
        (lambda s: s.environments(BALL, -1, device="cpu"), "`count` must be a whole number of at least 0, got -1: give the number"),
        (lambda s: s.environments(BALL, 2.5, device="cpu"), "`count` must be a whole number of at least 0, got 2.5"),
        (lambda s: s.environments(BALL, True, device="cpu"), "`count` must be a whole number of at least 0, got True"),
        (lambda s: s.environments(BALL, 2**40, device="cpu"), r"`count` = 1099511627776 environments need at least \d+ GB of memory.*make fewer"),
        (lambda s: s.environments(BALL, 2, device="cpu", seed=-1), "`seed` must be a whole number of at least 0, got -1"),
        (lambda s: s.environments(BALL, 2, device="cpu").reset(True), "`mask` must be a bool for each of the 2 environments, got True"),
        (lambda s: s.environments(BALL, 2, device="cpu", max_polygons=0), "`max_polygons` must be a whole number of at least 1, got 0: leave it out"),
        (lambda s: s.environments(BALL, 2, device="cpu", max_polygons=-3), "`max_polygons` .* got -3"),
        (lambda s: s.environments(BALL, 2, device="cpu", max_polygons="many"), "`max_polygons` .* got 'many'"),
        (lambda s: s.environments(BALL, 2, device="cpu", max_polygons=9), "`max_polygons` is for hydroelastic skins with LuGre friction"),
        (lambda s: s.environments(BALL, 2, device="cpu", seed=2**70), r"got 1180591620717411303424: seeds are below 2\*\*64"),
        (lambda s: s.press_batch(BALL, depth=1e-3, at=np.zeros((2, 3))), r"`at` must have shape \(2,\) or \(n, 2\)"),
        (lambda s: s.read_contacts([[0, 0, 0]], [[0, 0, -1]] * 2), "1 `points` and 2 `forces`"),
        (lambda s: s.read_contacts([[0, 0, NAN]], [[0, 0, -1]]), "`points`"),
        (lambda s: s.read_contacts([[0, 0, 0]], [[0, 0, -1]], objects=[-1]), "`objects`"),
        (lambda s: s.stable_step(mass=0, size=(1, 1, 1)), "`mass`"),
        (lambda s: setattr(s, "state", Sensor.preset("gelsight").state), "not of a springs skin"),
        (lambda s: setattr(s, "state", Sensor.preset("digitacts-6x4").state), "2400 texels and the skin has 2100"),
    ],
)
def test_calls(foam, call, words):
    with pytest.raises(dermis.Error, match=words):
        call(foam)


def test_a_force_that_is_not_reached_has_a_warning(foam):
    state = foam.state
    for call in (lambda: foam.press(BALL, force=1e-18), lambda: foam.press_batch(BALL, force=[1, 1e-18])):
        with pytest.warns(RuntimeWarning, match="N instead of 1e-18 N, which is too small to be resolved"):
            call()
    with pytest.warns(RuntimeWarning, match=r"2 of 3 presses miss their force, most of all press \[2\]: .*N instead of 1e-18 N"):
        batch = foam.press_batch(BALL, force=[1, 1e-12, 1e-18])
    assert [text for text in batch.warnings if "press [2]" in text]
    foam.state = state


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.press("ball", depth=1e-3),
        lambda s: s.press(BALL, depth="1 mm"),
        lambda s: s.press(BALL, 1e-3),
        lambda s: s.step(BALL, dt=1e-3),
        lambda s: s.step(None, dt=1e-3),
        lambda s: s.step([BALL], dt=1e-3),
        lambda s: s.step([("ball", (0, 0, 0))], dt=1e-3),
        lambda s: s.step([(BALL,)], dt=1e-3),
        lambda s: setattr(s, "state", None),
        lambda s: Object.sphere(5e-3),
    ],
)
def test_calls_with_the_wrong_types(foam, call):
    with pytest.raises(TypeError):
        call(foam)


def test_a_time_step_that_is_no_number_is_named(foam):
    for call in (
        lambda: foam.step([(BALL, (0, 0, 0))], dt="1ms"),
        lambda: foam.environments(BALL, 2, device="cpu").bind(dt="1ms", pose=np.zeros((2, 7))),
    ):
        with pytest.raises(TypeError, match="`dt` must be a positive number of seconds, got '1ms'"):
            call()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Object.sphere(radius=0), "`radius` must be a positive number of metres, got 0"),
        (lambda: Object.sphere(radius=NAN), "`radius`"),
        (lambda: Object.sphere(radius=1e-2, edge=1e-9), "triangles"),
        (lambda: Object.sphere(radius=1e-2, mu=-1), "`mu`"),
        (lambda: Object.box(size=(1, 1)), "`size`"),
        (lambda: Object.box(size=(1, 1, -1)), "`size`"),
        (lambda: Object.ellipsoid(semi_axes=(1, 0, 1)), "`semi_axes`"),
        (lambda: Object.mesh(vertices=np.zeros((3, 2)), triangles=[[0, 1, 2]]), r"`vertices` must have shape \(n, 3\)"),
        (lambda: Object.mesh(vertices=np.eye(3), triangles=[[0, 1, 3]]), "3"),
        (lambda: Object.mesh(vertices=np.eye(3), triangles=[[0, 1, -2]]), "`triangles`"),
        (lambda: Object.mesh(vertices=np.eye(3), triangles=[[0, 1, 1.5]]), "`triangles`"),
        (lambda: Object.mesh(vertices=np.eye(3) * NAN, triangles=[[0, 1, 2]]), "`vertices`"),
        (lambda: Object.mesh(vertices=np.zeros((3, 3)), triangles=[[0, 1, 2]]), "m large"),
        (lambda: Object.height_field(np.zeros(4), size=(1, 1)), r"`heights` must have shape \(rows, cols\)"),
        (lambda: Object.height_field(np.zeros((1, 4)), size=(1, 1)), "at least 2"),
        (lambda: Object.height_field(np.full((2, 2), -1.0), size=(1, 1)), "above -base"),
        (lambda: Object("blob"), 'no shape "blob"'),
        (lambda: Object("sphere:radius=5"), "has no unit"),
        (lambda: Object.indenter("mooon"), "mooon"),
        (lambda: Object("sphere", unit="ell"), "ell"),
        (lambda: Sensor.preset("no-such"), 'no sensor "no-such"; the presets are anyskin, capacitive-8x8'),
        (lambda: Sensor.preset("wts0614", skin="wood"), 'no skin "wood"'),
        (lambda: Sensor.preset("gelsight", skin="springs"), "cannot replace a skin of kind"),
        (lambda: Sensor.preset("wts0614", parameters={"skin": {"stiffnes": "1 N/m"}}), "stiffnes"),
        (lambda: Sensor.preset("wts0614", parameters={"skin": {"stiffness": "1 N"}}), "stiffness"),
        (lambda: Sensor.parse("name = 1"), "name"),
        (lambda: Sensor.preset("wts0614", parameters={"skin.stiffnes": "1 N/m"}), "`skin.stiffnes`"),
        (lambda: Sensor.preset("wts0614", parameters={"skin.stiffness": "1 N"}), "`skin.stiffness`"),
        (lambda: Sensor.preset("wts0614", parameters={"skin.stiffness": "1 N/m", "skin": {"stiffness": "2 N/m"}}), "`skin.stiffness`: is given twice"),
        (lambda: Sensor.preset("wts0614", parameters={"response.faults.dead": [3], "response.faults": {"dead.1": 4}}), "given twice|no such item"),
        (lambda: FAULTY.with_parameters({"response.faults.dead.2": 4}), r"`response.faults.dead.2`: there is no such item: the list has 2, 0 to 1"),
    ],
)
def test_things_that_cannot_be(make, words):
    with pytest.raises(dermis.Error, match=words):
        make()


FAULTY = Sensor.preset("wts0614", parameters={"response.faults.dead": [3, 5]})


def test_keys_with_dots_are_those_of_the_command_line(tmp_path):
    """``parameters={"skin.stiffness": …}`` was refused as an unknown field."""
    dotted = Sensor.preset("wts0614", parameters={"skin.stiffness": "1 N/mm", "skin.friction.mu_static": 0.3})
    nested = Sensor.preset("wts0614", parameters={"skin": {"stiffness": "1 N/mm", "friction": {"mu_static": 0.3}}})
    assert dotted.toml == nested.toml != Sensor.preset("wts0614").toml
    assert Sensor.parse(dotted.toml, parameters={"skin.stiffness": "2 N/mm"}).toml == nested.with_parameters({"skin.stiffness": "2 N/mm"}).toml
    one = FAULTY.with_parameters({"response.faults.dead.1": 7})
    assert "dead = [3, 7]" in one.toml.replace("\n", " ").replace("    ", "").replace("dead = [ 3, 7", "dead = [3, 7").replace(", ]", "]")
    (tmp_path / "pad.toml").write_text(dotted.toml)
    assert Sensor.load(tmp_path / "pad.toml", parameters={"skin.kind": "hydroelastic"}).toml == nested.with_parameters({"skin": {"kind": "hydroelastic"}}).toml


def test_missing_files_are_file_not_found(tmp_path):
    for call in [Sensor.load, lambda path: Object.load(path, unit="mm"), lambda path: Object(str(path), unit="mm")]:
        with pytest.raises(FileNotFoundError, match="nowhere"):
            call(tmp_path / "nowhere.stl")
    assert issubclass(dermis.Error, ValueError)


def test_arrays_that_come_out_are_the_callers_own(foam):
    state = foam.state
    reading = foam.press(BALL, depth=1e-3)
    reading.taxels[:] = 7
    reading.touch.on_sensor[:] = 7
    foam.centers[:] = 7
    assert reading.taxels.max() < 1 and foam.centers.max() < 1
    foam.state = state


@pytest.mark.parametrize("place", ["detached", "interruptible"])
def test_a_panic_in_a_thread_is_an_error(place):
    with pytest.raises(dermis.Error, match="internal error: a panic for a test; please report it"):
        dermis._native.panic_in(place)


def test_a_panic_in_a_call_ends_no_program():
    """PyO3 raises it beside `Exception`, so that no handler of other errors hides it."""
    with pytest.raises(BaseException, match="a panic for a test"):
        dermis._native.panic_in("call")


@pytest.mark.parametrize("objects", ["ball", ["ball"], None, 3])
def test_environments_of_no_object_are_refused(foam, objects):
    with pytest.raises(dermis.Error, match="`obj` must be an Object or a list of Objects, got"):
        foam.environments(objects, 2, device="cpu")
