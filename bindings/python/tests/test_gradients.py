"""Gradients of presses through ``Sensor.vjp``."""

import numpy as np
import pytest

import dermis
from dermis._presses import Presses, by_quaternions

LAYER = """
name = "small"
[surface.grid]
rows = 6
cols = 6
pitch = "2 mm"
[skin]
kind = "layer"
thickness = "3 mm"
young = "140 kPa"
poisson = 0.42
cell = "0.4 mm"
"""
RUBBED = LAYER + "mu = 0.4\n"
GEL = LAYER.replace('"layer"', '"gel"').replace("0.4 mm", "1 mm")
PAD = """
name = "pad"
[surface.grid]
rows = 6
cols = 6
pitch = "2 mm"
[skin]
kind = "hydroelastic"
hydroelastic_modulus = "60 kPa"
thickness = "4 mm"
"""
POSE = np.array([[0.3e-3, -0.4e-3, 3.3e-3, 0.9, 0.1, -0.2, 0.3]])


def difference(value, step):
    """Central difference with one extrapolation."""
    one, two = [(value(s) - value(-s)) / (2 * s) for s in (step, 0.5 * step)]
    return (4 * two - one) / 3


@pytest.mark.parametrize("sensor", [dermis.Sensor.preset("uji-foam-14x6"), dermis.Sensor.parse(PAD)], ids=["springs", "hydroelastic"])
def test_a_pose_has_the_gradient_of_differences(sensor):
    obj = dermis.Object.ellipsoid(semi_axes=[5e-3, 4.5e-3, 4e-3])
    presses = Presses(sensor, obj, {})
    weights = np.random.default_rng(3).normal(size=(1, *sensor.shape))
    wrench = np.array([[0.3, -0.2, 1.0, 40.0, -70.0, 20.0]])

    def scalar(pose):
        loads, taxels, *_ = presses.read(pose, image=False)
        return float(np.sum(loads * wrench) + np.sum(taxels * weights))

    found, _ = presses.pull_back(POSE, wrench, weights, np.zeros((1, 0, 2)), np.zeros((1, 0, 0, 3)))
    for entry in range(7):
        along = np.eye(7)[entry : entry + 1]
        truth = difference(lambda s, along=along: scalar(POSE + s * along), 1e-7 if entry < 3 else 2e-5)
        assert abs(found[0, entry] - truth) <= 2e-5 * np.abs(found[0, 3 * (entry > 2) :]).max(), entry


@pytest.mark.parametrize(("text", "modulus"), [(LAYER, "young"), (RUBBED, "young"), (GEL, "young"), (PAD, "hydroelastic_modulus")])
def test_a_skin_is_in_proportion_to_its_modulus(text, modulus):
    """At a given pose E ∂L/∂E = L for a weighted sum L of taxels; `dermis validate gradients` has all other derivatives."""
    sensor, ball = dermis.Sensor.parse(text), dermis.Object.sphere(radius=4e-3)
    values = {modulus: np.array(1.6e5), "radius": np.array(4.1e-3)}
    presses = Presses(sensor, ball, values)
    weights, empty = np.arange(36.0).reshape(1, 6, 6), (np.zeros((1, 0, 2)), np.zeros((1, 0, 0, 3)))
    _, taxels, *_ = presses.read(POSE[:, :3], image=False)
    _, found = presses.pull_back(POSE[:, :3], np.zeros((1, 6)), weights, *empty)
    assert found[modulus] * 1.6e5 == pytest.approx(np.sum(taxels * weights), rel=1e-9)
    assert found["radius"] > 0.0


def test_a_layer_with_friction_has_a_gradient_by_it():
    """Its values are those of differences in `dermis validate gradients`."""
    sensor, ball = dermis.Sensor.parse(RUBBED), dermis.Object.sphere(radius=4e-3)
    by = sensor.vjp(ball, POSE[:, :3], {"force": np.array([[0.0, 0.0, -1.0]])})
    assert by["mu"].shape == (1, 1) and np.isfinite(by["mu"]).all() and by["mu"][0, 0] != 0.0
    assert "mu" not in dermis.Sensor.parse(LAYER).vjp(ball, POSE[:, :3], {"force": np.zeros((1, 3))})


def test_a_batch_has_the_gradients_of_its_presses():
    sensor, ball = dermis.Sensor.preset("uji-foam-14x6"), dermis.Object.sphere(radius=10e-3)
    poses = np.array([[0, 0, 8.5e-3], [2e-3, 1e-3, 8e-3], [0, 0, 1.0]])
    by = {"force": np.ones((3, 3))}
    together = sensor.vjp(ball, poses, by)
    for i in range(3):
        alone = sensor.vjp(ball, poses[i : i + 1], {"force": by["force"][:1]})
        assert np.array_equal(together["position"][i], alone["position"][0])
    assert not together["position"][2].any() and together["radius"].shape == (3, 1)


