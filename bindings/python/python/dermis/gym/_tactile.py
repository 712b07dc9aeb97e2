"""A wrapper that adds tactile observations to an environment."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

import dermis
from dermis import Error, Reading, Sensor
from dermis.mujoco import Attachment, attach

OUTPUTS = ("taxels", "reported", "forces", "wrench", "image", "depth")
WHERE = ("site", "body", "geom", "pose", "objects", "mode", "coupling")
WHAT = ("preset", "sensor", "skin", "parameters")
HOW = ("output", "limit", "resolution", "flat")
# Default bounds of the outputs: N, N, N, N and N m, m.
LIMITS = {"taxels": 1e3, "reported": 1e3, "forces": 1e3, "wrench": 1e4, "depth": 0.1}


class TactileObservation(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Adds ``observation["tactile"]`` to an environment that runs MuJoCo.

    env: the environment: its ``unwrapped`` has ``model`` and ``data``, or ``sim`` as in robosuite (with robosuite's ``GymWrapper``). A
    dictionary observation gets one more key; any other observation is stored under "observation".
    spec: one sensor, or a dictionary of several by name, which are then "tactile_NAME" each: no observation is nested, as
    Stable-Baselines3 asks. Its checker also asks for "flat" arrays. A sensor is

        {"preset": "fingertip", "body": "tips_arm"}

        with one of "preset" (a name; "skin" and "parameters" as for ``dermis.Sensor.preset``) and "sensor" (a dermis.Sensor);
        one of "site", "body" and "geom", and optionally "pose", "objects", "mode" and "coupling", as for ``dermis.mujoco.attach``;
        "output": "taxels" (normal force, N; the default), "reported" (after the response, N), "forces" (vectors, N),
        "wrench" (N and N m), "image" (camera image) or "depth" (m);
        "limit": bound of the space (1000 N; wrenches 10 kN and 10 kN m; depths 0.1 m): larger values are clipped, with one warning;
        "resolution": (height, width) of "image" and "depth", averaged over areas of the sensor's own image, so that colours stay;
        "flat": True for an array of one dimension instead of rows and columns (not for "image").

    Images are uint8, all else is float32.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], spec: Mapping[str, Any]) -> None:
        super().__init__(env)
        _simulation(env)
        is_single = any(key in spec for key in WHAT)
        self._specs: dict[str, Mapping[str, Any]] = {"tactile": spec} if is_single else {f"tactile_{name}": spec[name] for name in spec}
        if not self._specs:
            raise Error("`spec` names no sensor")
        self._sensors = {name: _sensor(name, each) for name, each in self._specs.items()}
        self._outputs = {name: _Output(name, each, self._sensors[name]) for name, each in self._specs.items()}
        self._attachments: dict[str, Attachment] = {}
        self._simulation: tuple[Any, Any] = (None, None)
        self._follow()
        self._is_dict = isinstance(env.observation_space, spaces.Dict)
        inner = dict(env.observation_space.spaces) if isinstance(env.observation_space, spaces.Dict) else {"observation": env.observation_space}
        taken = sorted(set(inner) & set(self._outputs))
        if taken:
            raise Error(f"{env.unwrapped} has an observation {taken[0]!r} already; give the sensor another name")
        self.observation_space = spaces.Dict({**inner, **{name: output.space for name, output in self._outputs.items()}})

    @property
    def attachments(self) -> dict[str, Attachment]:
        """The attachments by the key of their observation."""
        return dict(self._attachments)

    def _follow(self) -> None:
        """Attaches the sensors to the simulation of the environment, which a hard reset replaces."""
        model, data = _simulation(self.env)
        if self._simulation[0] is model and self._simulation[1] is data:
            return
        self._simulation = model, data
        for name, spec in self._specs.items():
            where = {key: spec[key] for key in WHERE if key in spec}
            self._attachments[name] = attach(model, data, self._sensors[name], **where)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Resets the environment and the sensors."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._follow()
        for attachment in self._attachments.values():
            attachment.reset()
        return self._with_touch(observation), info

    def step(self, action: Any) -> tuple[dict[str, Any], Any, bool, bool, dict[str, Any]]:
        """Steps the environment and reads the sensors."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._follow()
        return self._with_touch(observation), reward, terminated, truncated, info

    def close(self) -> None:
        """Closes the environment and detaches the sensors."""
        for attachment in self._attachments.values():
            attachment.detach()
        super().close()

    def _with_touch(self, observation: Any) -> dict[str, Any]:
        tactile = {name: output.value(self._attachments[name].read()) for name, output in self._outputs.items()}
        inner = dict(observation) if self._is_dict else {"observation": observation}
        return {**inner, **tactile}


