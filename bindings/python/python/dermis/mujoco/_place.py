"""Where a sensor is in a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from dermis import Error

Array = NDArray[np.float64]


def rigid(rotation: ArrayLike, translation: ArrayLike) -> Array:
    """A (4, 4) transform."""
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = np.reshape(rotation, (3, 3)), translation
    return made


def turned(quaternion: ArrayLike, translation: ArrayLike) -> Array:
    """A (4, 4) transform from a quaternion, w first."""
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, np.asarray(quaternion, dtype=float))
    return rigid(rotation, translation)


def cross(a: Array, b: Array) -> Array:
    """The cross product of two vectors; numpy's is made for many and takes ten times as long for two."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


def inverse(transform: Array) -> Array:
    """The inverse of a rigid transform."""
    rotation = transform[:3, :3].T
    return rigid(rotation, -rotation @ transform[:3, 3])


def find(model: Any, kind: Any, name: str | int, what: str) -> int:
    """The number of a thing that is named, or given by its number."""
    if isinstance(name, (int, np.integer)) and not isinstance(name, bool):
        count = {mujoco.mjtObj.mjOBJ_SITE: model.nsite, mujoco.mjtObj.mjOBJ_GEOM: model.ngeom}.get(kind, model.nbody)
        if not 0 <= name < count:
            raise Error(f"`{what}`: the model has no {what} number {name}; they go from 0 to {count - 1}")
        return int(name)
    if not isinstance(name, str):
        raise TypeError(f"`{what}` must be a name or a number, got a {type(name).__name__}")
    number = int(mujoco.mj_name2id(model, kind, name))
    if number < 0:
        raise Error(f"`{what}`: the model has no {what} {name!r}")
    return number


@dataclass(frozen=True)
class Place:
    """A site, body or geom, and where the sensor's frame is in its frame."""

    model: Any
    kind: Any
    id: int
    body: int
    place_from_sensor: Array

    @staticmethod
    def of(model: Any, site: str | int | None, body: str | int | None, geom: str | int | None, pose: ArrayLike | None) -> Place:
        """Looks up the one of them that is given."""
        given = [name for name, value in (("site", site), ("body", body), ("geom", geom)) if value is not None]
        if len(given) != 1:
            raise Error(f"give one of `site`, `body` and `geom`, got {' and '.join(given) or 'none'}")
        offset = np.eye(4) if pose is None else _offset(pose)
        if site is not None:
            number = find(model, mujoco.mjtObj.mjOBJ_SITE, site, "site")
            return Place(model, mujoco.mjtObj.mjOBJ_SITE, number, int(model.site_bodyid[number]), offset)
        if geom is not None:
            number = find(model, mujoco.mjtObj.mjOBJ_GEOM, geom, "geom")
            return Place(model, mujoco.mjtObj.mjOBJ_GEOM, number, int(model.geom_bodyid[number]), offset)
        assert body is not None
        number = find(model, mujoco.mjtObj.mjOBJ_BODY, body, "body")
        return Place(model, mujoco.mjtObj.mjOBJ_XBODY, number, number, offset)

    def body_from_sensor(self) -> Array:
        """Where the sensor is on its body; that does not change."""
        if self.kind == mujoco.mjtObj.mjOBJ_SITE:
            return turned(self.model.site_quat[self.id], self.model.site_pos[self.id]) @ self.place_from_sensor
        if self.kind == mujoco.mjtObj.mjOBJ_GEOM:
            return turned(self.model.geom_quat[self.id], self.model.geom_pos[self.id]) @ self.place_from_sensor
        return self.place_from_sensor

    def pose(self, data: Any) -> Array:
        """world_from_sensor, (4, 4)."""
        if self.kind == mujoco.mjtObj.mjOBJ_SITE:
            world_from_place = rigid(data.site_xmat[self.id], data.site_xpos[self.id])
        elif self.kind == mujoco.mjtObj.mjOBJ_GEOM:
            world_from_place = rigid(data.geom_xmat[self.id], data.geom_xpos[self.id])
        else:
            world_from_place = rigid(data.xmat[self.id], data.xpos[self.id])
        return world_from_place @ self.place_from_sensor

    def twist(self, data: Any, world_from_sensor: Array) -> Array:
        """Velocity of the sensor's origin (m/s) and angular velocity (rad/s), in the world, (6,)."""
        spin, speed = velocity(self.model, data, self.kind, self.id)
        at = data.site_xpos if self.kind == mujoco.mjtObj.mjOBJ_SITE else data.geom_xpos
        origin = data.xpos[self.id] if self.kind == mujoco.mjtObj.mjOBJ_XBODY else at[self.id]
        return np.concatenate([speed + cross(spin, world_from_sensor[:3, 3] - origin), spin])


def velocity(model: Any, data: Any, kind: Any, number: int) -> tuple[Array, Array]:
    """Angular velocity (rad/s) and velocity of the origin (m/s) of a thing, in the world."""
    both = np.empty(6)
    mujoco.mj_objectVelocity(model, data, kind, number, both, 0)
    return both[:3], both[3:]


def _offset(pose: ArrayLike) -> Array:
    """Reads a pose: (4, 4), (7,) position and quaternion (w first), or (3,) position."""
    numbers = np.asarray(pose, dtype=float)
    if not np.isfinite(numbers).all():
        raise Error("`pose` must be finite")
    if numbers.shape == (3,):
        return rigid(np.eye(3), numbers)
    if numbers.shape == (7,) and abs(np.linalg.norm(numbers[3:]) - 1) < 1e-3:
        return turned(numbers[3:] / np.linalg.norm(numbers[3:]), numbers[:3])
    if numbers.shape == (4, 4):
        turn = numbers[:3, :3]
        if np.allclose(turn @ turn.T, np.eye(3), atol=1e-6) and np.linalg.det(turn) > 0:
            return rigid(turn, numbers[:3, 3])
    raise Error(
        "`pose` must be a rigid transform of shape (4, 4), a position and unit quaternion (w first) of shape (7,), or a position of "
        f"shape (3,); got shape {numbers.shape}"
    )
