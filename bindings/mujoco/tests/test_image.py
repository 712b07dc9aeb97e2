"""What the taxels show: a patch, with signs, in the sensor's frame."""

import mujoco
import numpy as np
import pytest

TAXELS = 1600
RADIUS, PITCH, K = 0.012, 1e-3, 20.0


def parts(data):
    """normal (40, 40), force (3, 40, 40), outside (3,), wrench (6,)."""
    numbers = data.sensordata
    normal, force = numbers[:TAXELS].reshape(40, 40), numbers[TAXELS : 4 * TAXELS].reshape(3, 40, 40)
    return normal, force, numbers[4 * TAXELS : 4 * TAXELS + 3], numbers[4 * TAXELS + 3 :]


def test_a_ball_lights_its_patch(example, load):
    """A texel at distance ρ from the middle is √(R² − ρ²) − (R − d) deep: exactly those inside the circle are lit."""
    model, data = load(example("ball"))
    assert model.nsensordata == 4 * TAXELS + 9
    depth = 1e-3
    data.joint("z").qpos = -depth
    mujoco.mj_forward(model, data)
    normal, force, outside, wrench = parts(data)
    middles = (np.arange(40) + 0.5 - 20) * PITCH
    x, y = np.meshgrid(middles, -middles)
    rise = np.sqrt(np.maximum(RADIUS**2 - x**2 - y**2, 0))
    deep = np.maximum(rise - (RADIUS - depth), 0)
    # The force along the contact normal is k d / cos, so its part along z is k d.
    assert np.allclose(normal, K * deep, rtol=1e-9, atol=1e-12)
    assert (normal > 0).sum() == (deep > 0).sum() > 60
    assert np.allclose(force.sum(axis=(1, 2)) + outside, wrench[:3], rtol=0, atol=1e-12)


def test_touch_grid_lights_one_taxel(load):
    """What MuJoCo's own grid shows of the same press: a contact is a point."""
    text = """<mujoco><extension><plugin plugin="mujoco.sensor.touch_grid"/></extension><option gravity="0 0 0"/>
      <worldbody><geom type="box" size=".02 .02 .002" pos="0 0 -.002"/><body><site name="pad" pos="0 0 -.02" euler="180 0 0"/>
      <geom type="box" size=".02 .02 .002" pos="0 0 -.002"/></body>
      <body pos="0 0 .011"><freejoint/><geom type="sphere" size=".012"/></body></worldbody>
      <sensor><plugin plugin="mujoco.sensor.touch_grid" objtype="site" objname="pad">
      <config key="size" value="40 40"/><config key="fov" value="45 45"/><config key="gamma" value="0"/>
      <config key="nchannel" value="1"/></plugin></sensor></mujoco>"""
    model, data = load(text)
    mujoco.mj_forward(model, data)
    assert (data.sensordata != 0).sum() == 1


@pytest.mark.parametrize("direction", [(1, 0), (-1, 0), (0, 1), (0, -1)])
def test_shear_has_a_sign_and_the_sensors_frame(example, load, direction):
    """The object drags the skin along: the force on the sensor has the direction of the object's velocity. The site is turned by
    30° about its normal, so that a frame that is mixed up shows."""
    turned = ('<site name="pad" size=".001"/>', '<site name="pad" size=".001" euler="0 0 30"/>')
    model, data = load(example("ball", turned))
    data.joint("z").qpos = -1e-3
    data.joint("x").qvel, data.joint("y").qvel = 1e-2 * np.array(direction)
    for _ in range(50):
        mujoco.mj_step(model, data)
    _, force, outside, wrench = parts(data)
    shear_in_world = data.site("pad").xmat.reshape(3, 3) @ wrench[:3]
    along = shear_in_world[:2] @ direction
    across = shear_in_world[:2] @ (-direction[1], direction[0])
    assert along > 1e-3
    assert abs(across) < 1e-2 * along
    lit = force[2] != 0
    in_world = np.tensordot(data.site("pad").xmat.reshape(3, 3), force, axes=1)
    mean = in_world[:2][:, lit].mean(axis=1)
    assert mean @ direction > 0
    assert np.allclose(force.sum(axis=(1, 2)) + outside, wrench[:3], rtol=0, atol=1e-12)


