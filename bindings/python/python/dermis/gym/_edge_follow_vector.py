"""Following a cable by touch, in many environments at once: tensors in, tensors out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

import dermis
from dermis import _optional
from dermis.gym._edge_follow import MAX_FORCE, MAX_STEPS, PRESSED, RADIUS, SEGMENT, SEGMENTS, SPEED, START, STEP, WAVES, YAW_RATE, outcome

MODES = (AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP)


class EdgeFollowVector(VectorEnv[Any, Any, Any]):
    """``EdgeFollow`` in ``num_envs`` environments that step together on one device: a ``gymnasium.vector.VectorEnv`` with tensors of PyTorch.

    Task, observation, action, reward and end of an episode are those of ``EdgeFollow``; an episode is truncated after 400 steps. Under the
    hand, the cable is the straight line of its nearest segment. All numbers stay on the device: observations, rewards and flags are tensors
    of ``num_envs`` rows, and observations are overwritten by the next step; ``gymnasium.wrappers.vector.ArrayConversion`` makes numpy arrays of them.

    Environments whose episode ends are reset by ``step``, in the mode of ``metadata["autoreset_mode"]``. SAME_STEP: the observation is the first
    one of the next episode, and ``info["final_info"]`` has the info of the step that ended where ``info["_final_info"]`` is True; there is no
    ``final_obs``, because the last image is not computed. NEXT_STEP: the observation is the last one of the episode; the next step
    starts the new one, whatever the action, with reward 0.
    """

    metadata = {"render_modes": [], "render_fps": round(1 / STEP), "autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(
        self,
        num_envs: int,
        *,
        device: str = "cuda",
        sensor: dermis.Sensor | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
    ) -> None:
        """device: "cuda" or "cpu". sensor: the array on the hand, a flat grid of springs; default: capacitive-8x8. autoreset_mode: SAME_STEP or
        NEXT_STEP of ``gymnasium.vector.AutoresetMode``."""
        _optional.require("dermis.gym.EdgeFollowVector", "torch")
        import torch

        if autoreset_mode not in MODES and autoreset_mode not in [mode.value for mode in MODES]:
            raise dermis.Error(f"`autoreset_mode` must be SAME_STEP or NEXT_STEP of gymnasium.vector.AutoresetMode, got {autoreset_mode!r}")
        self.metadata = {**self.metadata, "autoreset_mode": AutoresetMode(autoreset_mode)}
        self._resets_at_once = AutoresetMode(autoreset_mode) is AutoresetMode.SAME_STEP
        self.num_envs = num_envs
        self.device = torch.device(device)
        sensor = sensor or dermis.Sensor.preset("capacitive-8x8")
        self.single_observation_space = spaces.Dict({"tactile": spaces.Box(-MAX_FORCE, MAX_FORCE, sensor.shape, np.float32)})
        self.single_action_space = spaces.Box(-1, 1, (3,), np.float32)
        self._torch, self._random, self._sensor = torch, torch.Generator(self.device), sensor
        self._touch = self._environments()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

        def zeros(*shape: int) -> Any:
            return torch.zeros(num_envs, *shape, device=self.device)

        self._tactile = zeros(*sensor.shape)
        self._hand, self._twist, self._cable = zeros(7), zeros(6), zeros(7)
        # Position (m) and yaw (rad) of the hand.
        self._state = zeros(3)
        self._nodes = zeros(SEGMENTS + 1, 2)
        self._along, self._steps = zeros(), zeros()
        # Environments that the next step resets.
        self._ended = zeros() > 0
        self._bind()

    def _environments(self) -> dermis.Environments:
        cable = dermis.Object.capsule(radius=RADIUS, length=4 * SEGMENT)
        return self._sensor.environments(cable, self.num_envs, device=str(self.device))

    def _bind(self) -> None:
        half = math.sqrt(0.5)
        # +z of the sensor is down, row 0 is in front.
        self._touch.bind(
            dt=STEP,
            pose=self._cable,
            sensor_pose=self._hand,
            sensor_offset=[0.0, 0.0, 0.0, 0.0, half, half, 0.0],
            sensor_twist=self._twist,
            reported=self._tactile,
        )

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Lays new cables and places the hands near their starts. A seed also starts the noise of the sensors anew: capture a CUDA graph after it.

        There are no options: ``step`` resets each environment by itself.
        """
        super().reset(seed=seed)
        if options:
            raise dermis.Error(f"`options` must be empty, got {options!r}: `step` resets each environment when its episode ends")
        if seed is not None or self._np_random is None:
            self._random.manual_seed(int(self.np_random.integers(2**63)))
        if seed is not None:
            self._touch = self._environments()
            self._bind()
        everywhere = self._torch.ones_like(self._ended)
        self._lay(everywhere)
        self._ended = ~everywhere
        self._twist.zero_()
        self._touch.reset(everywhere, self._stream())
        return {"tactile": self._tactile}, self._info(self._look(), self._ended)

    def step(self, actions: Any) -> tuple[dict[str, Any], Any, Any, Any, dict[str, Any]]:
        """Moves the hands: actions (num_envs, 3) from -1 to 1. Returns observation, reward, terminated, truncated and info."""
        torch = self._torch
        action = torch.as_tensor(actions, dtype=self._state.dtype, device=self.device)
        if tuple(action.shape) != (self.num_envs, 3):
            raise dermis.Error(f"`actions` must have shape ({self.num_envs}, 3), got {tuple(action.shape)}")
        moves = ~self._ended
        forward, left, rate = (action.clip(-1, 1) * torch.tensor([SPEED, SPEED, YAW_RATE], device=self.device)).unbind(1)
        cosine, sine = self._state[:, 2].cos(), self._state[:, 2].sin()
        velocity = torch.stack([forward * cosine - left * sine, forward * sine + left * cosine, rate], 1) * moves[:, None]
        self._state += velocity * STEP
        self._steps += moves
        nearest, part, offset = self._nearest()
        reward, lost, done = outcome(self._along, SEGMENT * (nearest[:, 0] + part), offset)
        terminated, truncated = (lost | done) & moves, (self._steps >= MAX_STEPS) & moves
        over, success = terminated | truncated, done & ~lost & moves
        fresh = over if self._resets_at_once else self._ended
        self._lay(fresh)
        self._twist[:, :2], self._twist[:, 5] = velocity[:, :2], velocity[:, 2]
        self._twist *= ~fresh[:, None]
        self._touch.reset(fresh, self._stream())
        seen = self._look()
        info = self._info(seen, success & ~fresh)
        if self._resets_at_once:
            final = {"offset": offset, "_offset": over, "success": success, "_success": over}
            info = {**info, "final_info": final, "_final_info": over}
        else:
            self._ended = over
        return {"tactile": self._tactile}, reward * moves, terminated, truncated & ~terminated, info

    def close_extras(self, **kwargs: Any) -> None:
        """Raises ``dermis.Error`` if an environment had an invalid state. Waits for the GPU."""
        self._touch.check()

    def _info(self, offset: Any, success: Any) -> dict[str, Any]:
        """Distances from the cables (m) and successes, with the environments that have them: all."""
        everywhere = self._torch.ones_like(success)
        return {"offset": offset, "_offset": everywhere, "success": success, "_success": everywhere}

    def _stream(self) -> Any:
        return self._torch.cuda.current_stream(self.device) if self.device.type == "cuda" else None

    def _uniform(self, low: float, high: float, *shape: int) -> Any:
        numbers = self._torch.rand(self.num_envs, *shape, device=self.device, generator=self._random)
        return low + (high - low) * numbers

    def _lay(self, where: Any) -> None:
        """Lays random cables in the chosen environments, and the hands near their starts."""
        torch = self._torch
        arc = SEGMENT * torch.arange(SEGMENTS, device=self.device)
        height, length, phase = (self._uniform(low, high, 2) for low, high in WAVES)
        headings = (height[:, :, None] * (2 * math.pi * arc / length[:, :, None] + phase[:, :, None]).sin()).sum(1)
        ways = SEGMENT * torch.stack([headings.cos(), headings.sin()], 2)
        nodes = torch.cat([torch.zeros_like(ways[:, :1]), ways.cumsum(1)], 1)
        offset, turned = (self._uniform(-most, most) for most in START)
        heading = headings[:, 2]
        across = torch.stack([-heading.sin(), heading.cos()], 1)
        hand = torch.cat([nodes[:, 2] + offset[:, None] * across, (heading + turned)[:, None]], 1)
        self._nodes.copy_(torch.where(where[:, None, None], nodes, self._nodes))
        self._state.copy_(torch.where(where[:, None], hand, self._state))
        self._steps.mul_(~where)

    def _nearest(self) -> tuple[Any, Any, Any]:
        """Index of the nearest segment of each cable, the part of it up to the hand, and the distance from it (m)."""
        torch, starts = self._torch, self._nodes[:, :-1]
        ways = self._nodes[:, 1:] - starts
        from_start = self._state[:, None, :2] - starts
        part = ((from_start * ways).sum(2) / SEGMENT**2).clip(0, 1)
        apart = (from_start - part[:, :, None] * ways).norm(dim=2)
        nearest = apart.argmin(1, keepdim=True)
        return nearest, torch.gather(part, 1, nearest)[:, 0], torch.gather(apart, 1, nearest)[:, 0]

    def _look(self) -> Any:
        """Reads the arrays on the hands, and how far each is along its cable; returns the distances from the cables (m)."""
        torch = self._torch
        nearest, part, apart = self._nearest()
        self._along.copy_(SEGMENT * (nearest[:, 0] + part))
        ends = [torch.gather(nodes, 1, nearest[:, :, None].expand(-1, -1, 2))[:, 0] for nodes in (self._nodes[:, :-1], self._nodes[:, 1:])]
        way = ends[1] - ends[0]
        self._cable[:, :2] = 0.5 * (ends[0] + ends[1])
        # The axis of a capsule is z: rotated by 90° about y onto x, then to its heading.
        half = 0.5 * torch.atan2(way[:, 1], way[:, 0])
        lie = math.sqrt(0.5)
        self._cable[:, 3:] = lie * torch.stack([half.cos(), -half.sin(), half.cos(), half.sin()], 1)
        self._hand[:, :2], self._hand[:, 2] = self._state[:, :2], RADIUS - PRESSED
        self._hand[:, 3], self._hand[:, 6] = (0.5 * self._state[:, 2]).cos(), (0.5 * self._state[:, 2]).sin()
        self._touch.launch(self._stream())
        return apart
