"""Forces at the end of the step: a grasp at rest at any time step and mass, without energy from nowhere and without an abort."""

import subprocess
import sys
import textwrap

import mujoco
import numpy as np
import pytest
from conftest import plugin_path

SKIN = """name = 'pad'; contact_points = 1; surface.grid = {{ rows = 8, cols = 8, pitch = '2.5 mm' }}; skin = {{ kind = 'springs', stiffness = '1000 N/m',
  damping = '{damping} N s/m', max_penetration = '4 mm', friction = {{ kind = 'lugre', sigma0 = '1000 N/m', sigma1 = '4 N s/m',
  viscous = '0.01 N s/m', mu_static = 0.6, mu_dynamic = 0.5, stribeck_speed = '0.1 m/s' }} }}"""
HYDROELASTIC = """name = 'pad'; surface.grid = {{ rows = 8, cols = 8, pitch = '2.5 mm' }}; skin = {{ kind = 'hydroelastic',
  hydroelastic_modulus = '0.6 MPa', thickness = '4 mm', dissipation = '1 s/m', friction = {{ kind = 'lugre', sigma0 = '160 MPa/m',
  sigma1 = '640 kPa s/m', viscous = '1.6 kPa s/m', mu_static = 0.6, mu_dynamic = 0.5, stribeck_speed = '0.1 m/s' }} }}"""


def pad(site, coupling, skin=SKIN, damping=1, output="wrench"):
    return f"""<plugin name="{site}" plugin="dermis.sensor" objtype="site" objname="{site}">
      <config key="parameters" value="{skin.format(damping=damping)}"/><config key="mode" value="couple"/>
      <config key="coupling" value="{coupling}"/><config key="output" value="{output}"/><config key="objects" value="cube"/></plugin>"""


def gripper(mass_kg, step_s, integrator="Euler", coupling="implicit", grip_newton=None, gap=-1e-4, skin=SKIN, more="", finger=""):
    """A cube of 20 mm in the air between two fingers that a motor closes."""
    grip = grip_newton if grip_newton is not None else 1 + 1.3 * 9.81 * mass_kg
    fingers = "".join(
        f"""<body name="{name}" pos="{side * (0.01 + gap)} 0 0"><joint name="{name}" type="slide" axis="{-side} 0 0" damping="5" {finger}/>
        <geom type="box" size=".005 .01 .01" pos="{side * 0.01} 0 0" mass=".1" contype="0" conaffinity="0"/>
        <site name="{name}" zaxis="{-side} 0 0"/></body>"""
        for name, side in (("left", -1), ("right", 1))
    )
    return f"""<mujoco><extension><plugin plugin="dermis.sensor"/></extension>
      <option timestep="{step_s}" integrator="{integrator}"/><worldbody>{fingers}
      <body name="cube"><freejoint/><geom name="cube" type="box" size=".01 .01 .01" mass="{mass_kg}"/></body></worldbody>
      <actuator><motor joint="left" ctrlrange="0 1000"/><motor joint="right" ctrlrange="0 1000"/></actuator>{more}
      <sensor>{pad("left", coupling, skin)}{pad("right", coupling, skin)}</sensor>
      <keyframe><key ctrl="{grip} {grip}"/></keyframe></mujoco>"""


def grasped(load, *arguments, **options):
    model, data = load(gripper(*arguments, **options))
    mujoco.mj_resetDataKeyframe(model, data, 0)
    return model, data


def settle(model, data, seconds):
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)


def height(data):
    return data.qpos[4]


def check_grasp(load, mass_kg, step_s, integrator, seconds, capfd=None, **options):
    """At rest after 1 s, no drift until `seconds`, the pads carry the weight. Returns drift (m) and relative error of the weight."""
    model, data = grasped(load, mass_kg, step_s, integrator, **options)
    settle(model, data, 1.0)
    speed = np.abs(data.qvel).max()
    start = data.qpos.copy()
    settle(model, data, seconds - 1.0)
    drift = np.abs(data.qpos - start)[:5].max()
    wrenches = data.sensordata.reshape(2, 6)
    frames = [data.site(name).xmat.reshape(3, 3) for name in ("left", "right")]
    up = sum((frame @ wrench[:3])[2] for frame, wrench in zip(frames, wrenches))
    error = abs(-up / (9.81 * mass_kg) - 1)
    print(f"{mass_kg} kg, {step_s} s, {integrator}: speed after 1 s {speed:.1e}, drift {drift:.1e} m, weight {error:.1e}")
    return speed, drift, error


