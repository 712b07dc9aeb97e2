#!/usr/bin/env python3
"""Compares environments in processes (fork, forkserver or spawn) with the same in one process: processes.py CONTEXT KIND."""

import functools
import sys

import gymnasium
import mujoco
import numpy as np

import dermis
import dermis.gym

MODEL = """<mujoco><option timestep="2e-3"/><worldbody><body name="finger"><geom name="finger" type="box" size=".015 .045 .007" pos="0 0 -.0072"/>
  <site name="pad"/></body><body name="ball" pos="0 0 .0098"><freejoint/><geom name="ball" size=".01" mass=".1"/></body></worldbody></mujoco>"""
SCENE = """
[world]
duration = "1 s"
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
SPECS = {
    # More than 1,024 contact points, which are computed in parallel.
    "couple": {"preset": "uji-foam-14x6", "parameters": {"contact_points": 36}, "site": "pad", "mode": "couple"},
    "contacts": {"preset": "uji-foam-14x6", "site": "pad"},
    "image": {"preset": "gelsight", "site": "pad", "mode": "couple", "output": "image"},
}


class Ball(gymnasium.Env):
    """A ball on a pad."""

    def __init__(self):
        self.model = mujoco.MjModel.from_xml_string(MODEL)
        self.data = mujoco.MjData(self.model)
        self.observation_space = gymnasium.spaces.Box(-100, 100, (7,), np.float32)
        self.action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        mujoco.mj_resetData(self.model, self.data)
        mujoco.mj_forward(self.model, self.data)
        return self.data.qpos.astype(np.float32), {}

    def step(self, action):
        mujoco.mj_step(self.model, self.data, nstep=20)
        return self.data.qpos.astype(np.float32), 0.0, False, False, {}


class Cube(gymnasium.Env):
    """A cube on a pad in a world of dermis."""

    def __init__(self):
        self.observation_space = gymnasium.spaces.Dict({"tactile": gymnasium.spaces.Box(-100, 100, (14, 6), np.float32)})
        self.action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.world = dermis.World.parse(SCENE)
        return self.observe(), {}

    def observe(self):
        return {"tactile": self.world.reading("pad").taxels.astype(np.float32)}

    def step(self, action):
        self.world.step(20)
        return self.observe(), 0.0, False, False, {}


def make(kind):
    """An environment."""
    if kind == "world":
        return Cube()
    if kind == "edge":
        return gymnasium.make("dermis/EdgeFollow-v0")
    return dermis.gym.TactileObservation(Ball(), SPECS[kind])


def touched(envs):
    """The tactile observations of a few steps."""
    envs.reset(seed=1)
    action = np.zeros(envs.action_space.shape, np.float32)
    seen = [np.array(envs.step(action)[0]["tactile"]) for _ in range(5)]
    envs.close()
    return seen


def main():
    context, kind = sys.argv[1:]
    makers = [functools.partial(make, kind)] * 2
    here = touched(gymnasium.vector.SyncVectorEnv(makers))
    there = touched(gymnasium.vector.AsyncVectorEnv(makers, context=context))
    if not all(np.array_equal(one, other) for one, other in zip(here, there, strict=True)) or not here[-1].any():
        sys.exit("other readings")


if __name__ == "__main__":
    main()
