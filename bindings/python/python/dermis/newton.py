"""Tactile sensors in Newton: ``pip install newton``.

>>> import newton
>>> import dermis, dermis.newton
>>> world = newton.ModelBuilder()
>>> pad = world.add_site(-1, label="pad")                     # the frame of the sensor, here fixed in the world; +z out of the skin
>>> ball = world.add_body(xform=((0, 0, 9.9e-3), (0, 0, 0, 1)))
>>> shape = world.add_shape_sphere(ball, radius=10e-3, label="ball")
>>> builder = newton.ModelBuilder()
>>> builder.replicate(world, 2)
>>> model = builder.finalize()
>>> touch = dermis.newton.attach(model, dermis.Sensor.preset("uji-foam-14x6"), site="pad", object="ball")
>>> solver = newton.solvers.SolverSemiImplicit(model)
>>> before, after = model.state(), model.state()
>>> for _ in range(3):
...     before.clear_forces()
...     touch.step(before, dt=1e-3)                           # adds the loads of the skin to body_f
...     solver.step(before, after, None, None, 1e-3)
...     before, after = after, before
>>> touch.taxels.shape                                        # a Warp array (worlds, taxels), N
(2, 84)

On a GPU the steps can be captured in a CUDA graph with ``warp.ScopedCapture``.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

import dermis
from dermis import _optional
from dermis._bodies import Body, check_mode, listed
from dermis._primitives import primitive
from dermis._warp import Rows, Touch

__all__ = ["NewtonTouch", "attach"]


class NewtonTouch(Touch):
    """A sensor in every world of a Newton model. Made by ``attach``."""

    _ends: tuple[_Shapes, _Shapes]
    _is_coupled: bool

    def step(self, state: Any, dt: float) -> None:
        """Advances the sensors by dt (s) from the poses and velocities of a state.

        With mode="couple" it adds the loads of the skin to ``state.body_f``: call it after ``state.clear_forces()``, before ``solver.step``. On a GPU
        it only enqueues work on the stream of Warp's device; keep the state alive as long as a graph that holds the step.
        """
        count = self._ends[0].model.body_count
        if len(state.body_q) != count:
            raise dermis.Error(f"`state` has {len(state.body_q)} bodies, and the model of `attach` has {count}")
        object, carrier = (shapes.body(state, self._is_coupled) for shapes in self._ends)
        self._bind(dt, [object], carrier, quaternion="xyzw")
        self._launch()


def attach(
    model: Any,
    sensor: dermis.Sensor,
    *,
    site: str,
    object: str,
    shape: dermis.Object | None = None,
    mode: Literal["couple", "sense"] = "couple",
    dtype: Literal["float32", "float64"] = "float32",
    response: bool | Literal["beside"] = False,
    image: Any = None,
    markers: Any = None,
    randomise: dict[str, tuple[float, float]] | None = None,
    seed: int = 0,
    precision: Literal["double", "single"] | None = None,
) -> NewtonTouch:
    """Attaches a sensor to a site in all worlds of a Newton model; ``touch.step(state, dt)`` then belongs to each step of its solver.

    site: label of the site, or of another shape, whose frame is the sensor's, +z out of the skin. object: label of the shape that touches
    the sensor. Each is in every world once, with the same pose in its body; labels may have a prefix before a "/". shape: the object's shape in its frame; default: that of a
    sphere, box, cylinder, capsule or ellipsoid.

    mode="couple" replaces the contact between the object and all shapes of the site's body by the skin, whose loads are added to ``body_f`` of both
    bodies: force (N) and torque (N m) in the world frame about the center of mass. A solver that exists already keeps its contact, and both act: call it before the solver and the ``CollisionPipeline`` are made. mode="sense" changes
    nothing but computes the reading.

    The other arguments are those of ``dermis.mjwarp.attach``.
    """
    check_mode(mode)
    where, what = _Shapes(model, "site", site), _Shapes(model, "object", object)
    if where.bodies[0] == what.bodies[0]:
        raise dermis.Error(f"site {site!r} and object {object!r} are on the same body")
    if mode == "couple":
        _exclude(model, where, what)
    touch = NewtonTouch(
        sensor,
        [shape or what.shape()],
        len(what.indices),
        model.device,
        dtype=dtype,
        response=response,
        image=image,
        markers=markers,
        randomise=randomise,
        seed=seed,
        precision=precision,
    )
    touch._ends, touch._is_coupled = (what, where), mode == "couple"
    return touch


class _Shapes:
    """The shapes of one name, one in each world, or one for all worlds that does not move."""

    def __init__(self, model: Any, argument: str, name: str) -> None:
        self.model, self.name, self.argument = model, name, argument
        if not isinstance(name, str):
            raise self.refused("must be one label")
        labels = model.shape_label
        found = np.array([i for i, label in enumerate(labels) if label == name or label.endswith(f"/{name}")], dtype=int)
        if not len(found):
            raise self.refused(f"no shape of the model has this label{listed(dict.fromkeys(label.rsplit('/')[-1] for label in labels))}")
        worlds = model.shape_world.numpy()[found]
        count = max(int(model.world_count), 1)
        is_common = len(found) == 1 and worlds[0] == -1
        if not is_common and not np.array_equal(np.sort(worlds), np.arange(count)):
            raise self.refused(f"{len(found)} shapes of the model have this label, and each of its {count} worlds needs one")
        self.indices = np.repeat(found, count) if is_common else found[np.argsort(worlds)]
        self.bodies = model.shape_body.numpy()[self.indices]
        if (self.bodies < 0).any() and not (self.bodies < 0).all():
            raise self.refused("it is fixed in some worlds and moves in others")
        self.is_fixed = bool(self.bodies[0] < 0)
        if is_common and count > 1 and not self.is_fixed:
            raise self.refused("it moves and belongs to no world, and loads of all worlds would act on it")
        transforms = model.shape_transform.numpy()[self.indices]
        if not self.is_fixed:
            self.offset = transforms[0][[0, 1, 2, 6, 3, 4, 5]]
            centers = model.body_com.numpy()[self.bodies]
            self.center = [float(number) for number in centers[0]]
            for values, text in ((transforms, "pose in its body"), (centers, "center of mass of its body")):
                if not (values == values[0]).all():
                    raise self.refused(f"the {text} differs between worlds")

    def refused(self, reason: str) -> dermis.Error:
        return dermis.Error(f"`{self.argument}` {self.name!r}: {reason}")

    def rows(self, array: Any, indices: np.ndarray[Any, Any]) -> Rows:
        """The rows of an array that belong to the worlds."""
        step = int(indices[1] - indices[0]) if len(indices) > 1 else 0
        if (np.diff(indices) != step).any():
            raise self.refused("its places in the arrays of the model are not evenly spaced: all worlds must have the same bodies")
        pitch = int(array.strides[0])
        return Rows(array, int(indices[0]) * pitch, step * pitch, len(indices))

    def body(self, state: Any, is_coupled: bool) -> Body:
        """Poses, velocities and loads of the worlds in a state.

        Newton gives the linear velocity of the center of mass first, then the angular velocity, both in the world frame, and takes force and
        torque about the center of mass in the world frame.
        """
        if self.is_fixed:
            return Body(pose=self.rows(self.model.shape_transform, self.indices))
        made = Body(
            pose=self.rows(state.body_q, self.bodies),
            offset=self.offset,
            twist=self.rows(state.body_qd, self.bodies),
            twist_at=self.center,
        )
        if is_coupled:
            made.load, made.load_at, made.adds = self.rows(state.body_f, self.bodies), self.center, True
        return made

    def shape(self) -> dermis.Object:
        _optional.require("dermis.newton", "newton")
        import newton

        kinds, sizes = self.model.shape_type.numpy()[self.indices], self.model.shape_scale.numpy()[self.indices]
        if not ((kinds == kinds[0]).all() and (sizes == sizes[0]).all()):
            raise self.refused("its shape differs between worlds")
        return primitive(newton.GeoType(int(kinds[0])).name, sizes[0], f"shape {self.name!r}")


def _exclude(model: Any, where: _Shapes, what: _Shapes) -> None:
    """Removes the contact of an object with all shapes of a site's body from the pairs of shapes that are tested."""
    _optional.require("dermis.newton", "warp")
    import warp as wp

    bodies, worlds = model.shape_body.numpy(), model.shape_world.numpy()
    pairs = set()
    for index, body in zip(what.indices, where.bodies, strict=True):
        # Fixed shapes of all worlds have the same body, -1.
        same_world = (worlds == worlds[index]) | (worlds == -1) | (worlds[index] == -1)
        others = np.flatnonzero((bodies == body) & same_world)
        pairs |= {(min(int(index), int(other)), max(int(index), int(other))) for other in others}
    wanted = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    if model.shape_collision_filter_mask(wanted).all():
        return
    if not hasattr(model, "_set_shape_collision_filter_pairs"):
        raise dermis.Error(
            "this version of Newton has fixed pairs of shapes: call `add_shape_collision_filter_pair` of the builder for the object and the shapes of the site's body"
        )
    model._set_shape_collision_filter_pairs(pairs | set(model.shape_collision_filter_pairs))
    if model.shape_contact_pairs is not None:
        tested = model.shape_contact_pairs.numpy()
        kept = tested[~model.shape_collision_filter_mask(tested)]
        model.shape_contact_pairs = wp.array(kept, dtype=wp.vec2i, device=model.device)
