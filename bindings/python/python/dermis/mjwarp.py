"""Tactile sensors in MuJoCo Warp: ``pip install mujoco-warp``.

>>> import mujoco, mujoco_warp
>>> import dermis, dermis.mjwarp
>>> model = mujoco.MjModel.from_xml_path("plate.xml")
>>> m, d = mujoco_warp.put_model(model), mujoco_warp.make_data(model, nworld=2)
>>> pad = dermis.Sensor.preset("uji-foam-14x6")
>>> touch = dermis.mjwarp.attach(m, d, pad, model=model, site="pad", object="ball")
>>> for _ in range(3):
...     mujoco_warp.step(m, d)
>>> touch.taxels.shape                              # a Warp array (nworld, taxels), N
(2, 84)

On a GPU the steps can be captured in a CUDA graph: ``with warp.ScopedCapture() as capture: mujoco_warp.step(m, d)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

import dermis

__all__ = ["Touch", "attach"]


class Touch:
    """A sensor in every world of a MuJoCo Warp simulation. Made by ``attach``.

    ``taxels`` is a Warp array (nworld, taxels) of the force (N) along each taxel's normal, ``reported`` one of the readings (N) after the
    response of the sensor (None unless asked for), and ``wrench`` (nworld, 6) the force (N) and torque (N m) on the sensor about its
    origin, in its frame, all of the last step. ``environments`` are the ``dermis.Environments``.
    """

    def __init__(self, environments: dermis.Environments, taxels: Any, reported: Any, wrench: Any) -> None:
        self.environments = environments
        self.taxels = taxels
        self.reported = reported
        self.wrench = wrench

    def reset(self, mask: Any = None) -> None:
        """Ends contact, and draws randomised parameters anew, in the worlds where the mask (bool, uint8 or int32, (nworld,)) is not zero; default: in all."""
        self.environments.reset(mask, _stream(self.taxels.device))

    def check(self) -> None:
        """Raises ``dermis.Error`` if a world had an invalid pose or velocity since its last reset. Waits for the GPU."""
        self.environments.check()


def attach(
    m: Any,
    d: Any,
    sensor: dermis.Sensor,
    *,
    model: Any,
    site: str,
    object: str | Sequence[str],
    shape: dermis.Object | Sequence[dermis.Object | None] | None = None,
    mode: Literal["couple", "sense"] = "couple",
    dtype: Literal["float32", "float64"] = "float32",
    response: bool = False,
    image: Any = None,
    markers: Any = None,
    randomise: dict[str, tuple[float, float]] | None = None,
    seed: int = 0,
) -> Touch:
    """Attaches a sensor to a site of a MuJoCo Warp model; it works in every ``step`` from then on, also in captured graphs.

    m, d: the Model and Data of MuJoCo Warp. model: the ``mujoco.MjModel`` that they were made of, for names. site: the sensor's frame, +z
    out of the skin. object: name of the geom that touches the sensor, or names of up to 32 such geoms. shape: the geom's shape in its
    frame, or a list with the shape of each; default: that of a sphere, box, cylinder, capsule or ellipsoid. Call it again for every further
    sensor.

    mode="couple" replaces MuJoCo's contact between the geoms and all geoms of the site's body by the skin: its loads on their bodies are
    written to ``d.xfrc_applied`` of these bodies in every step, at their centers of mass, and replace what was there; several sensors on one
    body add up. mode="sense" changes nothing but computes the
    reading.

    response=True also computes the readings after the response of the sensor. image, markers: arrays for the images of a sensor with a camera,
    uint8, (nworld, height, width, 3), and for column and row of each of its markers (pixels), (nworld, markers, 2), written in every step, as by
    ``Environments.bind``. randomise, seed: parameters that differ from world to world,
    as for ``Sensor.environments``.

    Call it before a graph is captured.
    """
    import mujoco
    import warp as wp

    if mode not in ("couple", "sense"):
        raise dermis.Error(f'`mode` must be "couple" or "sense", got {mode!r}')
    at = _id(mujoco, model, mujoco.mjtObj.mjOBJ_SITE, site, "site")
    names = [object] if isinstance(object, str) else list(object)
    if not names:
        raise dermis.Error("`object` names no geom")
    geoms = [_id(mujoco, model, mujoco.mjtObj.mjOBJ_GEOM, name, "object") for name in names]
    carrier, bodies = int(model.site_bodyid[at]), [int(model.geom_bodyid[geom]) for geom in geoms]
    for name, body in zip(names, bodies, strict=True):
        if carrier == body:
            raise dermis.Error(f"site {site!r} and geom {name!r} are on the same body")
    given = [shape] * len(geoms) if shape is None or isinstance(shape, dermis.Object) else list(shape)
    if len(given) != len(geoms):
        raise dermis.Error(f"`shape` has {len(given)} entries, and there are {len(geoms)} objects")
    device = d.xpos.device
    environments = sensor.environments(
        [own or _shape(mujoco, model, geom) for own, geom in zip(given, geoms, strict=True)],
        d.nworld,
        device="cuda" if device.is_cuda else "cpu",
        randomise=randomise,
        seed=seed,
    )
    kind = {"float32": wp.float32, "float64": wp.float64}[dtype]
    count = int(np.prod(sensor.shape))
    taxels = wp.zeros((d.nworld, count), dtype=kind, device=device)
    reported = wp.zeros((d.nworld, count), dtype=kind, device=device) if response else None
    wrench = wp.zeros((d.nworld, 6), dtype=kind, device=device)
    loads: dict[str, Any] = {}
    if mode == "couple":
        _exclude(wp, m, model, set(geoms), carrier)
        # The first load on a body replaces that of the last step, further ones are added.
        written = m.__dict__.setdefault("_dermis_loads", set())

        def load(index: int) -> tuple[Any, Any, bool]:
            if index == 0:
                return None, None, False
            add = index in written
            written.add(index)
            return _part(d.xfrc_applied, index), _part(d.xipos, index), add

        on_objects, objects_at, add_to_objects = zip(*map(load, bodies), strict=True)
        loads |= {"on_object": list(on_objects), "on_object_at": list(objects_at), "add_to_object": list(add_to_objects)}
        loads["on_sensor"], loads["on_sensor_at"], loads["add_to_sensor"] = load(carrier)
    # cvel is the velocity, angular part first, at the center of mass of the kinematic tree.
    environments.bind(
        dt=float(model.opt.timestep),
        pose=[(_part(d.xpos, body), _part(d.xquat, body)) for body in bodies],
        sensor_pose=(_part(d.xpos, carrier), _part(d.xquat, carrier)),
        object_offset=[np.concatenate([model.geom_pos[geom], model.geom_quat[geom]]) for geom in geoms],
        sensor_offset=np.concatenate([model.site_pos[at], model.site_quat[at]]),
        twist=[_part(d.cvel, body) for body in bodies],
        twist_at=[_part(d.subtree_com, int(model.body_rootid[body])) for body in bodies],
        sensor_twist=_part(d.cvel, carrier),
        sensor_twist_at=_part(d.subtree_com, int(model.body_rootid[carrier])),
        twist_order="angular",
        taxels=taxels,
        reported=reported,
        wrench=wrench,
        image=image,
        markers=markers,
        **loads,
    )
    before = m.callback.passive

    def passive(m: Any, d: Any) -> None:
        if before is not None:
            before(m, d)
        environments.launch(_stream(device))

    m.callback.passive = passive
    return Touch(environments, taxels, reported, wrench)


class _Interface:
    """Part of a Warp array by its address, with any strides."""

    def __init__(self, array: Any, described: dict[str, Any]) -> None:
        self.array = array
        self.ndim = len(described["shape"])
        setattr(self, "__cuda_array_interface__" if array.device.is_cuda else "__array_interface__", described)


def _part(array: Any, index: int) -> _Interface:
    """The numbers of one body in all worlds, (nworld, k), of an array (nworld, nbody) of vectors."""
    numbers = int(np.prod(array.dtype._shape_))
    described = {
        "shape": (array.shape[0], numbers),
        "strides": (array.strides[0], 4),
        "typestr": "<f4",
        "data": (array.ptr + index * array.strides[1], False),
        "version": 3,
    }
    return _Interface(array, described)


def _stream(device: Any) -> Any:
    return device.stream if device.is_cuda else None


def _id(mujoco: Any, model: Any, kind: Any, name: str, what: str) -> int:
    found = mujoco.mj_name2id(model, kind, name)
    if found < 0:
        raise dermis.Error(f"`{what}`: the model has no {'site' if what == 'site' else 'geom'} {name!r}")
    return int(found)


def _shape(mujoco: Any, model: Any, geom: int) -> dermis.Object:
    kinds, size = mujoco.mjtGeom, [float(number) for number in model.geom_size[geom]]
    kind = int(model.geom_type[geom])
    if kind == kinds.mjGEOM_SPHERE:
        return dermis.Object.sphere(radius=size[0])
    if kind == kinds.mjGEOM_BOX:
        return dermis.Object.box(size=[2 * number for number in size])
    if kind == kinds.mjGEOM_CYLINDER:
        return dermis.Object.cylinder(radius=size[0], length=2 * size[1])
    if kind == kinds.mjGEOM_CAPSULE:
        return dermis.Object.capsule(radius=size[0], length=2 * size[1])
    if kind == kinds.mjGEOM_ELLIPSOID:
        return dermis.Object.ellipsoid(semi_axes=size)
    raise dermis.Error(f"geom {model.geom(geom).name!r} has no shape that is known here: pass `shape`, in the geom's frame")


def _exclude(wp: Any, m: Any, model: Any, geoms: set[int], carrier: int) -> None:
    """Removes the contact of geoms with all geoms of a body from the pairs of geoms that are tested."""
    others = set(np.flatnonzero(model.geom_bodyid == carrier))

    def excluded(pairs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return np.array([bool(geoms & set(pair)) and bool(others & set(pair)) for pair in pairs.tolist()], dtype=bool)

    device = m.nxn_pairid.device
    pairs, ids = m.nxn_geom_pair.numpy(), m.nxn_pairid.numpy().copy()
    ids[excluded(pairs), 0] = -2
    m.nxn_pairid = wp.array(ids, dtype=wp.vec2i, device=device)
    tested, tested_ids = m.nxn_geom_pair_filtered.numpy(), m.nxn_pairid_filtered.numpy().copy()
    out = excluded(tested)
    tested_ids[out, 0] = -2
    kept = ~out | (tested_ids[:, 1] >= 0)
    m.nxn_geom_pair_filtered = wp.array(tested[kept], dtype=wp.vec2i, device=device)
    m.nxn_pairid_filtered = wp.array(tested_ids[kept], dtype=wp.vec2i, device=device)
