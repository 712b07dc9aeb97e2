"""Names and shapes of a MuJoCo model: the common part of ``dermis.mjwarp`` and ``dermis.mjx``."""

from __future__ import annotations

from typing import Any

import dermis
from dermis import _optional
from dermis._bodies import listed
from dermis._primitives import primitive


def id_of(model: Any, what: str, name: str) -> int:
    """The index of a site (what="site") or of a geom by its name."""
    _optional.require("dermis.mjx and dermis.mjwarp", "mujoco")
    import mujoco

    if not isinstance(model, mujoco.MjModel):
        raise dermis.Error(f"`model` must be the mujoco.MjModel, got {type(model).__name__}")
    if not isinstance(name, str):
        raise dermis.Error(f"`{what}` must be one name, got {name!r}")
    noun, kind, count = ("site", mujoco.mjtObj.mjOBJ_SITE, model.nsite) if what == "site" else ("geom", mujoco.mjtObj.mjOBJ_GEOM, model.ngeom)
    found = mujoco.mj_name2id(model, kind, name)
    if found < 0:
        raise dermis.Error(f"`{what}`: the model has no {noun} {name!r}{listed(mujoco.mj_id2name(model, kind, i) for i in range(count))}")
    return int(found)


def shape_of(model: Any, geom: int) -> dermis.Object:
    """The shape of a geom in its frame, if it is a primitive."""
    _optional.require("dermis.mjx and dermis.mjwarp", "mujoco")
    import mujoco

    kind = mujoco.mjtGeom(int(model.geom_type[geom])).name.removeprefix("mjGEOM_")
    return primitive(kind, model.geom_size[geom], f"geom {model.geom(geom).name!r}")
