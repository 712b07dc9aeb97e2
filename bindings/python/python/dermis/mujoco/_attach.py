"""Attaches a sensor to a MuJoCo model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from numpy.typing import ArrayLike

from dermis import Sensor
from dermis import _mujoco_layout
from dermis._native import Attachment
from dermis.mujoco import _other_engines


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
    mode: Literal["sense", "couple", "contacts"] = "contacts",
    coupling: Literal["implicit", "explicit"] = "implicit",
) -> Attachment:
    """Attaches a sensor to a site, body or geom of a model. The attachment ends when the returned object is deleted: keep it.

    model, data: mujoco.MjModel and mujoco.MjData.
    sensor: a copy is attached, so one Sensor can be attached in many places.
    site, body, geom: exactly one, by name or number. Its frame is the sensor frame: +z out of the skin, row 0 at +y, column 0 at -x.
    pose: pose of the sensor in that frame: (4, 4), (7,) position (m) and quaternion (w first), or (3,) position. Default: identity.
    objects: names or numbers of geoms, or names of bodies, that the sensor may touch. Default: every geom of another body that
        takes part in contacts, except those of the parent and child bodies.
    mode: "contacts" only reads the contact forces that MuJoCo computed between the objects and the geoms that move with the sensor, each
        at its contact point; a layer spreads them over its taxels. Taxels and ``outside`` add up to mj_contactForce. MuJoCo has few
        contact points per pair of geoms, so forces are right and their distribution is coarse; images show points.
        "couple": the skin computes the contact forces. They are added to the passive forces inside mj_step, on any thread and without the
        GIL. MuJoCo's contact between the objects and the geoms under the skin is disabled (contype and conaffinity) until the attachment
        ends. Other mjData of the model are coupled too, each with its own history (``mj_copyData``, ``mujoco.rollout``): in one of the
        last 64 states of ``data`` they continue its history, else they start untouched, with a warning if they then are in
        contact after the start; ``read(copy)`` when a copy is made keeps the history for it. A copy of the model has the
        contact disabled without a skin: stepping it is reported as a warning of MuJoCo and raised by the next ``read``. MJX and MuJoCo Warp
        refuse the model (``put_model``).
        "sense" only reads; MuJoCo computes the contacts. Its bodies hardly penetrate each other, so place the skin above the geom by
        the depth to which it should be pressed; the force is that of this depth, not that of the load. ``read`` warns once if an object
        rests on the skin and MuJoCo's contact force differs from the skin's by more than a factor of two.

    coupling: in "couple", the instant of the forces. "implicit": the end of the step; every time step is stable. "explicit": the start of
        the step; a time step that is unstable with this skin is refused. Only springs and hydroelastic skins support "implicit"; other
        skins are always explicit.

    Friction, in "couple" and "sense": the skin takes the place of the geoms under it, with priority 0. As in MuJoCo, the side with the higher
    ``geom_priority`` counts; of equal priorities the smaller of the object's sliding friction and the skin's static coefficient, not the larger,
    because MuJoCo's default of 1 would replace the friction of nearly every sensor. Gels always have their own friction.
    Changes of pose, friction and priority of the objects and of mjDSBL_CONTACT count in the next step; those that have no effect are warned of.

    Copies (``copy.deepcopy``) and pickles of the attachment contain model, data and the state of the sensor: those of an environment
    work like the original.

    Raises dermis.Error if the model lacks a named element, if ``data`` was made with another model, and in "couple" with explicit forces if the time step is unstable.
    """
    _mujoco_layout.provide()
    if mode == "couple":
        _other_engines.guard()
    return Attachment(model, data, sensor, site=site, body=body, geom=geom, pose=pose, objects=objects, mode=mode, coupling=coupling)
