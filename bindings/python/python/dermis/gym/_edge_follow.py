"""Following a cable by touch."""

from __future__ import annotations

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

STEP = 0.05  # s
SPEED, YAW_RATE = 0.03, 1.0  # m/s and rad/s at full action
PRESSED = 1.0e-3  # penetration of the cable into the skin (m)
RADIUS, SEGMENT, SEGMENTS = 3e-3, 12e-3, 30  # of the cable (m)
MAX_FORCE = 1e3  # bound of the observed forces (N)
REACH = 9e-3  # distance from the cable (m) at which it counts as lost
MAX_STEPS = 400  # of an episode
WAVES = (0.1, 0.5), (0.12, 0.36), (0.0, 2 * np.pi)  # ranges of height (rad), length (m) and phase (rad) of the two waves of a cable
START = 3e-3, 0.2  # largest offset (m) and angle (rad) of the hand at the start

# Each episode repositions them. They do not start at the origin, where MuJoCo would give them the world's frame.
_CABLE = "".join(f'<geom name="cable{i}" type="capsule" size="{RADIUS} {SEGMENT / 2}" pos="1 1 0" euler="0 90 0"/>' for i in range(SEGMENTS))
MODEL = f"""<mujoco model="edge-follow"><option gravity="0 0 0" timestep="{STEP}"/>
  <default><geom contype="0" conaffinity="0" mass="0.1"/></default>
  <worldbody><light pos="0 0 1"/>{_CABLE}
    <body name="hand" pos="0 0 {RADIUS - PRESSED}">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/><joint name="yaw" type="hinge" axis="0 0 1"/>
      <geom type="box" size=".01 .01 .002" pos="0 0 .0041"/>
      <site name="pad" xyaxes="0 1 0 1 0 0"/>
    </body>
  </worldbody></mujoco>"""


def outcome(before: Any, along: Any, offset: Any) -> tuple[Any, Any, Any]:
    """Reward of a step, and whether the cable is lost and followed to its end, from the distance (m) along it before and after and that from
    it: of one hand, or arrays or tensors of many."""
    lost, done = offset > REACH, along > SEGMENT * (SEGMENTS - 2)
    return 10 * (along - before) / (SEGMENT * SEGMENTS) - 0.01 * (offset / 5e-3) ** 2 - 1.0 * lost, lost, done