def test_a_saturated_taxel_has_no_gradient():
    limit = {"response": {"saturation": {"force": "1 mN"}}}
    sensor = dermis.Sensor.preset("uji-foam-14x6", parameters=limit)
    ball = dermis.Object.sphere(radius=10e-3)
    by = sensor.vjp(ball, [[0, 0, 8e-3]], {"reported": np.ones((1, 14, 6))})
    assert np.abs(by["position"]).max() == 0.0


def test_quaternions_of_any_length_have_their_gradient():
    q, g = np.array([[0.4, -0.2, 0.5, 0.9]]), np.array([[0.7, -1.1, 0.4]])
    found = by_quaternions(q, g)
    assert abs(np.sum(found * q)) < 1e-15, "the length does not matter"
    assert np.allclose(by_quaternions(2 * q, g), 0.5 * found)


@pytest.mark.parametrize(
    ("sensor", "cotangents", "message"),
    [
        ("uji-foam-14x6", {"force": np.full((1, 3), np.nan)}, "force on the sensor is not finite"),
        ("uji-foam-14x6", {"fource": np.zeros((1, 3))}, '"fource"'),
        ("uji-foam-14x6", {"taxels": np.zeros((1, 3))}, "84 numbers"),
        ("gelsight imprint", {"force": np.zeros((1, 3))}, "no gradients"),
    ],
)
def test_what_has_no_gradient_is_refused(sensor, cotangents, message):
    ball = dermis.Object.sphere(radius=4e-3)
    with pytest.raises(dermis.Error, match=message):
        dermis.Sensor.preset(*sensor.split()[:1], skin=(sensor.split() + [None])[1]).vjp(ball, [[0, 0, 3.9e-3]], cotangents)


def test_parameters_without_gradient_are_named():
    sensor, ball = dermis.Sensor.preset("uji-foam-14x6"), dermis.Object.sphere(radius=10e-3)
    with pytest.raises(dermis.Error, match="'color'; it may have scale, radius"):
        Presses(sensor, ball, {"color": np.array(1.0)})
    zeros = np.zeros((1, 6)), np.zeros((1, 14, 6)), np.zeros((1, 0, 2)), np.zeros((1, 0, 0, 3))
    presses = Presses(sensor, ball, {})
    presses.parameters = {"young": np.array(1.0)}
    with pytest.raises(dermis.Error, match="no gradient by 'young'; it has those by"):
        presses.pull_back(np.array([[0, 0, 8e-3]]), *zeros)


@pytest.mark.parametrize("text", [None, PAD], ids=["springs", "hydroelastic"])
def test_the_vertices_of_a_mesh_have_the_gradient_of_differences(text):
    """All vertices of a ball move, each in its own direction. Layers are in `dermis validate gradients`, which solves them closely enough."""
    sensor = dermis.Sensor.preset("uji-foam-14x6") if text is None else dermis.Sensor.parse(text)
    ball = dermis.Object.sphere(radius=4.2e-3, edge=2e-3)
    mesh = dermis.Object.mesh(vertices=ball.vertices, triangles=ball.triangles)
    random = np.random.default_rng(5)
    weights, along = random.normal(size=(1, *sensor.shape)), random.uniform(-1, 1, size=ball.vertices.shape)
    wrench = np.array([[0.3, -0.2, 1.0, 40.0, -70.0, 20.0]])

    def scalar(step):
        loads, taxels, *_ = Presses(sensor, mesh, {"vertices": ball.vertices + step * along}).read(POSE, image=False)
        return float(np.sum(loads * wrench) + np.sum(taxels * weights))

    presses = Presses(sensor, mesh, {"vertices": ball.vertices})
    _, found = presses.pull_back(POSE, wrench, weights, np.zeros((1, 0, 2)), np.zeros((1, 0, 0, 3)))
    truth = difference(scalar, 1e-7)
    assert found["vertices"].shape == ball.vertices.shape
    assert np.sum(found["vertices"] * along) == pytest.approx(truth, rel=1e-4)


def test_only_a_mesh_has_vertices():
    sensor, ball = dermis.Sensor.preset("uji-foam-14x6"), dermis.Object.sphere(radius=4e-3)
    with pytest.raises(dermis.Error, match="a mesh has gradients"):
        sensor.vjp(ball, POSE[:, :3], {"force": np.ones((1, 3))}, vertices=True)
    with pytest.raises(dermis.Error, match="no size"):
        ball.resized("vertices", np.zeros((4, 3)))


