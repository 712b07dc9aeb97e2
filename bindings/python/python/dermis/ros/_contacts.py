"""Converts contact states of a simulator to readings."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dermis


@dataclasses.dataclass(frozen=True)
class Contacts:
    """Contact points, in the frame of the message."""

    points: NDArray[np.float64]
    """Positions (m), (n, 3)."""
    forces: NDArray[np.float64]
    """Forces on the sensor (N), (n, 3)."""
    normals: NDArray[np.float64]
    """Normals out of the sensor, (n, 3); against the force if the message has none."""
    depths: NDArray[np.float64]
    """Penetration depths (m), (n,)."""
    objects: NDArray[np.int64]
    """Index of the other collision, (n,)."""
    frame: str
    """Frame of all vectors."""


def _row(vector: Any) -> list[float]:
    return [vector.x, vector.y, vector.z]


def parse_contacts(message: Any, *, collision: str | None = None) -> Contacts:
    """The contacts of a gazebo_msgs/ContactsState, or of any object with its fields.

    collision: part of the name of the sensor's own collision. Wrenches act on the first collision of a state; where the sensor's is the
    second, they are reversed, and states without it are left out. Default: the sensor's collision is the first of every state.
    """
    points: list[list[float]] = []
    forces: list[list[float]] = []
    normals: list[list[float]] = []
    depths: list[float] = []
    objects: list[int] = []
    others: list[str] = []
    for state in message.states:
        sign, other = 1.0, state.collision2_name
        if collision is not None and collision not in state.collision1_name:
            if collision not in state.collision2_name:
                continue
            sign, other = -1.0, state.collision1_name
        if other not in others:
            others.append(other)
        positions = list(state.contact_positions)
        wrenches = list(state.wrenches)
        if len(wrenches) != len(positions):
            raise dermis.Error(
                f"contacts of {state.collision1_name!r} and {other!r}: {len(positions)} positions and {len(wrenches)} wrenches; one each is needed"
            )
        given = list(state.contact_normals) if len(state.contact_normals) == len(positions) else [None] * len(positions)
        deep = list(state.depths) if len(state.depths) == len(positions) else [0.0] * len(positions)
        for position, load, normal, depth in zip(positions, wrenches, given, deep):
            force = sign * np.array(_row(load.force))
            out = -force if normal is None else np.array(_row(normal))
            # Contacts only push, so the outward normal of the sensor points against the force on it.
            out = -out if out @ force > 0 else out
            points.append(_row(position))
            forces.append(force.tolist())
            normals.append(out.tolist())
            depths.append(float(depth))
            objects.append(others.index(other))
    return Contacts(
        np.array(points, float).reshape(-1, 3),
        np.array(forces, float).reshape(-1, 3),
        np.array(normals, float).reshape(-1, 3),
        np.array(depths, float),
        np.array(objects, int),
        message.header.frame_id,
    )


def read_contacts(
    sensor: dermis.Sensor, contacts: Contacts, *, frame: str, sensor_pose: NDArray[np.float64] | None = None
) -> dermis.Reading:
    """Reads contacts with a sensor.

    frame: name of the sensor frame. Contacts in any other frame are taken to be in the world frame, where the sensor is at ``sensor_pose``.
    """
    return sensor.read_contacts(
        contacts.points,
        contacts.forces,
        normals=contacts.normals,
        objects=contacts.objects,
        depths=contacts.depths,
        sensor_pose=None if contacts.frame.lstrip("/") in ("", frame) else sensor_pose,
    )
