"""Gradients through time by ``Sensor.vjp_path``."""

import numpy as np
import pytest

import dermis
from dermis._slides import Slides

PAD = """
name = "pad"
[surface.grid]
rows = 8
cols = 8
pitch = "1.7 mm"
[skin]
kind = "springs"
stiffness = "420 N/m"
damping = "1.2 N s/m"
max_penetration = "4 mm"
"""
LUGRE = (
    PAD
    + """
[skin.friction]
kind = "lugre"
sigma0 = "600 N/m"
sigma1 = "0.3 N s/m"
viscous = "0.05 N s/m"
mu_static = 0.5
mu_dynamic = 0.35
stribeck_speed = "20 mm/s"
"""
)
COULOMB = PAD + '[skin.friction]\nkind = "coulomb"\nmu = 0.4\nregularisation_speed = "4 mm/s"\n'
LAYER = 'name = "layer"\n[surface.grid]\nrows = 6\ncols = 6\npitch = "2 mm"\n[skin]\nkind = "layer"\nthickness = "3 mm"\nyoung = "140 kPa"\npoisson = 0.42\n'
STEPS, DT = 8, 2e-3
VALUES = {
    LUGRE: {"sigma0": 600.0, "sigma1": 0.3, "viscous": 0.05, "mu_static": 0.5, "mu_dynamic": 0.35, "stribeck_speed": 0.02},
    COULOMB: {"mu": 0.4, "regularisation_speed": 4e-3},
}


def path(speed):
    """Poses and twists of an object that slides, spins and is pressed."""
    twists = np.tile([speed, 0.4 * speed, -2e-3, 0.3, -0.5, 0.8], (STEPS, 1))
    twists[:, :3] += 1e-3 * np.random.default_rng(1).normal(size=(STEPS, 3))
    poses = np.tile([-0.4e-3, 0.3e-3, 3.2e-3, 0.9, 0.1, -0.2, 0.3], (STEPS, 1))
    poses[1:, :3] += DT * np.cumsum(twists[:-1, :3], axis=0)
    return poses, twists


def difference(value, step):
    """Central difference with one extrapolation."""
    one, two = [(value(s) - value(-s)) / (2 * s) for s in (step, 0.5 * step)]
    return (4 * two - one) / 3


@pytest.mark.parametrize("speed", [2e-3, 5e-2], ids=["sticks", "slides"])
@pytest.mark.parametrize("text", [LUGRE, COULOMB], ids=["lugre", "coulomb"])
def test_a_path_has_the_gradient_of_differences(text, speed):
    """Along random changes of poses, twists and parameters; `dermis validate gradients` has many paths."""
    sensor, obj = dermis.Sensor.parse(text), dermis.Object.ellipsoid(semi_axes=[5e-3, 4.5e-3, 4e-3])
    poses, twists = path(speed)
    random = np.random.default_rng(7)
    by_wrench, by_taxels = random.normal(size=(STEPS, 6)) * [1, 1, 1, 50, 50, 50], random.normal(size=(STEPS, 8, 8))
    values = {"stiffness": 420.0, "damping": 1.2, "scale": 1.0} | VALUES[text]

    def scalar(poses, twists, changed):
        numbers = {name: np.array(value) for name, value in changed.items()}
        wrench, taxels = Slides(sensor, obj, numbers, DT).read(poses, twists)
        return float(np.sum(wrench * by_wrench) + np.sum(taxels * by_taxels))

    slides = Slides(sensor, obj, {name: np.array(value) for name, value in values.items()}, DT)
    by_poses, by_twists, by_values = slides.pull_back(poses, twists, by_wrench, by_taxels)
    along = random.normal(size=(STEPS, 7)) * [1, 1, 1, 200, 200, 200, 200]
    truth = difference(lambda s: scalar(poses + s * along, twists, values), 1e-8)
    assert np.sum(by_poses * along) == pytest.approx(truth, rel=1e-5)
    along = random.normal(size=(STEPS, 6)) * [1, 1, 1, 200, 200, 200]
    truth = difference(lambda s: scalar(poses, twists + s * along, values), 1e-7)
    assert np.sum(by_twists * along) == pytest.approx(truth, rel=1e-5)
    for name, value in values.items():
        truth = difference(lambda s, name=name, value=value: scalar(poses, twists, values | {name: value + s}), 1e-5 * value)
        assert by_values[name] == pytest.approx(truth, rel=1e-5, abs=1e-5 / value), name


