#!/usr/bin/env python3
"""TactileObservation on robosuite's GymWrapper and on an environment of gymnasium-robotics: what is observed, resets, copies, costs."""

import copy
import time
import warnings

import gymnasium
import numpy as np

import dermis
import dermis.gym
import dermis.mujoco

STEPS = 40
# The pads of the Panda's fingers are boxes that face each other along their y axis; the arrays lie 1.5 mm above them.
POSES = {"left": ("finger1", 1), "right": ("finger2", -1)}


def panda(mode):
    """robosuite's Lift with an array on each finger."""
    import robosuite
    from robosuite.wrappers import GymWrapper

    lift = robosuite.make("Lift", robots="Panda", has_renderer=False, has_offscreen_renderer=False, use_camera_obs=False, seed=1, horizon=STEPS)
    spec = {}
    for name, (finger, side) in POSES.items():
        pose = np.array([[side, 0, 0, 0], [0, 0, side, side * 5.5e-3], [0, -1, 0, 0], [0, 0, 0, 1]], float)
        spec[name] = {"preset": "capacitive-8x8", "parameters": {"surface": {"grid": {"pitch": "2 mm"}}}, "geom": f"gripper0_right_{finger}_pad_collision",
                      "pose": pose, "objects": "cube_main", "mode": mode, "flat": True}
    return dermis.gym.TactileObservation(GymWrapper(lift), spec)


def fetch(mode):
    """FetchPickAndPlace with an array on one finger."""
    import gymnasium_robotics

    gymnasium.register_envs(gymnasium_robotics)
    pose = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]], float)
    spec = {"preset": "capacitive-8x8", "body": "robot0:r_gripper_finger_link", "pose": pose, "objects": "object0", "mode": mode}
    return dermis.gym.TactileObservation(gymnasium.make("FetchPickAndPlace-v4", max_episode_steps=STEPS), spec)


def towards(env, observation, step):
    """An action that moves the gripper to the object and closes it."""
    inner = env.unwrapped
    if "desired_goal" in observation:
        at, hand = observation["achieved_goal"], observation["observation"][:3]
    else:
        sim = inner.env.sim if hasattr(inner, "env") else inner.sim
        at, hand = sim.data.get_body_xpos("cube_main"), sim.data.get_site_xpos("gripper0_right_grip_site")
    closing = step > STEPS // 2
    action = np.zeros(env.action_space.shape)
    action[:3] = np.clip((at - hand) * 10, -1, 1)
    action[-1] = (1 if closing else -1) * (-1 if "desired_goal" in observation else 1)
    return action.astype(env.action_space.dtype)


def play(env, seed):
    """Tactile observations of an episode in which the gripper grasps the object."""
    observation, _ = env.reset(seed=seed)
    seen = []
    for step in range(STEPS - 1):
        observation, *_ = env.step(towards(env, observation, step))
        assert all(env.observation_space[key].contains(observation[key]) for key in env.attachments)
        seen.append(np.concatenate([observation[key].ravel() for key in env.attachments]))
    return np.array(seen)


def main():
    for make in (panda, fetch):
        for mode in ("sense", "couple", "contacts"):
            start = time.perf_counter()
            env = make(mode)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the environments themselves
                first = play(env, 1)
                old = dict(env.attachments)
                env.reset(seed=2)
            # The wrapper attaches anew where the data were replaced.
            replaced = any(env.attachments[key] is not old[key] for key in old)
            refused = 0
            for attachment in old.values():
                try:
                    attachment.read()
                except dermis.Error as error:
                    refused += "was replaced" in str(error)
            try:
                twin = copy.deepcopy(env)
                # A copy of an environment of Gymnasium is made anew from its arguments (EzPickle) and must be reset.
                env.reset(seed=3), twin.reset(seed=3)
                action = np.zeros(env.action_space.shape, env.action_space.dtype)
                (one, *_), (two, *_) = env.step(action), twin.step(action)
                copied = "copied, the same readings" if all(np.array_equal(one[key], two[key]) for key in old) else "copied, OTHER readings"
            except RecursionError:
                # robosuite's wrappers look up `env` in themselves before a copy has it, with or without touch.
                try:
                    copy.deepcopy(env.env)
                    copied = "OTHER: only the environment without touch can be copied"
                except RecursionError:
                    copied = "robosuite's environment cannot be copied, nor without touch"
            print(
                f"- {make.__doc__.split(' with')[0]}, `{mode}`: {first.shape[1]} numbers, largest {np.abs(first).max():.3g} N; reset "
                f"{f'replaced the data, {refused} of {len(old)} old attachments refuse' if replaced else 'kept the data'}; {copied}; "
                f"{time.perf_counter() - start:.0f} s",
                flush=True,
            )
            assert np.isfinite(first).all() and (not replaced or refused == len(old)) and "OTHER" not in copied
            del old


if __name__ == "__main__":
    main()
