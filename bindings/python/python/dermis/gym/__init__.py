"""Tactile sensing for Gymnasium: a wrapper for any MuJoCo environment, and two environments.

>>> import gymnasium
>>> import dermis.gym
>>> env = dermis.gym.TactileObservation(gymnasium.make("Pusher-v5"), {"preset": "fingertip", "body": "tips_arm"})
>>> observation, info = env.reset(seed=1)
>>> observation["tactile"].shape
(263,)

``EdgeFollowVector`` steps thousands of environments on a GPU, with tensors of PyTorch. The import registers ``dermis/EdgeFollow-v0`` and ``dermis/GraspLift-v0``; ``follow_edge`` and ``grasp_and_lift`` are policies that solve them.
"""

from dermis import _optional

_optional.require("dermis.gym", "gymnasium", "mujoco")

import gymnasium

from dermis.gym._edge_follow import MAX_STEPS, EdgeFollow, follow_edge
from dermis.gym._edge_follow_vector import EdgeFollowVector
from dermis.gym._grasp_lift import GraspLift, grasp_and_lift
from dermis.gym._tactile import TactileObservation

__all__ = ["EdgeFollow", "EdgeFollowVector", "GraspLift", "TactileObservation", "follow_edge", "grasp_and_lift"]

for _name, _entry, _steps in (("EdgeFollow", EdgeFollow, MAX_STEPS), ("GraspLift", GraspLift, 200)):
    if f"dermis/{_name}-v0" not in gymnasium.registry:
        gymnasium.register(id=f"dermis/{_name}-v0", entry_point=f"dermis.gym:{_name}", max_episode_steps=_steps)
