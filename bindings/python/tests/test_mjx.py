"""Sensors in MJX, on JAX's CPU device."""

import numpy as np
import pytest
from plate import ROUGH_PLATE

import dermis

jax, mujoco = pytest.importorskip("jax"), pytest.importorskip("mujoco")
mjx = pytest.importorskip("mujoco.mjx")

from dermis import mjx as dermis_mjx  # noqa: E402  (needs JAX)

RADIUS, MASS, GRAVITY = 10e-3, 0.05, 9.81


def scene(exclude=True):
    """A ball on a plate; the ball is at z = 0, where float32 is fine."""
    pair = '<contact><exclude body1="world" body2="ball"/></contact>' if exclude else ""
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="0.001" gravity="0 0 -{GRAVITY}"/><worldbody>
        <geom name="plate" type="box" size=".02 .02 .005" pos="0 0 {-RADIUS - 5e-3}"/><site name="pad" pos="0 0 {-RADIUS}"/>
        <body name="ball" pos=".001 .002 -.0001"><freejoint/><geom name="ball" size="{RADIUS}" mass="{MASS}"/></body>
        </worldbody>{pair}</mujoco>"""
    )


def attached(count, **arguments):
    model = scene(arguments.get("mode", "couple") == "couple")
    touch = dermis_mjx.attach(model, dermis.Sensor.parse(ROUGH_PLATE), count, site="pad", object="ball", device="cpu", **arguments)
    m = mjx.put_model(model, impl="jax")
    return touch, m, jax.vmap(lambda _: mjx.make_data(m))(np.arange(count))


def stepper(touch, m):
    def step(d, felt):
        d, felt = touch(m, d, felt)
        return mjx.step(m, d), felt

    return step


def test_a_ball_at_rest_reads_its_weight():
    touch, m, d = attached(2)
    step = jax.vmap(stepper(touch, m))
    steps = jax.jit(lambda d, felt: jax.lax.scan(lambda carry, _: (step(*carry), None), (d, felt), length=2000)[0])
    _, felt = steps(d, touch.start())
    jax.block_until_ready(felt)
    touch.check()
    assert felt.steps.tolist() == [2000, 2000]
    np.testing.assert_allclose(np.asarray(felt.taxels, dtype=float).sum(axis=1), MASS * GRAVITY, rtol=1e-5)
    np.testing.assert_allclose(np.asarray(felt.wrench)[:, 2], -MASS * GRAVITY, rtol=1e-5)


def test_steps_are_those_of_single_sensors_and_zero_starts_again():
    """Worlds differ in speed. World 1 starts again after three steps: its bristles are as new, and those of world 0 go on."""
    touch, m, d = attached(2, mode="sense", response=True)
    d = d.replace(qvel=d.qvel.at[:, 0].set(jax.numpy.array([0.05, 0.1])), qpos=d.qpos.at[:, 2].set(-1e-3))
    one = jax.jit(jax.vmap(lambda d, felt: touch(m, d, felt)))
    felt, ball = touch.start(), dermis.Object.sphere(radius=RADIUS)
    singles = [dermis.Sensor.parse(ROUGH_PLATE) for _ in range(2)]
    for k in range(6):
        if k == 3:
            felt = felt._replace(steps=jax.numpy.where(jax.numpy.arange(2) == 1, 0, felt.steps))
            singles[1].reset()
        kept, felt = one(d, felt)
        assert not np.asarray(kept.xfrc_applied).any()
        for i, single in enumerate(singles):
            pose, twist = [1e-3, 2e-3, RADIUS - 1e-3], [[0.05, 0.1][i], 0, 0, 0, 0, 0]
            reading = single.step([(ball, np.array(pose), np.array(twist, dtype=float))], dt=1e-3)
            np.testing.assert_allclose(np.asarray(felt.wrench)[i], reading.wrench, rtol=2e-4, atol=1e-6)
            np.testing.assert_allclose(np.asarray(felt.reported)[i], reading.reported.ravel(), atol=1e-5)
    touch.check()
    assert felt.steps.tolist() == [6, 3] and np.abs(np.asarray(felt.wrench)[0, 0]) > 0.05


def test_a_state_that_is_used_twice_is_found():
    touch, m, d = attached(2)
    step = jax.jit(jax.vmap(stepper(touch, m)))
    d, felt = step(d, touch.start())
    jax.block_until_ready(step(d, felt))
    touch.check()
    jax.block_until_ready(step(d, felt))
    with pytest.raises(dermis.Error, match=r"environment 0 \(1 others have faults too\): its number of steps is not that of its history"):
        touch.check()
    jax.block_until_ready(step(d, touch.start()))
    touch.check()


def test_loads_go_to_both_bodies_at_their_centers_of_mass():
    """Force and moment about the origin are opposite, and a second sensor adds to the first."""
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><option gravity="0 0 0"/><worldbody>
        <body name="hand" pos=".3 .1 .2" quat=".8 0 .6 0"><freejoint/><geom size=".004" pos=".02 0 -.02" mass=".2"/><site name="pad"/></body>
        <body name="ball" pos=".3086 .1 .2025"><freejoint/><geom name="ball" size=".01" mass=".05"/></body>
        </worldbody><contact><exclude body1="hand" body2="ball"/></contact></mujoco>"""
    )
    m = mjx.put_model(model, impl="jax")
    first, second = (
        dermis_mjx.attach(model, dermis.Sensor.parse(ROUGH_PLATE), 1, site="pad", object="ball", device="cpu", add=add) for add in (False, True)
    )
    d = mjx.make_data(m)
    d = d.replace(qvel=d.qvel.at[:].set(jax.numpy.array([0.1, 0, 0, 1, 2, 3, 0, 0.1, 0, 0, 0, 5.0])))
    felt = jax.tree.map(lambda rows: rows[0], first.start())  # a single world needs no jax.vmap
    once, _ = first(m, d, felt)
    twice, _ = second(m, once, felt)
    load, arm = np.asarray(once.xfrc_applied, dtype=float), np.asarray(once.xipos, dtype=float)
    assert np.linalg.norm(load[1, :3]) > 0.1
    np.testing.assert_allclose(load[1, :3] + load[2, :3], 0, atol=1e-6)
    np.testing.assert_allclose((load[:, 3:] + np.cross(arm, load[:, :3])).sum(axis=0), 0, atol=1e-7)
    np.testing.assert_allclose(twice.xfrc_applied, 2 * load, atol=1e-6)


