"""Sensors in Newton, on the device that Warp prefers: a GPU if there is one."""

import numpy as np
import pytest
from plate import PLATE

import dermis

newton, wp = pytest.importorskip("newton"), pytest.importorskip("warp")

from dermis import newton as dermis_newton  # noqa: E402  (needs Newton)

RADIUS, DT = 10e-3, 1e-3


def at(x, y, z, *quaternion):
    return wp.transform((x, y, z), wp.quat(*quaternion) if quaternion else wp.quat_identity())


def add_ball(world, pose, center=0.0, label="ball"):
    """A ball of 50 g, whose body has its origin at -center along x."""
    body = world.add_body(xform=pose)
    config = newton.ModelBuilder.ShapeConfig(density=0.05 / (4 / 3 * np.pi * RADIUS**3))
    world.add_shape_sphere(body, xform=at(center, 0, 0), radius=RADIUS, cfg=config, label=label)
    return body


def finalized(world, count, **arguments):
    builder = newton.ModelBuilder()
    builder.replicate(world, count, **arguments)
    return builder.finalize()


def test_a_ball_at_rest_reads_its_weight():
    """The contact of Newton is gone, or it would carry the ball. Worlds have places of their own; the ball is at z = 0, where float32 is fine."""
    world = newton.ModelBuilder()
    world.add_shape_box(-1, xform=at(0, 0, -RADIUS - 5e-3), hx=0.02, hy=0.02, hz=5e-3, label="plate")
    world.add_site(-1, xform=at(0, 0, -RADIUS), label="pad")
    add_ball(world, at(1e-3, 2e-3, -1e-4))
    model = finalized(world, 3, spacing=(0.1, 0, 0), label_prefixes=["a", "b", "c"])
    touch = dermis_newton.attach(model, dermis.Sensor.parse(PLATE), site="pad", object="ball", dtype="float64")
    assert len(model.shape_contact_pairs) == 0 and len(model.shape_collision_filter_pairs) == 3 * 2
    solver, pipeline = newton.solvers.SolverSemiImplicit(model), newton.CollisionPipeline(model)
    before, after, contacts = model.state(), model.state(), pipeline.contacts()
    for _ in range(3000):
        before.clear_forces()
        touch.step(before, DT)
        pipeline.collide(before, contacts)
        solver.step(before, after, None, contacts, DT)
        before, after = after, before
    touch.check()
    weight = -model.body_mass.numpy() * model.gravity.numpy()[:3, 2]
    np.testing.assert_allclose(touch.taxels.numpy().sum(axis=1), weight, rtol=1e-6)
    np.testing.assert_allclose(touch.wrench.numpy()[:, 2], -weight, rtol=1e-6)
    touch.reset(np.array([0, 1, 0], dtype=np.uint8))


def moving():
    """A plate and a ball, both free, rotated, moving and with centers of mass away from their origins."""
    world = newton.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    plate = world.add_body(xform=at(0.3, 0.1, 0.2, 0.0, 0.6, 0.0, 0.8))
    world.add_shape_box(plate, xform=at(0.01, 0, -5e-3), hx=0.02, hy=0.02, hz=5e-3, label="plate")
    world.add_site(plate, xform=at(0.01, 0, 0), label="pad")
    in_plate = wp.transform_multiply(at(0.3, 0.1, 0.2, 0.0, 0.6, 0.0, 0.8), at(0.011 - 0.03, 2e-3, RADIUS - 1e-3))
    add_ball(world, in_plate, center=0.03)
    model = finalized(world, 2)
    state = model.state()
    twists = np.array([[0.1, -0.2, 0.05, 0.3, 1.0, -0.4], [0.0, 0.1, -0.1, 2.0, -1.0, 0.5]] * 2, dtype=np.float32)
    state.body_qd.assign(twists)
    return model, state, twists.astype(float)


