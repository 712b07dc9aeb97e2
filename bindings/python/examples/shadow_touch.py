"""gymnasium-robotics' Shadow hand closes on a block, with a fingertip of 12 taxels on each of its five fingers.

Needs gymnasium-robotics, MuJoCo 3.3.7, matplotlib, and MUJOCO_GL=egl or osmesa where there is no screen.
"""

import os
import pathlib

import gymnasium
import gymnasium_robotics
import matplotlib.pyplot as plt
import mujoco
import numpy as np

import dermis.gym

gymnasium.register_envs(gymnasium_robotics)
FINGERS = {"ff": "first", "mf": "middle", "rf": "ring", "lf": "little", "th": "thumb"}
# Part of each joint's range, -1 to 1: fingers bent, the thumb across.
POSTURE = {"J2": 0.6, "J1": 0.8, "THJ4": 1.0, "THJ3": 0.3, "THJ2": 1.0, "THJ1": 1.0, "THJ0": -0.6}


def on_finger(finger: str) -> dict[str, object]:
    """The skin stands 1.5 mm over the pad of a distal phalanx: along z, facing -y; the thumb faces -x and is larger."""
    pose = np.array([[1, 0, 0, 0], [0, 0, -1, -8.5e-3], [0, 1, 0, 18e-3], [0, 0, 0, 1]], float)
    if finger == "th":
        pose = np.array([[0, 0, -1, -10.7e-3], [-1, 0, 0, 0], [0, 1, 0, 21e-3], [0, 0, 0, 1]], float)
    return {"preset": "shadow-fingertip", "body": f"robot0:{finger}distal", "pose": pose, "objects": "object"}


env = dermis.gym.TactileObservation(gymnasium.make("HandManipulateBlock-v1"), {f: on_finger(f) for f in FINGERS})
env.reset(seed=1)
inner = env.unwrapped
model, data = inner.model, inner.data
names = [model.actuator(i).name.removeprefix("robot0:A_") for i in range(model.nu)]
closing = np.array([POSTURE.get(name, POSTURE.get(name[2:], 0.0)) for name in names], np.float32)
for _ in range(25):
    seen, *_ = env.step(closing)