def _simulation(env: gymnasium.Env[Any, Any]) -> tuple[Any, Any]:
    """The mujoco.MjModel and mujoco.MjData of an environment."""
    inner: Any = env.unwrapped
    if hasattr(inner, "model") and hasattr(inner, "data"):
        return inner.model, inner.data
    # robosuite, whose GymWrapper is its own innermost environment in some versions.
    sim = getattr(inner, "sim", None) or getattr(getattr(inner, "env", None), "sim", None)
    if sim is None:
        raise Error(f"{inner} has neither `model` and `data` nor `sim`: it is not a MuJoCo environment")
    return getattr(sim.model, "_model", sim.model), getattr(sim.data, "_data", sim.data)


class _Output:
    """What a sensor adds to the observation, and its space."""

    def __init__(self, name: str, spec: Mapping[str, Any], sensor: Sensor) -> None:
        self._name, self._is_clipped = name, False
        self._output = spec.get("output", "taxels")
        if self._output not in OUTPUTS:
            raise Error(f"`spec`: `output` of sensor {name!r} must be one of {', '.join(OUTPUTS)}, got {self._output!r}")
        is_image = self._output in ("image", "depth")
        if is_image and sensor.image_shape is None:
            raise Error(f"`spec`: sensor {sensor.name!r} has no camera, so it has no {self._output}")
        for key, meant in (("limit", self._output != "image"), ("resolution", is_image), ("flat", self._output != "image")):
            if key in spec and not meant:
                raise Error(f"`spec`: `{key}` of sensor {name!r} does not apply to the output {self._output!r}")
        self._limit = float(spec.get("limit", LIMITS.get(self._output, 255)))
        if not 0 < self._limit < np.inf:
            raise Error(f"`spec`: `limit` of sensor {name!r} must be a positive number, got {self._limit}")
        size = (sensor.image_shape or ())[:2]
        self._averages: list[NDArray[np.float32]] = []
        if "resolution" in spec:
            wanted = tuple(int(count) for count in spec["resolution"])
            if len(wanted) != 2 or not all(0 < count <= whole for count, whole in zip(wanted, size)):
                raise Error(f"`spec`: `resolution` of sensor {name!r} must be (height, width), at most {size}, got {spec['resolution']}")
            self._averages = [_areas(count, whole) for count, whole in zip(wanted, size)]
            size = wanted
        shapes = {"wrench": (6,), "forces": (*sensor.shape, 3), "image": (*size, 3), "depth": size}
        shape = shapes.get(self._output, sensor.shape)
        if spec.get("flat", False):
            shape = (int(np.prod(shape)),)
        self._shape = shape
        self.space = spaces.Box(0, 255, shape, np.uint8) if self._output == "image" else spaces.Box(-self._limit, self._limit, shape, np.float32)

    def value(self, reading: Reading) -> NDArray[Any]:
        """The output of a reading as an observation."""
        value: NDArray[Any] = getattr(reading, self._output)
        if self._averages:
            rows, cols = self._averages
            value = np.einsum("ir,rc...->ic...", rows, value.astype(np.float32), optimize=True)
            value = np.einsum("jc,ic...->ij...", cols, value, optimize=True)
        if self._output == "image":
            return value if value.dtype == np.uint8 else np.rint(value).astype(np.uint8)
        if not self._is_clipped and np.abs(value).max(initial=0) > self._limit:
            self._is_clipped = True
            largest = np.abs(value).max()
            warnings.warn(f"{self._name}: {largest:.4g} exceeds the bound {self._limit:.4g} and is clipped; `limit` in `spec` raises it", stacklevel=3)
        return np.clip(value, -self._limit, self._limit).astype(np.float32).reshape(self._shape)


def _areas(count: int, whole: int) -> NDArray[np.float32]:
    """Weights that average `whole` pixels over `count` equal intervals, (count, whole)."""
    edges = np.linspace(0, whole, count + 1)
    pixels = np.arange(whole)
    covered = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    return (np.clip(covered, 0, None) * (count / whole)).astype(np.float32)


def _sensor(name: str, spec: Mapping[str, Any]) -> Sensor:
    if not isinstance(spec, Mapping):
        raise TypeError(f"`spec`: sensor {name!r} must be a dictionary, got a {type(spec).__name__}")
    known = (*WHAT, *WHERE, *HOW)
    unknown = sorted(set(spec) - set(known))
    if unknown:
        raise Error(f"`spec`: sensor {name!r} has an unknown key {unknown[0]!r}; the keys are {', '.join(known)}")
    if ("preset" in spec) == ("sensor" in spec):
        raise Error(f"`spec`: sensor {name!r} needs one of `preset` and `sensor`")
    if "sensor" in spec:
        sensor: Sensor = spec["sensor"]
        return sensor
    return dermis.Sensor.preset(spec["preset"], skin=spec.get("skin"), parameters=spec.get("parameters"))
