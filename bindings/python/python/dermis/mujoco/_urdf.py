"""Attaches the tactile sensors of a robot description: <sensor> with <tactile>, the URDF extension of tactile_toolbox."""

from __future__ import annotations

import os
import xml.etree.ElementTree as xml
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from dermis import Error, Sensor
from dermis._native import Attachment
from dermis.mujoco._attach import attach

Array = NDArray[np.float64]


def _rigid(rotation: ArrayLike, translation: ArrayLike) -> Array:
    """A (4, 4) transform."""
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = rotation, translation
    return made


def attach_urdf(
    model: Any,
    data: Any,
    urdf: str | os.PathLike[str],
    *,
    sensors: Mapping[str, Sensor] | None = None,
    preset: str | None = None,
    objects: str | int | Sequence[str | int] | None = None,
    mode: Literal["sense", "couple", "contacts"] = "contacts",
) -> dict[str, Attachment]:
    """Attaches every <tactile> sensor of a robot description to the body of its link, and returns them by name.

    urdf: path of the description. The model need not be made from it, but must have bodies with the names of its links.
    sensors: the Sensor for each name. A sensor whose surface is read from a description (``[surface.urdf]``) has its taxels in the link
        frame and is placed there; others are placed at the <origin>.
    preset: for an <array> without a sensor, a preset whose rows, columns and pitch are replaced by the array's. Rows run along x of
        the <origin> and columns along y: taxels[row, col] is cell (row, col) of the array.
    objects, mode: as for ``attach``.
    """
    path = os.fspath(urdf)
    try:
        root = xml.parse(path).getroot()
    except xml.ParseError as error:
        raise Error(f"{path}: not well-formed XML: {error}") from None
    found = [node for node in root.iter("sensor") if node.find("tactile") is not None]
    names = [node.get("name", "") for node in found]
    if not found:
        raise Error(f"{path}: no <sensor> with a <tactile> element")
    unknown = sorted(set(sensors or {}) - set(names))
    if unknown:
        raise Error(f"{path}: no tactile sensor {unknown[0]!r}; its sensors are {names}")
    attachments = {}
    for name, node in zip(names, found):
        link, origin = _link(model, path, name, node), _origin(path, name, node)
        given = (sensors or {}).get(name)
        if given:
            sensor, pose = given, np.eye(4) if "[surface.urdf" in given.toml else origin
        else:
            sensor, origin_from_sensor = _array(path, name, node, preset)
            pose = origin @ origin_from_sensor
        attachments[name] = attach(model, data, sensor, body=link, pose=pose, objects=objects, mode=mode)
    return attachments


def _link(model: Any, path: str, name: str, node: xml.Element) -> int:
    parent = node.find("parent")
    link = parent.get("link") if parent is not None else None
    if not link:
        raise Error(f'{path}: sensor {name!r} needs a link, <parent link="…"/>')
    body = int(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, link))
    if body < 0:
        raise Error(
            f"{path}: sensor {name!r} is on link {link!r}, and the model has no body of that name; MuJoCo fuses links that are fixed "
            'to each other unless <mujoco><compiler fusestatic="false"/></mujoco> is in the description'
        )
    return body


def _numbers(path: str, name: str, node: xml.Element | None, key: str, count: int, default: list[float] | None) -> Array:
    text = node.get(key) if node is not None else None
    try:
        numbers = np.array([float(word) for word in text.split()] if text is not None else default, dtype=float)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise Error(f"{path}: sensor {name!r}: `{key}` must be {count} numbers, got {text!r}")
    return numbers


def _origin(path: str, name: str, node: xml.Element) -> Array:
    """link_from_sensor: lengths in metres, roll, pitch and yaw in radians."""
    origin = node.find("origin")
    xyz = _numbers(path, name, origin, "xyz", 3, [0, 0, 0])
    sines, cosines = (f(_numbers(path, name, origin, "rpy", 3, [0, 0, 0])) for f in (np.sin, np.cos))
    roll = np.array([[1, 0, 0], [0, cosines[0], -sines[0]], [0, sines[0], cosines[0]]])
    pitch = np.array([[cosines[1], 0, sines[1]], [0, 1, 0], [-sines[1], 0, cosines[1]]])
    yaw = np.array([[cosines[2], -sines[2], 0], [sines[2], cosines[2], 0], [0, 0, 1]])
    return _rigid(yaw @ pitch @ roll, xyz)


def _array(path: str, name: str, node: xml.Element, preset: str | None) -> tuple[Sensor, Array]:
    """The grid of an <array>, and its pose in the <origin> frame."""
    array = node.find("tactile/array")
    if array is None:
        raise Error(f"{path}: sensor {name!r} lists its taxels one by one: pass it in `sensors`, as a Sensor with a [surface.urdf]")
    if preset is None:
        raise Error(f"{path}: sensor {name!r} has a position but no properties: give a `preset`, or the sensor in `sensors`")
    rows, cols = (int(_numbers(path, name, array, key, 1, None)[0]) for key in ("rows", "cols"))
    if array.get("order", "row-major") != "row-major":
        raise Error(f"{path}: sensor {name!r}: `order` must be row-major, got {array.get('order')!r}; pass the sensor in `sensors`")
    spacing = _numbers(path, name, array, "spacing" if array.get("spacing") else "size", 2, None)
    offset = _numbers(path, name, array, "offset", 2, [0, 0])
    if abs(spacing[0] - spacing[1]) > 1e-9:
        raise Error(f"{path}: sensor {name!r}: `spacing` must be the same in both directions for a grid, got {spacing[0]} and {spacing[1]} m")
    grid = {"rows": rows, "cols": cols, "pitch": f"{float(spacing[0])!r} m"}
    sensor = Sensor.preset(preset, parameters={"name": name, "surface": {"grid": grid}})
    # Grid rows run along -y and columns along +x; after a rotation by 90° they run along +x and +y.
    middle = [0.5 * (rows - 1) * spacing[0] - offset[0], 0.5 * (cols - 1) * spacing[1] - offset[1], 0]
    return sensor, _rigid([[0, -1, 0], [1, 0, 0], [0, 0, 1]], middle)
