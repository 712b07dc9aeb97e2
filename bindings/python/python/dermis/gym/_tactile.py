"""A wrapper that adds tactile observations to an environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

import dermis
from dermis import Error, Reading, Sensor
from dermis.mujoco import Attachment, attach

OUTPUTS = ("taxels", "reported", "forces", "wrench", "image", "depth")
WHERE = ("site", "body", "geom", "pose", "objects", "mode")
WHAT = ("preset", "sensor", "skin", "parameters")


class TactileObservation(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Adds ``observation["tactile"]`` to an environment that runs MuJoCo (its ``unwrapped`` has ``model`` and ``data``).

    env: the environment. A dictionary observation gets one more key; any other observation is stored under "observation".
    spec: one sensor, or a dictionary of several by name; "tactile" is then a dictionary too. A sensor is

        {"preset": "fingertip", "body": "tips_arm"}

        with one of "preset" (a name; "skin" and "parameters" as for ``dermis.Sensor.preset``) and "sensor" (a dermis.Sensor);
        one of "site", "body" and "geom", and optionally "pose", "objects" and "mode", as for ``dermis.mujoco.attach``;
        "output": "taxels" (normal force, N; the default), "reported" (after the response, N), "forces" (vectors, N),
        "wrench" (N and N m), "image" (camera image) or "depth" (m).
    """

    def __init__(self, env: gymnasium.Env[Any, Any], spec: Mapping[str, Any]) -> None:
        super().__init__(env)
        for part in ("model", "data"):
            if not hasattr(env.unwrapped, part):
                raise Error(f"{env.unwrapped} has no `{part}`: it is not a MuJoCo environment")
        self._single = any(key in spec for key in WHAT)
        self._specs: dict[str, Mapping[str, Any]] = {"tactile": spec} if self._single else dict(spec)
        if not self._specs:
            raise Error("`spec` names no sensor")
        self._sensors = {name: _sensor(name, each) for name, each in self._specs.items()}
        self._outputs = {name: _output(name, each) for name, each in self._specs.items()}
        self._attachments: dict[str, Attachment] = {}
        self._attach()
        parts: dict[str, spaces.Space[Any]] = {name: _space(self._sensors[name], output) for name, output in self._outputs.items()}
        tactile = parts["tactile"] if self._single else spaces.Dict(parts)
        self._is_dict = isinstance(env.observation_space, spaces.Dict)
        inner = dict(env.observation_space.spaces) if isinstance(env.observation_space, spaces.Dict) else {"observation": env.observation_space}
        self.observation_space = spaces.Dict({**inner, "tactile": tactile})

    @property
    def attachments(self) -> dict[str, Attachment]:
        """The attachments by name; a single one is named "tactile"."""
        return dict(self._attachments)

    def _attach(self) -> None:
        inner: Any = self.env.unwrapped
        for name, spec in self._specs.items():
            where = {key: spec[key] for key in WHERE if key in spec}
            self._attachments[name] = attach(inner.model, inner.data, self._sensors[name], **where)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Resets the environment and the sensors."""
        observation, info = self.env.reset(seed=seed, options=options)
        inner: Any = self.env.unwrapped
        for attachment in self._attachments.values():
            if attachment.data is not inner.data or attachment.model is not inner.model:
                self._attach()
                break
        for attachment in self._attachments.values():
            attachment.reset()
        return self._with_touch(observation), info

    def step(self, action: Any) -> tuple[dict[str, Any], Any, bool, bool, dict[str, Any]]:
        """Steps the environment and reads the sensors."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._with_touch(observation), reward, terminated, truncated, info

    def close(self) -> None:
        """Closes the environment and detaches the sensors."""
        for attachment in self._attachments.values():
            attachment.detach()
        super().close()

    def _with_touch(self, observation: Any) -> dict[str, Any]:
        tactile = {name: _value(self._attachments[name].read(), output) for name, output in self._outputs.items()}
        inner = dict(observation) if self._is_dict else {"observation": observation}
        return {**inner, "tactile": tactile["tactile"] if self._single else tactile}


def _value(reading: Reading, output: str) -> Any:
    """An output of a reading as an observation."""
    value = getattr(reading, output)
    return value if output == "image" else np.asarray(value, dtype=np.float32)


def _sensor(name: str, spec: Mapping[str, Any]) -> Sensor:
    if not isinstance(spec, Mapping):
        raise TypeError(f"`spec`: sensor {name!r} must be a dictionary, got a {type(spec).__name__}")
    unknown = sorted(set(spec) - {*WHERE, *WHAT, "output"})
    if unknown:
        raise Error(f"`spec`: sensor {name!r} has an unknown key {unknown[0]!r}; the keys are {', '.join((*WHAT, *WHERE, 'output'))}")
    if ("preset" in spec) == ("sensor" in spec):
        raise Error(f"`spec`: sensor {name!r} needs one of `preset` and `sensor`")
    if "sensor" in spec:
        sensor: Sensor = spec["sensor"]
        return sensor
    return dermis.Sensor.preset(spec["preset"], skin=spec.get("skin"), parameters=spec.get("parameters"))


def _output(name: str, spec: Mapping[str, Any]) -> str:
    output = spec.get("output", "taxels")
    if output not in OUTPUTS:
        raise Error(f"`spec`: `output` of sensor {name!r} must be one of {', '.join(OUTPUTS)}, got {output!r}")
    return str(output)


def _space(sensor: Sensor, output: str) -> spaces.Box:
    if output in ("image", "depth") and sensor.image_shape is None:
        raise Error(f"`spec`: sensor {sensor.name!r} has no camera, so it has no {output}")
    if output == "image":
        assert sensor.image_shape is not None
        return spaces.Box(0, 255, sensor.image_shape, np.uint8)
    shapes = {"taxels": sensor.shape, "reported": sensor.shape, "forces": (*sensor.shape, 3), "wrench": (6,)}
    shape = (sensor.image_shape or ())[:2] if output == "depth" else shapes[output]
    return spaces.Box(-np.inf, np.inf, shape, np.float32)
