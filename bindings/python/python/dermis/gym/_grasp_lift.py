"""Grasping and lifting a block of unknown weight."""

from __future__ import annotations

import pathlib
from typing import Any

import gymnasium
import mujoco
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from dermis import Sensor
from dermis import _heat
from dermis.gym._action import clipped
from dermis.mujoco import attach

Observation = dict[str, NDArray[np.float32]]

SUBSTEPS = 20
CLOSING, LIFTING = 0.03, 0.08  # m/s at full action
GOAL, HOLD = 0.06, 10  # height (m) and number of steps to hold it
MASSES = 0.05, 0.3  # kg
MAX_START = 0.01  # closing of the fingers (m) at which an episode starts, at most
MAX_FORCE, MAX_REACH = 1e3, 1.0  # bounds of the observed forces (N) and positions (m)
CRUSHED = 12.0  # grip force (N) that crushes the block
# Bristle stiffness and damping that are stable with steps of 1 ms and the lightest block between two fingers.
SOFTER = {"contact_points": 1, "skin": {"friction": {"sigma0": "300 N/m", "sigma1": "0.3 N s/m"}}}
FINGERS = ("left", "right")


class GraspLift(gymnasium.Env[Any, Any]):
    """Two fingers have to lift a block of 0.05 to 0.3 kg by 60 mm and hold it for 10 steps, without crushing it with more than 12 N.

    The skins compute the contact (mode "couple"): their bristles hold the block, and it slips where the grip is too weak.
    Observation: {"tactile": (2, 8, 8, 3)}, the force on each taxel of the left and right finger (N): across the finger, up, and out of the skin;
    {"hand": (2,)}, closing of the fingers since the start of the episode, which finds them 0 to 10 mm closed, and height of the wrist (m). Action: (2,), each from -1 to 1: closing speed, scaled by 30 mm/s,
    and lifting speed, scaled by 80 mm/s. A step is 20 ms.
    Reward: 10 times the rise of the block in units of 60 mm, 5 for success, -0.05 in every step in which not both fingers touch it, -5 for
    crushing it: an episode without touch earns -10, less than one in which the block is crushed. Terminates on success (info["success"]) or crushing. info["height"]: height of the block (m). info["grip"]: larger finger force (N).
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}

    def __init__(self, *, sensor: Sensor | None = None, render_mode: str | None = None) -> None:
        """sensor: the array on both fingers, a grid; default: capacitive-8x8 with softer bristles."""
        self.render_mode = render_mode
        self.model = mujoco.MjModel.from_xml_path(str(pathlib.Path(__file__).parent / "grasp_lift.xml"))
        self.data = mujoco.MjData(self.model)
        sensor = sensor or Sensor.preset("capacitive-8x8", parameters=SOFTER)
        self._pads = [attach(self.model, self.data, sensor, site=name, objects="block", mode="couple") for name in FINGERS]
        self._block = self.model.body("block").id
        self._inertia_per_mass = self.model.body_inertia[self._block] / self.model.body_mass[self._block]
        self._forces = np.zeros((2, *sensor.shape, 3), np.float32)
        self._held, self._target, self._height, self._start = 0, np.zeros(2), 0.0, 0.0
        parts = {"tactile": (MAX_FORCE, self._forces.shape), "hand": (MAX_REACH, (2,))}
        self.observation_space = spaces.Dict({name: spaces.Box(-limit, limit, shape, np.float32) for name, (limit, shape) in parts.items()})
        self.action_space = spaces.Box(-1, 1, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Resets with a block of random mass and position, and with fingers that are closed by a random part. options: {"mass": kg} sets the mass."""
        super().reset(seed=seed)
        mass = (options or {}).get("mass", self.np_random.uniform(*MASSES))
        self.model.body_mass[self._block] = mass
        self.model.body_inertia[self._block] = mass * self._inertia_per_mass
        mujoco.mj_setConst(self.model, self.data)
        mujoco.mj_resetData(self.model, self.data)
        self.data.joint("block").qpos[:2] += self.np_random.uniform(-3e-3, 3e-3, 2)
        self._start = float(self.np_random.uniform(0, MAX_START))
        for name in FINGERS:
            self.data.joint(name).qpos[0] = self._start
        for pad in self._pads:
            pad.reset()
        mujoco.mj_forward(self.model, self.data)
        self._held, self._target = 0, np.array([self._start, 0.0])
        self._height = float(self.data.xpos[self._block, 2])
        return self._observe(), self._info()

    def step(self, action: NDArray[np.float32]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Moves the fingers and the wrist."""
        rates = clipped(action, 2) * [CLOSING, LIFTING]
        before = self._height
        change = rates * self.model.opt.timestep
        for _ in range(SUBSTEPS):
            self._target = np.clip(self._target + change, 0, [0.03, 0.2])
            self.data.ctrl[:] = [self._target[0], self._target[0], self._target[1]]
            mujoco.mj_step(self.model, self.data)
        self._height = float(self.data.xpos[self._block, 2])
        observation, info = self._observe(), self._info()
        self._held = self._held + 1 if info["height"] > GOAL else 0
        crushed, done = info["grip"] > CRUSHED, self._held >= HOLD
        info["success"] = bool(done and not crushed)
        loose = self._forces[..., 2].sum(axis=(1, 2)).max() > -0.1
        reward = 10 * (self._height - before) / GOAL - 0.05 * loose + 5.0 * info["success"] - 5.0 * crushed
        return observation, float(reward), bool(done or crushed), False, info

    def render(self) -> NDArray[np.uint8] | None:
        """Heat maps of both arrays, side by side."""
        if self.render_mode != "rgb_array":
            return None
        return np.concatenate([_heat.image(-forces[..., 2], max_force=0.5) for forces in self._forces], axis=1)

    def close(self) -> None:
        """Detaches the sensors."""
        for pad in self._pads:
            pad.detach()

    def _info(self) -> dict[str, Any]:
        grip = float(-self._forces[..., 2].sum(axis=(1, 2)).min())
        return {"height": self._height - 0.03, "grip": grip, "success": False}

    def _observe(self) -> Observation:
        forces = np.stack([pad.read().forces for pad in self._pads])
        self._forces = np.clip(forces, -MAX_FORCE, MAX_FORCE).astype(np.float32)
        hand = [self.data.joint("left").qpos[0] - self._start, self.data.joint("lift").qpos[0]]
        return {"tactile": self._forces, "hand": np.clip(hand, -MAX_REACH, MAX_REACH).astype(np.float32)}


def grasp_and_lift(observation: Observation) -> NDArray[np.float32]:
    """A policy for GraspLift: closes until both fingers press enough, and grips in proportion to the load while lifting."""
    forces = observation["tactile"].sum(axis=(1, 2), dtype=float)
    grip, load = float(-forces[:, 2].max()), float(-forces[:, 1].sum())
    wanted = max(1.5, 1.6 * load)
    closing = np.clip(0.3 * (wanted - grip), -0.2, 0.2) if grip > 0.05 else 0.7
    lifting = 0.8 if grip > 0.8 * wanted and observation["hand"][1] < GOAL + 0.02 else 0.0
    return np.array([closing, lifting], np.float32)
