"""The two bodies of a sensor in a simulation: the common part of ``dermis.mjwarp``, ``dermis.newton`` and ``dermis.mjx``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dermis


@dataclass
class Body:
    """The arrays of the body of an object or of a sensor, as arguments of ``Environments.bind``."""

    pose: Any = None
    offset: Any = None
    twist: Any = None
    twist_at: Any = None
    load: Any = None
    load_at: Any = None
    adds: bool = False


def bind(environments: dermis.Environments, dt: float, object: Body, carrier: Body, **others: Any) -> None:
    """Names the arrays of both bodies to environments. dt: time step (s). others: outputs, ``quaternion`` and ``twist_order`` of ``Environments.bind``."""
    environments.bind(
        dt=dt,
        pose=object.pose,
        object_offset=object.offset,
        twist=object.twist,
        twist_at=object.twist_at,
        on_object=object.load,
        on_object_at=object.load_at,
        add_to_object=object.adds,
        sensor_pose=carrier.pose,
        sensor_offset=carrier.offset,
        sensor_twist=carrier.twist,
        sensor_twist_at=carrier.twist_at,
        on_sensor=carrier.load,
        on_sensor_at=carrier.load_at,
        add_to_sensor=carrier.adds,
        **others,
    )


def check_mode(mode: str) -> None:
    """Refuses a mode that is none."""
    if mode not in ("couple", "sense"):
        raise dermis.Error(f'`mode` must be "couple" or "sense", got {mode!r}')