def test_what_has_no_meaning_is_refused():
    touch, m, d = attached(2)
    step, felt = stepper(touch, m), touch.start()
    single = jax.tree.map(lambda rows: rows[0], (d, felt))
    with pytest.raises(jax.errors.JaxRuntimeError, match="the sensor has 2 worlds: call it inside jax.vmap over all of them"):
        jax.block_until_ready(touch(m, *single))
    three = jax.tree.map(lambda rows: jax.numpy.stack([rows[0]] * 3), (d, felt))
    with pytest.raises(dermis.Error, match="the sensor has 2 worlds, and jax.vmap is over 3"):
        jax.vmap(step)(*three)
    with pytest.raises(dermis.Error, match="inside one jax.vmap, over all its worlds, and not in two"):
        jax.vmap(jax.vmap(step))(*jax.tree.map(lambda rows: rows[None], (d, felt)))
    with pytest.raises(dermis.Error, match="a sensor in time has no gradients"):
        jax.grad(lambda q: jax.vmap(lambda d, felt: touch(m, d, felt)[1].wrench.sum())(d.replace(qpos=q), felt).sum())(d.qpos)
    arguments = {"site": "pad", "object": "ball", "device": "cpu"}
    with pytest.raises(dermis.Error, match='<exclude body1="world" body2="ball"/>'):
        dermis_mjx.attach(scene(False), dermis.Sensor.parse(ROUGH_PLATE), 2, **arguments)
    with pytest.raises(dermis.Error, match="has no geom 'bal'"):
        dermis_mjx.attach(scene(), dermis.Sensor.parse(ROUGH_PLATE), 2, **(arguments | {"object": "bal"}))
