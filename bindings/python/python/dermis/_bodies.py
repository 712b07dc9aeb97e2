"""The bodies of a sensor and its objects in a simulation: the common part of ``dermis.mjwarp``, ``dermis.newton`` and ``dermis.mjx``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


def bind(environments: dermis.Environments, dt: float, objects: Sequence[Body], carrier: Body, **others: Any) -> None:
    """Names the arrays of all bodies to environments. dt: time step (s). others: outputs, ``quaternion`` and ``twist_order`` of ``Environments.bind``."""

    def each(values: list[Any]) -> Any:
        return values[0] if len(values) == 1 else values

    environments.bind(
        dt=dt,
        pose=each([body.pose for body in objects]),
        object_offset=each([body.offset for body in objects]),
        twist=each([body.twist for body in objects]),
        twist_at=each([body.twist_at for body in objects]),
        on_object=each([body.load for body in objects]),
        on_object_at=each([body.load_at for body in objects]),
        add_to_object=each([body.adds for body in objects]),
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


def listed(names: Iterable[str | None]) -> str:
    """The end of a sentence that says which names there are."""
    known = [repr(name) for name in names if name]
    more = ", …" if len(known) > 12 else ""
    return f"; it has {', '.join(known[:12])}{more}" if known else "; none has a name"