def test_loads_act_at_the_centers_of_mass():
    model, state, twists = moving()
    touch = dermis_newton.attach(model, dermis.Sensor.parse(PLATE), site="pad", object="ball", dtype="float64")
    state.clear_forces()
    touch.step(state, DT)
    poses, loads = state.body_q.numpy().astype(float), state.body_f.numpy().astype(float)
    rotations = [np.array(wp.quat_to_matrix(wp.quat(*pose[3:].tolist()))).reshape(3, 3) for pose in poses]
    centers = np.array([pose[:3] + rotation @ com for pose, rotation, com in zip(poses, rotations, model.body_com.numpy(), strict=True)])
    assert np.abs(model.body_com.numpy()).max(axis=1).min() > 5e-3
    size = np.linalg.norm(loads[1, :3])
    assert size > 0.5
    for plate, ball in ((0, 1), (2, 3)):
        # Force and torque about the world's origin are opposite.
        moment = loads[:, 3:] + np.cross(centers, loads[:, :3])
        np.testing.assert_allclose(loads[plate, :3] + loads[ball, :3], 0, atol=1e-6 * size)
        np.testing.assert_allclose(moment[plate] + moment[ball], 0, atol=1e-7 * size)
        # A single sensor in the same relative motion.
        rotation, skin = rotations[plate], poses[plate, :3] + rotations[plate] @ [0.01, 0, 0]
        middle = poses[ball, :3] + rotations[ball] @ [0.03, 0, 0]
        speed = twists[ball, :3] + np.cross(twists[ball, 3:], middle - centers[ball])
        speed -= twists[plate, :3] + np.cross(twists[plate, 3:], middle - centers[plate])
        relative = np.concatenate([rotation.T @ speed, rotation.T @ (twists[ball, 3:] - twists[plate, 3:])])
        sphere = dermis.Object.sphere(radius=RADIUS)
        single = dermis.Sensor.parse(PLATE).step([(sphere, rotation.T @ (middle - skin), relative)], dt=DT).wrench
        np.testing.assert_allclose(touch.wrench.numpy()[plate // 2], single, rtol=1e-4, atol=1e-7)
        np.testing.assert_allclose(loads[plate, :3], rotation @ single[:3], rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(
            loads[plate, 3:], rotation @ single[3:] + np.cross(skin - centers[plate], rotation @ single[:3]), rtol=1e-4, atol=1e-6
        )
    # The solver takes them there, and the momentum is conserved.
    mass, inertia = model.body_mass.numpy().astype(float), model.body_inertia.numpy().astype(float)
    after = model.state()
    newton.solvers.SolverSemiImplicit(model, angular_damping=0.0).step(state, after, None, None, DT)
    change = after.body_qd.numpy().astype(float) - twists
    np.testing.assert_allclose(change[:, :3] * mass[:, None], loads[:, :3] * DT, rtol=1e-3)
    np.testing.assert_allclose((change[:, :3] * mass[:, None]).reshape(2, 2, 3).sum(axis=1), 0, atol=1e-5 * size * DT)
    for plate in (0, 2):
        own, spin = rotations[plate] @ inertia[plate] @ rotations[plate].T, twists[plate, 3:]
        rate = own @ change[plate, 3:] / DT + np.cross(spin, own @ spin)
        np.testing.assert_allclose(rate, loads[plate, 3:], atol=1e-3 * np.abs(loads[plate, 3:]).max())


def test_sensing_changes_nothing():
    model, state, _ = moving()
    pairs = model.shape_contact_pairs.numpy()
    touch = dermis_newton.attach(model, dermis.Sensor.parse(PLATE), site="pad", object="ball", mode="sense", response=True)
    touch.step(state, DT)
    assert np.array_equal(model.shape_contact_pairs.numpy(), pairs) and len(pairs)
    assert not state.body_f.numpy().any() and (touch.taxels.numpy().sum(axis=1) > 0.5).all()
    assert touch.reported.numpy().shape == (2, 100)


def test_what_does_not_fit_is_refused():
    model, _, _ = moving()
    sensor = dermis.Sensor.parse(PLATE)
    for words, arguments in (
        ("`mode` must be", {"mode": "feel"}),
        ("`site` 'pat': no shape of the model has this label", {"site": "pat"}),
        ("are on the same body", {"object": "plate"}),
        ("`dtype` must be", {"dtype": "float16"}),
    ):
        with pytest.raises(dermis.Error, match=words):
            dermis_newton.attach(model, sensor, **({"site": "pad", "object": "ball"} | arguments))
    other = newton.ModelBuilder()
    for radius in (RADIUS, 2 * RADIUS):
        other.begin_world()
        other.add_site(-1, label="pad")
        other.add_shape_sphere(other.add_body(), radius=radius, label="ball")
        other.end_world()
    with pytest.raises(dermis.Error, match="its shape differs between worlds"):
        dermis_newton.attach(other.finalize(), sensor, site="pad", object="ball")
    other.begin_world()
    other.add_site(-1, label="pad")
    other.end_world()
    with pytest.raises(dermis.Error, match="2 shapes of the model have this label, and each of its 3 worlds needs one"):
        dermis_newton.attach(other.finalize(), sensor, site="pad", object="ball")
