"""Geoms of a model as things that can be touched."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from dermis import Error, Object
from dermis.mujoco._place import Array, find, rigid

# MuJoCo's planes are endless; this is far enough (m).
PLANE_SIZE, PLANE_DEPTH = 2e3, 1.0
# So many shapes are kept for other sensors and other mjData.
MAX_KEPT = 256

_built: dict[bytes, Object] = {}


def name(model: Any, geom: int) -> str:
    """How messages call a geom."""
    said = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_GEOM, geom)
    body = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, int(model.geom_bodyid[geom]))
    return f"geom {said!r}" if said else f"geom {geom} of body {body!r}"


def shape(model: Any, geom: int) -> tuple[Object, Array]:
    """A geom's surface, and where its frame is in the geom's (4, 4). Equal geoms share one object."""
    kind, size, data = int(model.geom_type[geom]), model.geom_size[geom], int(model.geom_dataid[geom])
    types, offset = mujoco.mjtGeom, np.eye(4)
    matter: tuple[Any, ...]
    if kind in (types.mjGEOM_MESH, types.mjGEOM_SDF) and data >= 0:
        vertices = _part(model.mesh_vert, model.mesh_vertadr[data], model.mesh_vertnum[data])
        faces = _part(model.mesh_face, model.mesh_faceadr[data], model.mesh_facenum[data])
        matter = (vertices, faces)
    elif kind == types.mjGEOM_HFIELD and data >= 0:
        rows, cols = int(model.hfield_nrow[data]), int(model.hfield_ncol[data])
        matter = (_part(model.hfield_data, model.hfield_adr[data], rows * cols).reshape(rows, cols), model.hfield_size[data])
    else:
        matter = (np.asarray(size),)
    digest = hashlib.sha256(bytes([kind]) + b"".join(np.ascontiguousarray(part).tobytes() for part in matter)).digest()
    if kind == types.mjGEOM_PLANE:
        offset = rigid(np.eye(3), [0, 0, -0.5 * PLANE_DEPTH])
    if digest not in _built:
        try:
            made = _build(kind, matter)
        except (ValueError, TypeError) as error:
            raise Error(f"{name(model, geom)} cannot be touched: {error}") from None
        while len(_built) >= MAX_KEPT:
            del _built[next(iter(_built))]
        _built[digest] = made
    return _built[digest], offset


def _part(array: Any, first: Any, count: Any) -> Any:
    return array[int(first) : int(first) + int(count)]


def _build(kind: int, matter: tuple[Any, ...]) -> Object:
    types, size = mujoco.mjtGeom, matter[0]
    if kind == types.mjGEOM_SPHERE:
        return Object.sphere(radius=size[0])
    if kind == types.mjGEOM_ELLIPSOID:
        return Object.ellipsoid(semi_axes=size)
    if kind == types.mjGEOM_BOX:
        return Object.box(size=2 * size)
    if kind == types.mjGEOM_CYLINDER:
        return Object.cylinder(radius=size[0], length=2 * size[1])
    if kind == types.mjGEOM_CAPSULE:
        return Object.capsule(radius=size[0], length=2 * size[1])
    if kind == types.mjGEOM_PLANE:
        return Object.box(size=[PLANE_SIZE, PLANE_SIZE, PLANE_DEPTH])
    if kind in (types.mjGEOM_MESH, types.mjGEOM_SDF) and len(matter) == 2:
        return Object.mesh(vertices=size, triangles=matter[1])
    if kind == types.mjGEOM_HFIELD and len(matter) == 2:
        # MuJoCo's row 0 is at -y, and its heights are parts of the greatest.
        half_x, half_y, top, base = matter[1]
        return Object.height_field(size[::-1] * top, size=[2 * half_x, 2 * half_y], base=base)
    raise Error(f"its type {kind} has no surface of its own")


def weld(model: Any, body: int) -> int:
    """The body that a body does not move against. A mocap body is one of its own, which older versions count to the world."""
    at = body if model.body_weldid[body] == 0 else 0
    while at:
        if model.body_mocapid[at] >= 0:
            return at
        at = int(model.body_parentid[at])
    return int(model.body_weldid[body])


def collides(model: Any, geom: int) -> bool:
    """Whether a geom takes part in contacts at all."""
    return bool(model.geom_contype[geom] or model.geom_conaffinity[geom])


def related(model: Any, a: int, b: int) -> bool:
    """Whether one body carries the other, so that MuJoCo lets them overlap. The world carries no one in this sense."""
    a, b = weld(model, a), weld(model, b)
    parents = weld(model, int(model.body_parentid[a])), weld(model, int(model.body_parentid[b]))
    off = bool(model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)
    return a != 0 and b != 0 and (parents[0] == b or parents[1] == a) and not off


def touchable(model: Any, objects: str | int | Sequence[str | int] | None, body: int) -> list[int]:
    """The geoms that a sensor on a body may feel: those named, or all of other bodies that take part in contacts."""
    own = weld(model, body)
    if objects is None:
        geoms = [g for g in range(model.ngeom) if collides(model, g) and weld(model, int(model.geom_bodyid[g])) != own]
        geoms = [g for g in geoms if not related(model, int(model.geom_bodyid[g]), body)]
        if not geoms:
            raise Error("there is nothing to touch: no geom of another body takes part in contacts; name some in `objects`")
        return geoms
    geoms = []
    for item in [objects] if isinstance(objects, (str, int)) else objects:
        for geom in _named(model, item):
            if weld(model, int(model.geom_bodyid[geom])) == own:
                raise Error(f"`objects`: {name(model, geom)} moves with the sensor, which cannot feel it")
            if geom not in geoms:
                geoms.append(geom)
    if not geoms:
        raise Error("`objects` names nothing")
    return geoms


def _named(model: Any, item: str | int) -> list[int]:
    """The geom of a name or number, or the geoms of a body; of those the ones that take part in contacts, if any does."""
    if not isinstance(item, str):
        return [find(model, mujoco.mjtObj.mjOBJ_GEOM, item, "geom")]
    geom = int(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, item))
    if geom >= 0:
        return [geom]
    body = int(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, item))
    if body < 0:
        raise Error(f"`objects`: the model has no geom or body {item!r}")
    first, count = int(model.body_geomadr[body]), int(model.body_geomnum[body])
    if count == 0:
        raise Error(f"`objects`: body {item!r} has no geoms")
    geoms = list(range(first, first + count))
    return [geom for geom in geoms if collides(model, geom)] or geoms
