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
from dermis import _optional
from dermis._bodies import Body, check_mode
from dermis._mujoco_geoms import id_of, shape_of
from dermis._warp import Rows, Touch

__all__ = ["Touch", "attach"]


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
    response: bool | Literal["beside"] = False,
    image: Any = None,
    markers: Any = None,
    randomise: dict[str, tuple[float, float]] | None = None,
    seed: int = 0,
    precision: Literal["double", "single"] | None = None,
) -> Touch:
    """Attaches a sensor to a site of a MuJoCo Warp model; it works in every ``step`` from then on, also in captured graphs.

    m, d: the Model and Data of MuJoCo Warp; the sensor works in steps of this Data alone. model: the ``mujoco.MjModel`` that they were made of, for names. site: the sensor's frame, +z
    out of the skin. object: name of the geom that touches the sensor, or names of up to 32 such geoms. shape: the geom's shape in its
    frame, or a list with the shape of each; default: that of a sphere, box, cylinder, capsule or ellipsoid. Call it again for every further
    sensor.

    mode="couple" replaces MuJoCo's contact between the geoms and all geoms of the site's body by the skin: its loads on their bodies are
    written to ``d.xfrc_applied`` of these bodies in every step, at their centers of mass, and replace what was there; several sensors on one
    body add up. mode="sense" changes nothing but computes the
    reading.

    response=True also computes the readings after the response of the sensor. response="beside" does that while the rest of a step goes on, in a
    captured graph: they are there when the graph ends, or after ``Touch.wait``; until then nothing may write ``Touch.taxels``. image, markers: arrays for the images of a sensor with a camera,
    uint8, (nworld, height, width, 3), and for column and row of each of its markers (pixels), (nworld, markers, 2), written in every step, as by
    ``Environments.bind``. randomise, seed: parameters that differ from world to world, and
    precision: as for ``Sensor.environments``.

    Call it before a graph is captured.
    """
    check_mode(mode)
    _check_options(m)
    at, names = id_of(model, "site", site), [object] if object is None or isinstance(object, str) else list(object)
    if not names:
        raise dermis.Error("`object` names no geom")
    geoms = [id_of(model, "object", name) for name in names]
    sizes = [(int(m.nbody), d.xpos.shape[1], "bodies", model.nbody), (int(m.ngeom), d.geom_xpos.shape[1], "geoms", model.ngeom)]
    for of_model, of_data, noun, count in sizes:
        if of_model != count or of_data != count:
            raise dermis.Error(f"`m` and `d` must be made of `model`: they have {of_model} and {of_data} {noun}, and it has {count}")
    if len(set(geoms)) < len(geoms):
        raise dermis.Error(f"`object` names a geom twice: {', '.join(names)}")
    carrier, bodies = int(model.site_bodyid[at]), [int(model.geom_bodyid[geom]) for geom in geoms]
    for name, body in zip(names, bodies, strict=True):
        if carrier == body:
            raise dermis.Error(f"site {site!r} and geom {name!r} are on the same body")
    given = [shape] * len(geoms) if shape is None or isinstance(shape, dermis.Object) else list(shape)
    if len(given) != len(geoms):
        raise dermis.Error(f"`shape` has {len(given)} entries, and there are {len(geoms)} objects")
    touch = Touch(
        sensor,
        [own or shape_of(model, geom) for own, geom in zip(given, geoms, strict=True)],
        d.nworld,
        d.xpos.device,
        dtype=dtype,
        response=response,
        image=image,
        markers=markers,
        randomise=randomise,
        seed=seed,
        precision=precision,
    )
    if mode == "couple":
        _exclude(m, model, set(geoms), carrier)
    # The first load on a body replaces that of the last step, further ones are added.
    written = m.__dict__.setdefault("_dermis_loads", set())

    def of(index: int, position: Any, rotation: Any) -> Body:
        # cvel is the velocity, angular part first, at the center of mass of the kinematic tree.
        made = Body(
            pose=(_part(d.xpos, index), _part(d.xquat, index)),
            offset=np.concatenate([position, rotation]),
            twist=_part(d.cvel, index),
            twist_at=_part(d.subtree_com, int(model.body_rootid[index])),
        )
        if mode == "couple" and index != 0:
            made.load, made.load_at, made.adds = _part(d.xfrc_applied, index), _part(d.xipos, index), index in written
            written.add(index)
        return made

    touch._bind(
        float(model.opt.timestep),
        [of(body, model.geom_pos[geom], model.geom_quat[geom]) for body, geom in zip(bodies, geoms, strict=True)],
        of(carrier, model.site_pos[at], model.site_quat[at]),
        twist_order="angular",
    )
    before = m.callback.passive

    def passive(m: Any, stepped: Any) -> None:
        if before is not None:
            before(m, stepped)
        if stepped is not d:
            raise dermis.Error("the Data of this step is not that of `dermis.mjwarp.attach`, so that no skin would act: attach the sensor to a Model for each Data")
        _check_options(m)
        touch._launch()

    m.callback.passive = passive
    return touch


def _check_options(m: Any) -> None:
    """Refuses options with which a step does not advance a skin once."""
    _optional.require("dermis.mjwarp", "mujoco")
    import mujoco

    if m.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4:
        raise dermis.Error("the integrator RK4 evaluates forces four times a step, and the skin would advance each time: use another one, such as implicitfast")
    passive = int(mujoco.mjtDisableBit.mjDSBL_SPRING) | int(mujoco.mjtDisableBit.mjDSBL_DAMPER)
    if m.opt.disableflags & passive == passive:
        raise dermis.Error("the flags `spring` and `damper` are both disabled, so that MuJoCo Warp computes no passive forces and the skin would not act: enable one of them")


def _part(array: Any, index: int) -> Rows:
    """The numbers of one body in all worlds, (nworld, k), of an array (nworld, nbody) of vectors."""
    return Rows(array, index * array.strides[1], array.strides[0], array.shape[0])


def _exclude(m: Any, model: Any, geoms: set[int], carrier: int) -> None:
    """Removes the contact of geoms with all geoms of a body from the pairs of geoms that are tested."""
    _optional.require("dermis.mjwarp", "warp")
    import warp as wp

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
