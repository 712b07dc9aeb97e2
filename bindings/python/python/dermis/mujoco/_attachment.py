"""A sensor in a simulation."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from dermis import Error, Object, Reading, Sensor
from dermis.mujoco import _geoms, _passive
from dermis.mujoco._contacts import Silence, touch
from dermis.mujoco._place import Array, Place, cross, inverse, rigid, turned, velocity

MODES = ("sense", "couple")
# Where things are put that are too far to be felt (m).
AWAY = (0.0, 0.0, 1e6)


def attach(
    model: Any,
    data: Any,
    sensor: Sensor,
    *,
    site: str | int | None = None,
    body: str | int | None = None,
    geom: str | int | None = None,
    pose: ArrayLike | None = None,
    objects: str | int | Sequence[str | int] | None = None,
    mode: str = "sense",
) -> Attachment:
    """Attaches a sensor to a site, a body or a geom of a loaded model, and returns the attachment: keep it.

    model, data: mujoco.MjModel and mujoco.MjData.
    sensor: a copy of it is attached, so that one Sensor can be attached in many places.
    site, body, geom: one of them, by name or number. Its frame is the sensor's: +z out of the skin, row 0 at +y, column 0 at -x.
    pose: where the sensor is in that frame, if not at its origin: (4, 4), (7,) position (m) and quaternion (w first), or (3,) position.
    objects: names (or numbers) of the geoms, or names of the bodies, that it may feel. Without: every geom of another body that
        takes part in contacts, except those of the bodies that carry it.
    mode: "sense" reads, and MuJoCo's contact goes on. Its bodies hardly sink into each other: let the skin stand above the geom by as much
        as it should be pressed. "couple": the skin presses in place of MuJoCo. Its forces are taken at the start of every step and
        enter as passive forces, inside mj_step, whoever calls it; MuJoCo's contact between the objects and geoms under the skin is
        switched off, by their contype and conaffinity, until the attachment is gone. It belongs to this mjData; copies are not pressed.

    Raises dermis.Error for what the model does not have, and in "couple" for a time step that the skin's springs would make unstable.
    """
    return Attachment(model, data, sensor, Place.of(model, site, body, geom, pose), objects, mode)


class Attachment:
    """A sensor in a simulation, made by ``attach``."""

    def __init__(
        self, model: Any, data: Any, sensor: Sensor, place: Place, objects: str | int | Sequence[str | int] | None, mode: str
    ) -> None:
        if mode not in MODES:
            raise Error(f"`mode` must be 'sense' or 'couple', got {mode!r}")
        if not isinstance(sensor, Sensor):
            raise TypeError(f"`sensor` must be a dermis.Sensor, got a {type(sensor).__name__}")
        self.model, self.data, self.mode = model, data, mode
        self._place = place
        self._geoms = np.array(_geoms.touchable(model, objects, place.body))
        self._shapes = [_geoms.shape(model, int(geom)) for geom in self._geoms]
        self._bodies = [int(model.geom_bodyid[geom]) for geom in self._geoms]
        low, high = sensor.mesh[0].min(axis=0), sensor.mesh[0].max(axis=0)
        self._middle = 0.5 * (low + high)
        # A plane has no radius: it is always near.
        reach = 0.5 * float(np.linalg.norm(high - low)) + sensor.max_depth
        radius = np.where(model.geom_rbound[self._geoms] > 0, model.geom_rbound[self._geoms], np.inf)
        self._near_squared = (radius + reach) ** 2
        self._rest = copy.copy(sensor)
        self._rest.reset()
        self._ends: list[Callable[[], object]] = []
        self._let_go()
        if mode == "couple":
            self._refuse_long_steps()
            own = self._under_the_skin()
            if own:
                self._ends.append(Silence.off(self, model, own, [int(geom) for geom in self._geoms]))
            self._ends.append(_passive.join(self, data._address))

    def _let_go(self) -> None:
        self._before = self._after = copy.copy(self._rest)
        self._time, self._dt = -math.inf, 0.0
        self._reading: Reading | None = None
        self._error: Exception | None = None

    @property
    def sensor(self) -> Sensor:
        """A copy of the sensor, with its history up to now."""
        return copy.copy(self._after)

    @property
    def objects(self) -> list[str]:
        """What it may feel, in the order of ``reading.touch.on_objects``."""
        return [_geoms.name(self.model, int(geom)) for geom in self._geoms]

    @property
    def pose(self) -> Array:
        """Where the sensor is: world_from_sensor, (4, 4)."""
        return self._place.pose(self.data)

    def read(self) -> Reading:
        """What the sensor reports of the simulation as mj_step or mj_forward left it.

        "sense": the time since the last reading is taken as one step of the sensor. Reading again at the same time changes nothing.
        "couple": the sensor goes on with every step of MuJoCo; this is what it felt at the start of the last one.
        Going back in time, as resets do, lets go of everything. Raises dermis.Error when a pose is not finite, here and in the steps since
        the last reading; the simulation can go on from there.
        """
        time = float(self.data.time)
        if self.mode == "sense":
            if time < self._time:
                self._let_go()
            if time > self._time:
                self._dt = time - self._time if math.isfinite(self._time) else float(self.model.opt.timestep)
                self._before, self._time = self._after, time
            self._reading, self._after, _ = self._feel(self._before, self._dt)
            return self._reading
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        late = time - self._time > 1.5 * float(self.model.opt.timestep)
        if self._reading is None or late or time < self._time:
            if self._reading is not None and late:
                raise Error(
                    "MuJoCo has not asked the skin for its forces since it was last read: passive forces are disabled in the model, or "
                    "another mjcb_passive has been set; attach after that is done"
                )
            mujoco.mj_forward(self.model, self.data)
            if self._error is not None:
                return self.read()
        if self._reading is None:
            raise Error("MuJoCo does not ask for passive forces: they are disabled in the model")
        return self._reading

    def reset(self) -> None:
        """Lets go: nothing has touched the sensor."""
        self._let_go()

    def detach(self) -> None:
        """Ends it. In "couple" MuJoCo's own contact is back."""
        while self._ends:
            self._ends.pop()()

    def push(self) -> None:
        """Adds the skin's forces to data.qfrc_passive, in the middle of a step of MuJoCo.

        Nothing can be raised from there: an error is a warning now, and raised by the next ``read``.
        """
        try:
            self._push()
        except Exception as error:
            if self._error is None:
                warnings.warn(f"the skin does not press in this step: {error}", RuntimeWarning, stacklevel=2)
            self._error = error

    def _push(self) -> None:
        time, step = float(self.data.time), float(self.model.opt.timestep)
        if time < self._time:
            self._let_go()
        if time >= self._time + step * (1 - 1e-6):
            # Only what a whole step has passed is history; the stages of Runge and Kutta start from the same.
            self._before, self._time = self._after, time
        reading, after, world_from_sensor = self._feel(self._before, step)
        if time == self._time:
            self._reading, self._after = reading, after
        touch = reading.touch
        self._apply(self._place.body, touch.on_sensor, world_from_sensor)
        for body, load in zip(self._bodies, touch.on_objects):
            self._apply(body, load, world_from_sensor)

    def _apply(self, body: int, load: Array, world_from_sensor: Array) -> None:
        if load.any():
            turn, point = world_from_sensor[:3, :3], world_from_sensor[:3, 3].copy()
            force, torque = turn @ load[:3], turn @ load[3:]
            mujoco.mj_applyFT(self.model, self.data, force, torque, point, body, self.data.qfrc_passive)

    def _feel(self, before: Sensor, dt: float) -> tuple[Reading, Sensor, Array]:
        """The reading after dt (s), the sensor that has felt it, and where it is."""
        if not self.data.xmat[0].any():  # nothing has been computed in this mjData yet
            mujoco.mj_forward(self.model, self.data)
        world_from_sensor = self._place.pose(self.data)
        positions = self.data.geom_xpos[self._geoms]
        if not np.isfinite(world_from_sensor).all():
            raise Error("the sensor's pose is not finite: the simulation has blown up, or was given a position that is not a number")
        if not np.isfinite(positions).all():
            bad = int(self._geoms[~np.isfinite(positions).all(axis=1)][0])
            raise Error(f"the position of {_geoms.name(self.model, bad)} is not finite, so it cannot be felt")
        middle = world_from_sensor[:3, :3] @ self._middle + world_from_sensor[:3, 3]
        near = ((positions - middle) ** 2).sum(axis=1) < self._near_squared
        targets: list[tuple[Object, ArrayLike] | tuple[Object, ArrayLike, ArrayLike | None]] = [
            (shape, self._world_from(index), self._twist(index)) if near[index] else (shape, AWAY)
            for index, (shape, _) in enumerate(self._shapes)
        ]
        after = copy.copy(before)
        twist = self._place.twist(self.data, world_from_sensor)
        reading = after.step(targets, dt=dt, sensor_pose=world_from_sensor, sensor_twist=twist)
        return reading, after, world_from_sensor

    def _world_from(self, index: int) -> Array:
        geom = self._geoms[index]
        return rigid(self.data.geom_xmat[geom], self.data.geom_xpos[geom]) @ self._shapes[index][1]

    def _twist(self, index: int) -> Array:
        geom, offset = int(self._geoms[index]), self._shapes[index][1][:3, 3]
        spin, speed = velocity(self.model, self.data, mujoco.mjtObj.mjOBJ_GEOM, geom)
        arm = self.data.geom_xmat[geom].reshape(3, 3) @ offset
        return np.concatenate([speed + cross(spin, arm), spin])

    def _under_the_skin(self) -> list[int]:
        """Geoms that move with the sensor, reach into its skin, and would be pressed by MuJoCo as well."""
        model, own, found = self.model, _geoms.weld(self.model, self._place.body), []
        weld_from_sensor = self._weld_from(self._place.body) @ self._place.body_from_sensor()
        for geom in range(model.ngeom):
            body = int(model.geom_bodyid[geom])
            if _geoms.weld(model, body) != own or not any(touch(model, geom, int(other)) for other in self._geoms):
                continue
            shape, offset = _geoms.shape(model, geom)
            weld_from_geom = self._weld_from(body) @ turned(model.geom_quat[geom], model.geom_pos[geom])
            sensor_from_object = inverse(weld_from_sensor) @ weld_from_geom @ offset
            if len(copy.copy(self._rest).step(shape, pose=sensor_from_object, dt=1.0).touch.areas):
                found.append(geom)
        return found

    def _weld_from(self, body: int) -> Array:
        """Where a body is on the one it is welded to."""
        end, pose = _geoms.weld(self.model, body), np.eye(4)
        while body not in (0, end):
            pose = turned(self.model.body_quat[body], self.model.body_pos[body]) @ pose
            body = int(self.model.body_parentid[body])
        return pose

    def _refuse_long_steps(self) -> None:
        """The step must be stable with all of the skin under an object pressed."""
        step, own = float(self.model.opt.timestep), float(self.model.body_invweight0[self._place.body, 0])
        for geom, body, (shape, _) in zip(self._geoms, self._bodies, self._shapes):
            ease = own + float(self.model.body_invweight0[body, 0])
            if ease <= 0:
                continue
            limit = self._rest.stable_step(mass=1 / ease, size=shape.bounds[1] - shape.bounds[0])
            if step > limit:
                digit = 10.0 ** math.floor(math.log10(limit))
                raise Error(
                    f"a time step of {step:g} s is too long for {_geoms.name(self.model, int(geom))} on sensor {self._rest.name!r}: it is stable "
                    f'up to {limit:.2g} s; write <option timestep="{math.floor(limit / digit) * digit:g}"/>, or take a softer skin'
                )