def test_a_coupled_pair_pushes_back_and_forth(example, load):
    """Action and reaction: finger and ball both float, turned and moving, and the forces on them cancel, about any point."""
    text = example(
        "ball",
        ('<body name="finger">', '<body name="finger" pos=".3 .2 .1" euler="20 30 40"><freejoint/>'),
        ('contype="0" conaffinity="0"', 'contype="0" conaffinity="0" mass="2"'),
        ('value="sense"', 'value="couple"'),
        ('<joint name="x" type="slide" axis="1 0 0"/>', "<freejoint/>"),
        ('<joint name="y" type="slide" axis="0 1 0"/>', ""),
        ('<joint name="z" type="slide" axis="0 0 1"/>', ""),
    )
    model, data = load(text)
    mujoco.mj_forward(model, data)
    data.qpos[7:10] = data.site("pad").xpos + data.site("pad").xmat.reshape(3, 3) @ [1e-3, 2e-3, 0.0112]
    data.qvel[:] = np.random.default_rng(1).normal(size=12) * 0.01
    for _ in range(20):
        mujoco.mj_forward(model, data)
        force, torque = np.zeros(3), np.zeros(3)
        for body, first in (("finger", 0), ("ball", 6)):
            push = data.qfrc_passive[first : first + 3]
            force += push
            torque += data.body(body).xmat.reshape(3, 3) @ data.qfrc_passive[first + 3 : first + 6]
            torque += np.cross(data.body(body).xpos, push)
        size = np.linalg.norm(data.qfrc_passive[:3])
        assert size > 0.1
        assert np.abs(force).max() < 1e-13 * size and np.abs(torque).max() < 1e-13 * size
        wrench = parts(data)[3]
        in_world = data.site("pad").xmat.reshape(3, 3) @ wrench[:3]
        assert np.allclose(in_world, data.qfrc_passive[:3], rtol=0, atol=1e-12 * size)
        mujoco.mj_step(model, data)


@pytest.mark.parametrize(
    "geom",
    [
        'type="sphere" size=".012"',
        'type="ellipsoid" size=".012 .012 .012"',
        'type="capsule" size=".012 .005" euler="0 90 0"',
        'type="cylinder" size=".012 .015" euler="0 90 0"',
        'type="box" size=".01 .01 .012"',
        'type="mesh" mesh="brick"',
        'type="hfield" hfield="brick" pos="0 0 -.012" euler="180 0 0"',
    ],
)
def test_every_kind_of_geom_is_felt(example, load, geom):
    """Each has its lowest point 12 mm under its middle (the height field is flat and hangs upside down); at 1 mm of depth the texel there holds at least k · 0.97 mm, and the box, the
    mesh and the height field, all of 20 × 20 mm, hold 400 k d."""
    corners = " ".join(f"{x} {y} {z}" for x in (-0.01, 0.01) for y in (-0.01, 0.01) for z in (-0.012, 0.012))
    assets = f"""<asset><mesh name="brick" vertex="{corners}"/>
      <hfield name="brick" nrow="3" ncol="3" size=".01 .01 .01 .024"/></asset><worldbody>"""
    replaced = [('type="sphere" size=".012"', geom), ("<worldbody>", assets)]
    model, data = load(example("ball", *replaced))
    data.joint("z").qpos = -1e-3
    mujoco.mj_forward(model, data)
    normal, force, outside, wrench = parts(data)
    assert normal.max() > K * 0.97e-3
    if any(kind in geom for kind in ("box", "mesh", "hfield")):
        assert normal.sum() == pytest.approx(400 * K * 1e-3, rel=1e-6)
    assert np.allclose(force.sum(axis=(1, 2)) + outside, wrench[:3], rtol=0, atol=1e-12)


def test_a_plane_is_felt(example, load):
    """A finger that is pressed on the ground feels it everywhere."""
    text = example("ball", ('<body name="finger">', '<geom name="ground" type="plane" size="1 1 .1" pos="0 0 0" euler="180 0 0"/>'
                            '<body name="finger"><joint name="down" type="slide" axis="0 0 1"/>'),
                   ('conaffinity="0"', 'conaffinity="0" mass="1"'))
    model, data = load(text)
    data.joint("down").qpos = 0.5e-3
    data.joint("z").qpos = 0.1
    mujoco.mj_forward(model, data)
    normal = parts(data)[0]
    assert np.allclose(normal, K * 0.5e-3, rtol=1e-9)


def test_the_response_is_reported(example, load):
    model, data = load(example("weights", ('key="output" value="normal"', 'key="output" value="reported raw normal"')))
    for _ in range(2_000):
        mujoco.mj_step(model, data)
    reported, raw, normal = data.sensordata.reshape(3, 84)
    assert np.allclose(reported, normal, rtol=0, atol=0.02 * normal.max())
    assert (raw == np.round(raw)).all() and raw.max() > 0


@pytest.mark.parametrize("preset", ["shadow-fingertip"])
def test_other_skins_are_felt_too(example, load, preset):
    """A fingertip with a pressure field: the taxels and what is outside add up to the load."""
    text = example("ball")
    start, end = text.index('      <config key="parameters"'), text.index('      <config key="mode"')
    preset = f'      <config key="preset" value="{preset}"/>\n'
    model, data = load(text[:start] + preset + text[end:])
    taxels = (model.nsensordata - 9) // 4
    data.joint("z").qpos = -1e-3
    mujoco.mj_forward(model, data)
    numbers = data.sensordata
    force, outside, wrench = numbers[taxels : 4 * taxels].reshape(3, -1), numbers[4 * taxels :][:3], numbers[-6:]
    assert wrench[2] < -1e-3
    assert np.allclose(force.sum(axis=1) + outside, wrench[:3], rtol=0, atol=1e-9 * -wrench[2])