# validation/mujoco/grasp.py holds all masses at all steps for 60 s.
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
@pytest.mark.parametrize(("mass_kg", "step_s"), [(1e-3, 2e-3), (1e-3, 5e-3), (0.1, 2e-3), (10.0, 2e-3), (10.0, 5e-3)])
def test_a_grasp_comes_to_rest_at_any_step_and_mass(load, capfd, mass_kg, step_s, integrator):
    speed, drift, error = check_grasp(load, mass_kg, step_s, integrator, 1.2)
    assert speed < 1e-5 and drift < 1e-6 and error < 1e-6
    assert "WARNING" not in "".join(capfd.readouterr())


def test_a_hydroelastic_pad_holds_too(load):
    speed, drift, error = check_grasp(load, 0.1, 2e-3, "implicitfast", 1.2, skin=HYDROELASTIC)
    assert speed < 1e-5 and drift < 1e-6 and error < 1e-6


def test_fingers_that_an_equality_joins_hold_a_heavy_cube(load):
    """The constraint blocks the fingers in one direction: their mass alone would make them seem easy to push."""
    more = '<equality><joint joint1="left" joint2="right"/></equality>'
    for mass_kg in (0.01, 10.0):
        speed, drift, error = check_grasp(load, mass_kg, 2e-3, "implicitfast", 1.5, more=more)
        assert speed < 1e-5 and drift < 1e-6 and error < 1e-6


def test_a_table_carries_what_the_pads_do_not(load):
    """A cube on MuJoCo's own table, gripped: the lagged force of the table is exact at rest."""
    table = '<worldbody><geom name="table" type="plane" size="1 1 1" pos="0 0 -.01"/></worldbody>'
    model, data = grasped(load, 0.1, 2e-3, grip_newton=2.0, more=table)
    settle(model, data, 2.0)
    start = data.qpos.copy()
    settle(model, data, 1.0)
    assert np.abs(data.qpos - start).max() < 1e-6
    wrenches = data.sensordata.reshape(2, 6)
    assert np.allclose(-wrenches[:, 2], 2.0, rtol=1e-3)


@pytest.mark.parametrize("damping", [0.0, 1.0])
@pytest.mark.parametrize("step_s", [1e-3, 5e-3])
def test_a_bounce_gains_no_energy(load, step_s, damping):
    """A ball is dropped on the pad at many phases of the step. Its greatest height after each bounce is at most the one before."""
    text = f"""<mujoco><extension><plugin plugin="dermis.sensor"/></extension><option timestep="{step_s}"/><worldbody>
      <site name="pad"/><body name="cube" pos="0 0 .012"><joint type="slide" axis="0 0 1"/>
      <geom name="cube" type="box" size=".01 .01 .01" mass="MASS"/></body></worldbody>
      <sensor>{pad("pad", "implicit", damping=damping)}</sensor></mujoco>"""
    for mass_kg in (1e-3, 0.05, 1.0):
        model, data = load(text.replace("MASS", str(mass_kg)))
        for phase in (0.0, 0.3, 0.7):
            mujoco.mj_resetData(model, data)
            data.qpos[0] = phase * step_s * 0.2
            energies = [9.81 * (data.qpos[0] + 0.002)]
            for _ in range(round(0.3 / step_s)):
                mujoco.mj_step(model, data)
                if data.sensordata[2] == 0:
                    energies.append(9.81 * (data.qpos[0] + 0.002) + 0.5 * data.qvel[0] ** 2)
            # Semi-implicit Euler of free fall has an energy error of g v h / 2.
            slack = 9.81 * step_s * np.sqrt(2 * energies[0])
            assert max(energies) <= energies[0] * (1 + 1e-3) + slack, (mass_kg, phase)


