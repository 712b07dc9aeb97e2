#!/usr/bin/env python3
"""Environments with touch in processes: environments.py KIND CONTEXT PARENT.

Prints the SHA-256 of what two environments observe. CONTEXT is fork, forkserver or spawn, or "one" for one process. With PARENT
"used", the process that makes the others has stepped the same sensors before.
"""

import copy
import functools
import hashlib
import sys

import gymnasium
import mujoco
import numpy as np

import dermis
import dermis.gym

MODEL = """<mujoco><option timestep="2e-3"/><worldbody><body name="finger"><geom name="finger" type="box" size=".015 .045 .007" pos="0 0 -.0072"/>
  <site name="pad"/></body><body name="ball" pos="0 0 .0098"><freejoint/><geom name="ball" size=".01" mass=".1"/></body></worldbody></mujoco>"""
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
    """A body on a sensor in a world of dermis; every episode starts with a copy of the same world."""

    def __init__(self, part, **sensor):
        self.part, self.start = part, dermis.World(time_step=1e-3)
        pad, cube = dermis.Sensor.preset(**sensor), dermis.Object.box(size=(0.02, 0.04, 0.02))
        self.start.add_body("table")
        self.start.mount("pad", pad, body="table")
        ball = dermis.Object.sphere(radius=4e-3)
        body, height = (ball, 3.9e-3) if part == "image" else (cube, 10e-3)
        self.start.add_body("object", body, motion="free", mass=0.1, pose=[0, 0, height])
        shape = pad.image_shape if part == "image" else (14, 6)
        self.observation_space = gymnasium.spaces.Dict({"tactile": gymnasium.spaces.Box(-300, 300, shape, np.float32)})
        self.action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.world = copy.deepcopy(self.start)
        # There is an image from the first step on.
        self.world.step()
        return self.observe(), {}

    def observe(self):
        return {"tactile": getattr(self.world.reading("pad"), self.part).astype(np.float32)}

    def step(self, action):
        self.world.step(20)
        return self.observe(), 0.0, False, False, {}


def make(kind):
    """An environment."""
    if kind == "world":
        return Cube("taxels", name="uji-foam-14x6")
    if kind == "world image":
        return Cube("image", name="gelsight", parameters={"skin.cell": "0.5 mm"})
    if kind == "edge":
        return gymnasium.make("dermis/EdgeFollow-v0")
    return dermis.gym.TactileObservation(Ball(), SPECS[kind])


def observed(envs):
    """The tactile observations of a few steps, as SHA-256."""
    envs.reset(seed=1)
    action = np.zeros(envs.action_space.shape, np.float32)
    seen = [np.array(envs.step(action)[0]["tactile"]) for _ in range(5)]
    envs.close()
    if not seen[-1].any():
        sys.exit("no contact")
    return hashlib.sha256(b"".join(image.tobytes() for image in seen)).hexdigest()


def main():
    kind, context, parent = sys.argv[1:]
    makers = [functools.partial(make, kind)] * 2
    if context == "one" or parent == "used":
        digest = observed(gymnasium.vector.SyncVectorEnv(makers))
    if context != "one":
        digest = observed(gymnasium.vector.AsyncVectorEnv(makers, context=context))
    print(digest)


if __name__ == "__main__":
    main()