def test_a_path_starts_from_the_state_of_the_sensor():
    """The gradient of the second half of a path, from the state after the first, is that of the whole path by the readings there."""
    sensor, ball = dermis.Sensor.parse(LUGRE), dermis.Object.sphere(radius=4e-3)
    poses, twists = path(2e-3)
    poses = poses[:, :3]
    force = np.zeros((STEPS, 3))
    force[4:] = 1.0
    whole = sensor.vjp_path(ball, poses, twists, {"force": force}, dt=DT)
    for pose, twist in zip(poses[:4], twists[:4], strict=True):
        sensor.step(ball, dt=DT, pose=pose, twist=twist)
    before = sensor.state
    half = sensor.vjp_path(ball, poses[4:], twists[4:], {"force": force[4:]}, dt=DT)
    assert np.allclose(half["twist"], whole["twist"][4:], rtol=1e-12)
    assert np.abs(whole["twist"][:4, :2]).min() > 0.0, "bristles remember the steps before"
    assert sensor.state == before


@pytest.mark.parametrize(
    ("text", "change", "message"),
    [
        (LUGRE, {"twists": np.zeros((STEPS - 1, 6))}, "one row for each of the 8 poses, got 7"),
        (LUGRE, {"twists": np.zeros((STEPS, 3))}, r"`twists` must have shape \(n, 6\)"),
        (LUGRE, {"twists": np.full((STEPS, 6), np.nan)}, "`twists` must be finite"),
        (LUGRE, {"cotangents": {"force": np.full((STEPS, 3), np.nan)}}, "force on the sensor is not finite"),
        (LUGRE, {"cotangents": {"force": np.zeros((1, 3))}}, r"`force` must have shape \(8, …\)"),
        (LUGRE, {"dt": 0.0}, "`dt` must be a positive number of seconds"),
        (LAYER, {}, "only `springs` has them along a path"),
    ],
)
def test_wrong_paths_are_refused(text, change, message):
    poses, twists = path(0.0)
    given = {"twists": twists, "cotangents": {"force": np.zeros((STEPS, 3))}, "dt": DT} | change
    with pytest.raises(dermis.Error, match=message):
        dermis.Sensor.parse(text).vjp_path(dermis.Object.sphere(radius=4e-3), poses[:, :3], **given)


def test_torch_carries_the_gradient():
    torch = pytest.importorskip("torch")
    from dermis.torch import slide

    sensor, ball = dermis.Sensor.parse(COULOMB), dermis.Object.sphere(radius=4e-3)
    poses, twists = [torch.tensor(part, requires_grad=True) for part in path(2e-3)]
    mu = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    friction = slide(sensor, ball, poses, twists, DT, {"mu": mu}).wrench[:, :2].sum()
    friction.backward()
    by = Slides(sensor, ball, {"mu": np.array(0.3)}, DT).pull_back(
        *path(2e-3), np.tile([1.0, 1, 0, 0, 0, 0], (STEPS, 1)), np.zeros((STEPS, 8, 8))
    )
    assert np.array_equal(poses.grad, by[0]) and np.array_equal(twists.grad, by[1]) and mu.grad.item() == by[2]["mu"]


def test_jax_carries_the_gradient():
    jax = pytest.importorskip("jax")
    from dermis.jax import slide

    sensor, ball = dermis.Sensor.parse(COULOMB), dermis.Object.sphere(radius=4e-3)
    poses, twists = path(2e-3)

    def friction(poses, twists, mu):
        return slide(sensor, ball, poses, twists, DT, {"mu": mu}).wrench[:, :2].sum()

    found = jax.jit(jax.grad(friction, argnums=(0, 1, 2)))(poses, twists, 0.3)
    by = Slides(sensor, ball, {"mu": np.array(0.3)}, DT).pull_back(
        poses, twists, np.tile([1.0, 1, 0, 0, 0, 0], (STEPS, 1)), np.zeros((STEPS, 8, 8))
    )
    # JAX has single precision by default.
    assert np.allclose(found[1], by[1], rtol=1e-3, atol=1e-3 * np.abs(by[1]).max())
    assert found[2] == pytest.approx(float(by[2]["mu"]), rel=1e-3)