def test_the_peak_of_a_grasp_is_that_of_small_explicit_steps(load):
    """Fingers that close at 0.2 m/s on a cube: peak force at 1 ms against explicit coupling at 0.05 ms."""

    def peak(step_s, coupling):
        model, data = grasped(load, 0.1, step_s, "Euler", coupling, grip_newton=2.0, gap=0.001)
        model.opt.gravity[:] = 0
        data.qvel[:2] = 0.2
        highest = 0.0
        for _ in range(round(0.3 / step_s)):
            mujoco.mj_step(model, data)
            highest = max(highest, -data.sensordata[2])
        return highest

    truth, found = peak(5e-5, "explicit"), peak(1e-3, "implicit")
    print(f"peak {found:.4f} N, explicit at 0.05 ms {truth:.4f} N: {found / truth - 1:+.4f}")
    assert abs(found / truth - 1) < 0.03


def test_a_mass_randomised_after_loading_is_seen(load):
    model, data = grasped(load, 1.0, 2e-3)
    cube = model.body("cube").id
    for factor in (1e-3, 1.1):
        mujoco.mj_resetDataKeyframe(model, data, 0)
        model.body_mass[cube], model.body_inertia[cube] = factor, 6.67e-5 * factor
        settle(model, data, 1.5)
        wrenches = data.sensordata.reshape(2, 6)
        up = sum((data.site(name).xmat.reshape(3, 3) @ w[:3])[2] for name, w in zip(("left", "right"), wrenches))
        assert abs(-up / (9.81 * factor) - 1) < 1e-6
        assert abs(height(data)) < 1e-3


def test_no_step_is_refused(load):
    model, data = grasped(load, 0.02, 2e-2)
    settle(model, data, 1.0)
    assert np.isfinite(data.qpos).all() and np.isfinite(data.sensordata).all()
    with pytest.raises((ValueError, mujoco.FatalError), match="set coupling to"):
        load(gripper(0.02, 2e-2, coupling="explicit"))


def test_the_recommended_step_is_stable(load):
    """What the refusal of an explicit step recommends must then run."""
    with pytest.raises((ValueError, mujoco.FatalError)) as refused:
        load(gripper(0.1, 5e-3, coupling="explicit"))
    recommended = float(str(refused.value).split('timestep="')[1].split('"')[0])
    model, data = grasped(load, 0.1, recommended, "Euler", "explicit")
    settle(model, data, 0.5)
    assert np.isfinite(data.qpos).all() and -data.sensordata.reshape(2, 6)[0, 2] > 1


INVALID = """
import mujoco, mujoco.rollout, numpy as np, sys
mujoco.mj_loadPluginLibrary({library!r})
text = open({model!r}).read()
model = mujoco.MjModel.from_xml_string(text)
data = [mujoco.MjData(model) for _ in range(2)]
model.opt.timestep = 5e-3
states = []
for d in data:
    d.qpos[2] = 0.5e-3
    mujoco.mj_forward(model, d)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, d, state, kind)
    states.append(state)
_, sensed = mujoco.rollout.rollout(model, data, np.array(states), nstep=50)
print(np.isfinite(sensed).all(), sensed[:, -1, -1].tolist())
"""


def test_a_step_that_cannot_be_made_is_invalid_and_ends_no_rollout(load, tmp_path):
    """Explicit coupling at a step that was made too long after loading, in a rollout with threads."""
    text = f"""<mujoco><extension><plugin plugin="dermis.sensor"/></extension><option timestep="4e-5"/><worldbody><site name="pad"/>
      <body name="cube" pos="0 0 .009"><freejoint/><geom name="cube" type="box" size=".01 .01 .01" mass=".02"/></body></worldbody>
      <sensor>{pad("pad", "explicit", output="normal valid")}</sensor></mujoco>"""
    path = tmp_path / "model.xml"
    path.write_text(text)
    code = textwrap.dedent(INVALID.format(library=str(plugin_path()), model=str(path)))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("True")  # older versions print warnings before
    assert "the reading is invalid" in done.stderr + (tmp_path / "MUJOCO_LOG.TXT").read_text()
