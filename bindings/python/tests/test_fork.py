"""Processes made by fork: a child waits neither for threads nor for locks of its parent."""

import os
import pickle
import select
import signal
import subprocess
import sys

import numpy as np
import pytest

import dermis

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]
# A test fails after this time (s), and its child ends.
LIMIT = 60
BALL = dermis.Object.sphere(radius=10e-3)
# More than 1,024 contact points under the object: they are computed in parallel.
FINE = dermis.Sensor.preset("uji-foam-14x6", parameters={"contact_points": 36})
GEL = {"surface": {"grid": {"rows": 4, "cols": 4}}, "skin": {"size": ["4 mm", "4 mm"], "thickness": "2 mm", "cell": "0.5 mm"}}
SCENE = """
[world]
duration = "20 ms"
time_step = "1 ms"
[[body]]
name = "cube"
motion = "free"
mass = "100 g"
shape.cuboid.size = ["20 mm", "40 mm", "20 mm"]
at = ["0 mm", "0 mm", "10 mm"]
[[sensor]]
name = "pad"
preset = "uji-foam-14x6"
"""
MODEL = """<mujoco><option timestep="2e-3"/><worldbody><body name="finger"><geom name="finger" type="box" size=".015 .045 .007" pos="0 0 -.0072"/>
  <site name="pad"/></body><body name="cube" pos="0 0 .03"><freejoint/><geom name="cube" type="box" size=".03 .05 .03" mass="1"/></body></worldbody></mujoco>"""


def in_fork(work):
    """The result of work in a forked process."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(LIMIT)
        try:
            result = ("done", work())
        except BaseException as error:
            result = ("raised", repr(error))
        with os.fdopen(write, "wb") as out:
            pickle.dump(result, out)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as got:
        select.select([got], [], [], LIMIT + 10)
        sent = got.read()
    os.waitpid(child, 0)
    assert sent, "the child waits for ever"
    outcome, value = pickle.loads(sent)
    assert outcome == "done", value
    return value


def gel():
    return dermis.Sensor.preset("digit", parameters={"skin": {"kind": "gel"}}).with_parameters(GEL)


def press(preset, **changes):
    return lambda: dermis.Sensor.preset(preset, **changes).press(BALL, depth=0.5e-3).force


def coupled(mode):
    def work():
        mujoco = pytest.importorskip("mujoco")
        import dermis.mujoco

        model = mujoco.MjModel.from_xml_string(MODEL)
        data = mujoco.MjData(model)
        pad = dermis.mujoco.attach(model, data, FINE, site="pad", mode=mode)
        mujoco.mj_step(model, data, 20)
        force = pad.read().force
        pad.detach()
        return force

    return work


def environments():
    environments = FINE.environments(BALL, 8, device="cpu")
    poses, taxels = np.tile([0, 0, 9e-3, 0, 0, 0, 1.0], (8, 1)), np.zeros((8, 84))
    environments.bind(dt=1e-3, pose=poses, quaternion="xyzw", taxels=taxels)
    environments.launch()
    return taxels


def slide():
    twists = np.zeros((5, 6))
    twists[:, 0] = 0.01
    poses = np.array([[0, 0, 9e-3]] * 5) + np.arange(5)[:, None] * [1e-5, 0, 0]
    return FINE.vjp_path(BALL, poses, twists, {"force": np.ones((5, 3))}, dt=1e-3)["position"]


# What computes in parallel, by name.
WORK = {
    "press": lambda: FINE.press(BALL, depth=1e-3).force,
    "step": lambda: FINE.step(dermis.Object.box(size=(0.03, 0.05, 0.03)), pose=[0, 0, 0.014], dt=1e-3).force,
    "batch": lambda: FINE.press_batch(BALL, depth=1e-3, at=np.zeros((8, 2))).taxels,
    "gradients": lambda: FINE.vjp(BALL, [[0, 0, 9e-3]] * 4, {"force": np.ones((4, 3))})["position"],
    "path gradients": slide,
    "images": lambda: dermis.Sensor.preset("gelsight").press_batch(BALL, depth=0.3e-3, at=np.zeros((2, 2))).image,
    "layer": press("wts0614-layer"),
    "hydroelastic": press("wts0614", skin="hydroelastic"),
    "gel at rest": lambda: gel().press(dermis.Object.sphere(radius=2e-3), depth=0.1e-3).force,
    "gel in motion": lambda: gel().step(dermis.Object.sphere(radius=2e-3), pose=[0, 0, 1.9e-3], dt=1e-4).force,
    "environments": environments,
    "world": lambda: dermis.World.parse(SCENE).run().force("pad"),
    "attach, couple": coupled("couple"),
    "attach, sense": coupled("sense"),
    "attach, contacts": coupled("contacts"),
}


@pytest.mark.parametrize("name", WORK)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_work_in_a_forked_process_does_not_wait_for_threads_of_its_parent(name):
    """Also in a child of the child."""
    here = np.asarray(WORK[name]())
    assert np.array_equal(in_fork(WORK[name]), here)
    if name == "batch":
        assert np.array_equal(in_fork(lambda: in_fork(WORK[name])), here)


ASYNC = '''
import gymnasium, mujoco, numpy, dermis, dermis.gym

MODEL = """{model}"""

class Env(gymnasium.Env):
    def __init__(self):
        self.model = mujoco.MjModel.from_xml_string(MODEL)
        self.data = mujoco.MjData(self.model)
        self.observation_space = gymnasium.spaces.Box(-10, 10, (7,), numpy.float32)
        self.action_space = gymnasium.spaces.Box(-1, 1, (1,), numpy.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        mujoco.mj_resetData(self.model, self.data)
        mujoco.mj_forward(self.model, self.data)
        return self.data.qpos.astype(numpy.float32), {{}}

    def step(self, action):
        mujoco.mj_step(self.model, self.data, nstep=400)
        return self.data.qpos.astype(numpy.float32), 0.0, False, False, {{}}

def make():
    sensor = dermis.Sensor.preset("uji-foam-14x6", parameters={{"contact_points": 36}})
    return dermis.gym.TactileObservation(Env(), {{"sensor": sensor, "site": "pad", "mode": "couple"}})

if __name__ == "__main__":
    make().reset(seed=1)
    envs = gymnasium.vector.AsyncVectorEnv([make] * 2)
    envs.reset(seed=1)
    observation, *_ = envs.step(numpy.zeros((2, 1), numpy.float32))
    print(*observation["tactile"].sum(axis=(1, 2)))
    envs.close()
'''


def test_async_vector_env_with_a_coupled_sensor_does_not_hang(tmp_path):
    """With Gymnasium's default context, fork on Linux; the parent has coupled a sensor before."""
    pytest.importorskip("gymnasium")
    pytest.importorskip("mujoco")
    script = tmp_path / "envs.py"
    script.write_text(ASYNC.format(model=MODEL))
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=2 * LIMIT)
    assert run.returncode == 0, run.stderr
    assert [float(force) for force in run.stdout.split()] == pytest.approx([9.81, 9.81], rel=1e-2)