def test_magnetometers_have_the_gradient_of_differences():
    """In µT, as readings are; rounding would hide the differences."""
    sensor = dermis.Sensor.preset("anyskin", parameters={"skin": {"mu": 0.0}, "magnetometers": {"bits": 32}})
    ball, random = dermis.Object.sphere(radius=4e-3), np.random.default_rng(3)
    weights, at = random.normal(size=(1, 5, 3)), np.array([1e-3, -2e-3, 3.4e-3])

    def scalar(step):
        depth = 4e-3 - (at[2] + step[2])
        return float(np.sum(sensor.press(ball, depth=depth, at=at[:2] + step[:2]).magnetic * weights[0]))

    by = sensor.vjp(ball, at[None], {"magnetic": weights})
    for axis in range(3):
        along = np.eye(3)[axis]
        truth = difference(lambda step, along=along: scalar(step * along), 2e-6)
        # Presets solve contact to 1e-5; `dermis validate gradients` has layers that are solved closely.
        assert abs(by["position"][0, axis] - truth) < 3e-3 * np.abs(by["position"]).max()
    remanence = 40e-3
    stronger = sensor.with_parameters({"magnets": {"elastomer": {"remanence": "44 mT"}}})
    change = np.sum((stronger.press(ball, depth=0.6e-3, at=at[:2]).magnetic - sensor.press(ball, depth=0.6e-3, at=at[:2]).magnetic) * weights[0])
    assert by["remanence"][0, 0] * 0.1 * remanence == pytest.approx(change, rel=1e-4)
    assert "young" in by and "thickness" not in by


def test_only_magnets_in_a_layer_have_gradients_of_magnetometers():
    ball = dermis.Object.sphere(radius=4e-3)
    with pytest.raises(dermis.Error, match="magnets in a layer"):
        dermis.Sensor.preset("eflesh").vjp(ball, [[0, 0, 3.9e-3]], {"magnetic": np.ones((1, dermis.Sensor.preset("eflesh").press(ball, depth=0.1e-3).magnetic.shape[0], 3))})


def test_scale_multiplies_other_sizes_in_any_order():
    sensor, ball = dermis.Sensor.preset("uji-foam-14x6"), dermis.Object.sphere(radius=8e-3)
    pose = np.array([[0.0, 0.0, 9e-3]])
    wrench = np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]])

    def force(radius, scale, order=("radius", "scale")):
        values = {"radius": np.array(radius), "scale": np.array(scale)}
        presses = Presses(sensor, ball, {name: values[name] for name in order})
        return presses, float(presses.read(pose, image=False)[0][0, 2])

    for order in (("radius", "scale"), ("scale", "radius")):
        presses, value = force(10e-3, 1.05, order)
        assert value == force(10.5e-3, 1.0)[1]
        _, found = presses.pull_back(pose, wrench, np.zeros((1, *sensor.shape)), np.zeros((1, 0, 2)), np.zeros((1, 0, 0, 3)))
        assert found["radius"] == pytest.approx(difference(lambda s: force(10e-3 + s, 1.05)[1], 1e-6), rel=1e-6)
        assert found["scale"] == pytest.approx(difference(lambda s: force(10e-3, 1.05 + s)[1], 1e-4), rel=1e-6)


def test_friction_as_a_parameter_is_that_of_the_contact():
    """Also with an object that has a coefficient of its own."""
    sensor, pose = dermis.Sensor.parse(RUBBED), np.array([[0.3e-3, 0.0, 3.4e-3]])
    forces = []
    for mu in (None, 0.05):
        presses = Presses(sensor, dermis.Object.sphere(radius=4e-3, mu=mu), {"mu": np.array(0.2)})
        forces.append(presses.read(pose, image=False)[0])
    assert np.array_equal(*forces)
    own = Presses(sensor, dermis.Object.sphere(radius=4e-3, mu=0.05), {}).read(pose, image=False)[0]
    assert not np.array_equal(forces[0], own)


def test_counts_at_the_end_of_their_range_have_no_gradient():
    """As a saturated taxel; within the range, rounding is left out."""
    spec = dermis.Sensor.preset("uji-foam-14x6").toml.split("[response")[0]
    ball, pose = dermis.Object.sphere(radius=10e-3), np.array([[0.0, 0.0, 9e-3]])
    for bits, is_zero in ((16, False), (4, True)):
        sensor = dermis.Sensor.parse(spec + f'[response]\nbits = {bits}\nforce_per_count = "1 mN"\nquantised = true\n')
        loaded = sensor.press_batch(ball, pose).taxels[0] > 0.02
        by = sensor.vjp(ball, pose, {"reported": np.where(loaded, 1.0, 0.0)[None]})
        assert loaded.any() and (by["position"][0, 2] == 0.0) == is_zero


@pytest.mark.parametrize(("name", "lacks"), [("image", "camera"), ("markers", "markers"), ("magnetic", "magnetometers")])
def test_a_cotangent_of_what_a_sensor_lacks_is_refused(name, lacks):
    sensor = dermis.Sensor.preset("uji-foam-14x6")
    with pytest.raises(dermis.Error, match=f"has no {lacks}"):
        sensor.vjp(dermis.Object.sphere(radius=4e-3), POSE[:, :3], {name: np.ones((1, 3))})