class EdgeFollow(gymnasium.Env[Any, Any]):
    """A hand with an 8 × 8 array is pressed on a winding cable and has to follow it to its end by touch alone.

    Observation: {"tactile": (8, 8)}, the reported forces (N), row 0 in front. Action: (3,), each from -1 to 1: forward speed (towards row 0)
    and speed to the left (along the columns), scaled by 30 mm/s, and yaw rate to the left, scaled by 1 rad/s. A step is 50 ms.
    Reward: 10 times the fraction of the cable followed, minus 0.01 times the squared distance from it in units of 5 mm, minus 1 when it is
    lost. Terminates when the cable is lost or followed to its end: info["success"]. info["offset"] is the distance from the cable (m).
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": round(1 / STEP)}

    def __init__(self, *, sensor: Sensor | None = None, render_mode: str | None = None) -> None:
        """sensor: the array on the hand, a flat grid; default: capacitive-8x8."""
        self.render_mode = render_mode
        self.model = mujoco.MjModel.from_xml_string(MODEL)
        self.data = mujoco.MjData(self.model)
        sensor = sensor or Sensor.preset("capacitive-8x8")
        names = [f"cable{i}" for i in range(SEGMENTS)]
        self._geoms = [self.model.geom(name).id for name in names]
        self._pad = attach(self.model, self.data, sensor, site="pad", objects=names, mode="sense")
        self._taxels = np.zeros(sensor.shape, np.float32)
        self._nodes = np.zeros((SEGMENTS + 1, 2))
        self.observation_space = spaces.Dict({"tactile": spaces.Box(-MAX_FORCE, MAX_FORCE, sensor.shape, np.float32)})
        self.action_space = spaces.Box(-1, 1, (3,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[np.float32]], dict[str, Any]]:
        """Lays a new cable and places the hand near its start."""
        super().reset(seed=seed)
        headings = self._lay()
        mujoco.mj_resetData(self.model, self.data)
        offset, turned = (self.np_random.uniform(-most, most) for most in START)
        across = np.array([-np.sin(headings[2]), np.cos(headings[2])])
        self.data.qpos[:] = [*(self._nodes[2] + offset * across), headings[2] + turned]
        self._pad.reset()
        self._along = self._progress()[0]
        return self._observe(), {"offset": self._progress()[1], "success": False}

    def step(
        self, action: NDArray[np.float32]
    ) -> tuple[dict[str, NDArray[np.float32]], float, bool, bool, dict[str, Any]]:
        """Moves the hand."""
        forward, left, yaw_rate = clipped(action, 3) * [SPEED, SPEED, YAW_RATE]
        yaw = float(self.data.qpos[2])
        ahead, aside = np.array([np.cos(yaw), np.sin(yaw)]), np.array([-np.sin(yaw), np.cos(yaw)])
        self.data.qvel[:] = [*(forward * ahead + left * aside), yaw_rate]
        self.data.qpos[:] += self.data.qvel * STEP
        self.data.time += STEP
        observation = self._observe()
        along, offset = self._progress()
        reward, lost, done = outcome(self._along, along, offset)
        self._along = along
        return observation, float(reward), bool(lost or done), False, {"offset": offset, "success": bool(done and not lost)}

    def render(self) -> NDArray[np.uint8] | None:
        """Heat map of the reported forces."""
        return _heat.image(self._taxels, max_force=0.5) if self.render_mode == "rgb_array" else None

    def _lay(self) -> NDArray[np.float64]:
        """Lays a random cable; returns the heading (rad) of every segment."""
        arc = SEGMENT * np.arange(SEGMENTS)
        waves = [self.np_random.uniform(low, high, 2) for low, high in WAVES]
        headings: NDArray[np.float64] = sum(a * np.sin(2 * np.pi * arc / length + phase) for a, length, phase in zip(*waves))
        directions = np.stack([np.cos(headings), np.sin(headings)], axis=1)
        self._nodes = np.concatenate([[[0.0, 0.0]], np.cumsum(directions * SEGMENT, axis=0)])
        for geom, start, end, heading in zip(self._geoms, self._nodes[:-1], self._nodes[1:], headings):
            self.model.geom_pos[geom] = [*(0.5 * (start + end)), 0]
            # The axis of a capsule is z: rotate by 90° about y onto x, then to its heading.
            lie, head = np.array([np.sqrt(0.5), 0, np.sqrt(0.5), 0]), np.array([np.cos(heading / 2), 0, 0, np.sin(heading / 2)])
            mujoco.mju_mulQuat(self.model.geom_quat[geom], head, lie)
        return headings

    def _progress(self) -> tuple[float, float]:
        """Distance of the hand along the cable, and from it (m)."""
        starts, ends, hand = self._nodes[:-1], self._nodes[1:], self.data.qpos[:2]
        part = np.clip(((hand - starts) * (ends - starts)).sum(axis=1) / SEGMENT**2, 0, 1)
        apart = np.linalg.norm(starts + part[:, None] * (ends - starts) - hand, axis=1)
        nearest = int(apart.argmin())
        return float(SEGMENT * (nearest + part[nearest])), float(apart[nearest])

    def _observe(self) -> dict[str, NDArray[np.float32]]:
        mujoco.mj_forward(self.model, self.data)
        self._taxels = np.clip(self._pad.read().reported, -MAX_FORCE, MAX_FORCE).astype(np.float32)
        return {"tactile": self._taxels}


def follow_edge(observation: dict[str, NDArray[np.float32]]) -> NDArray[np.float32]:
    """A policy for EdgeFollow: moves forward, centers the image on the cable and follows its direction."""
    image = np.clip(observation["tactile"], 0, None).astype(float)
    total = image.sum()
    if total <= 0:
        return np.zeros(3, np.float32)
    rows, cols = image.shape
    # Position forward and to the left of the center (taxels).
    ahead, aside = np.meshgrid((rows - 1) / 2 - np.arange(rows), np.arange(cols) - (cols - 1) / 2, indexing="ij")
    middle = np.array([(image * ahead).sum(), (image * aside).sum()]) / total
    da, ds = ahead - middle[0], aside - middle[1]
    spread, mixed = ((da**2 - ds**2) * image).sum(), (da * ds * image).sum()
    # Angle of the cable from straight ahead, positive to the left.
    angle = 0.5 * np.arctan2(2 * mixed, spread)
    return np.array(np.clip([1.0 - abs(angle), 0.5 * middle[1], 2.0 * angle], -1, 1), np.float32)
