"""Shapes of the primitives of MuJoCo and Newton, which have the same names and sizes."""

from __future__ import annotations

from collections.abc import Sequence

import dermis


def primitive(kind: str, size: Sequence[float], owner: str) -> dermis.Object:
    """A primitive in its frame, along z.

    kind: its name in capital letters. size: radius, half extents or semi-axes (m), radius and half length of a cylinder or a capsule.
    owner: who has it, for the error about other kinds.
    """
    x, y, z = (float(number) for number in size)
    if kind == "SPHERE":
        return dermis.Object.sphere(radius=x)
    if kind == "BOX":
        return dermis.Object.box(size=[2 * x, 2 * y, 2 * z])
    # Newton's cylinders with a third number have the form of a barrel.
    if kind == "CYLINDER" and z == 0:
        return dermis.Object.cylinder(radius=x, length=2 * y)
    if kind == "CAPSULE":
        return dermis.Object.capsule(radius=x, length=2 * y)
    if kind == "ELLIPSOID":
        return dermis.Object.ellipsoid(semi_axes=[x, y, z])
    raise dermis.Error(f"{owner} has no shape that is known here: pass `shape`, in its frame")
