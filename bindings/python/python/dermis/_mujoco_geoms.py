"""Names and shapes of a MuJoCo model: the common part of ``dermis.mjwarp`` and ``dermis.mjx``."""

from __future__ import annotations

from typing import Any

import dermis
from dermis._primitives import primitive


def id_of(model: Any, what: str, name: str) -> int:
    """The index of a site (what="site") or of a geom by its name."""
    import mujoco

    kinds = mujoco.mjtObj
    found = mujoco.mj_name2id(model, kinds.mjOBJ_SITE if what == "site" else kinds.mjOBJ_GEOM, name)
    if found < 0:
        raise dermis.Error(f"`{what}`: the model has no {'site' if what == 'site' else 'geom'} {name!r}")
    return int(found)


def shape_of(model: Any, geom: int) -> dermis.Object:
    """The shape of a geom in its frame, if it is a primitive."""
    import mujoco

    kind = mujoco.mjtGeom(int(model.geom_type[geom])).name.removeprefix("mjGEOM_")
    return primitive(kind, model.geom_size[geom], f"geom {model.geom(geom).name!r}")
