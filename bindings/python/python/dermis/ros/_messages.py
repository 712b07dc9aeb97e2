"""Messages of ROS 2: their fields, and readings as such fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dermis

# Fields of a message; a nested message is a nested dict.
Fields = dict[str, Any]

# The messages that are published or read: names and types of their fields, in order.
TYPES: dict[str, dict[str, str]] = {
    "builtin_interfaces/Time": {"sec": "int32", "nanosec": "uint32"},
    "std_msgs/Header": {"stamp": "builtin_interfaces/Time", "frame_id": "string"},
    "geometry_msgs/Vector3": dict.fromkeys("xyz", "float64"),
    "geometry_msgs/Quaternion": dict.fromkeys("xyzw", "float64"),
    "geometry_msgs/Wrench": {"force": "geometry_msgs/Vector3", "torque": "geometry_msgs/Vector3"},
    "geometry_msgs/WrenchStamped": {"header": "std_msgs/Header", "wrench": "geometry_msgs/Wrench"},
    "geometry_msgs/Transform": {"translation": "geometry_msgs/Vector3", "rotation": "geometry_msgs/Quaternion"},
    "geometry_msgs/TransformStamped": {"header": "std_msgs/Header", "child_frame_id": "string", "transform": "geometry_msgs/Transform"},
    "tf2_msgs/TFMessage": {"transforms": "geometry_msgs/TransformStamped[]"},
    "std_msgs/MultiArrayDimension": {"label": "string", "size": "uint32", "stride": "uint32"},
    "std_msgs/MultiArrayLayout": {"dim": "std_msgs/MultiArrayDimension[]", "data_offset": "uint32"},
    "std_msgs/Float32MultiArray": {"layout": "std_msgs/MultiArrayLayout", "data": "float32[]"},
    "sensor_msgs/Image": {
        **{"header": "std_msgs/Header", "height": "uint32", "width": "uint32", "encoding": "string"},
        **{"is_bigendian": "uint8", "step": "uint32", "data": "uint8[]"},
    },
    "gazebo_msgs/ContactState": {
        **dict.fromkeys(["info", "collision1_name", "collision2_name"], "string"),
        **{"wrenches": "geometry_msgs/Wrench[]", "total_wrench": "geometry_msgs/Wrench"},
        **{"contact_positions": "geometry_msgs/Vector3[]", "contact_normals": "geometry_msgs/Vector3[]", "depths": "float64[]"},
    },
    "gazebo_msgs/ContactsState": {"header": "std_msgs/Header", "states": "gazebo_msgs/ContactState[]"},
}


def make(kind: str, fields: Fields, create: Callable[[str, Fields], Any]) -> Any:
    """A message of a type; create makes one from its name and its fields, whose nested messages are made already."""

    def value(sort: str, given: Any) -> Any:
        if sort in TYPES:
            return make(sort, given, create)
        inner = sort.removesuffix("[]")
        return [make(inner, each, create) for each in given] if inner in TYPES else given

    return create(kind, {name: value(sort, fields[name]) for name, sort in TYPES[kind].items()})


def _vector(values: NDArray[np.float64]) -> Fields:
    return {"x": float(values[0]), "y": float(values[1]), "z": float(values[2])}


def header(stamp: Fields, frame: str) -> Fields:
    """std_msgs/Header of a builtin_interfaces/Time."""
    return {"stamp": stamp, "frame_id": frame}


def wrench(reading: dermis.Reading) -> Fields:
    """geometry_msgs/WrenchStamped without its header: force (N) and torque (N m) on the sensor, in its frame."""
    load = reading.wrench
    return {"wrench": {"force": _vector(load[:3]), "torque": _vector(load[3:])}}


def taxels(reading: dermis.Reading) -> Fields:
    """std_msgs/Float32MultiArray: the force on each taxel (N)."""
    values = reading.taxels
    names = ["rows", "cols"] if values.ndim == 2 else ["taxels"]
    sides = []
    for i, name in enumerate(names):
        sides.append({"label": name, "size": values.shape[i], "stride": int(np.prod(values.shape[i:]))})
    return {"layout": {"dim": sides, "data_offset": 0}, "data": values.astype(np.float32).ravel().tolist()}


def image(pixels: NDArray[np.uint8]) -> Fields:
    """sensor_msgs/Image without its header, rgb8, from (height, width, 3)."""
    height, width, _ = pixels.shape
    return {
        "height": height,
        "width": width,
        "encoding": "rgb8",
        "is_bigendian": 0,
        "step": 3 * width,
        "data": np.ascontiguousarray(pixels).tobytes(),
    }


def transforms(poses: Mapping[str, NDArray[np.float64]]) -> list[Fields]:
    """geometry_msgs/TransformStamped without its header, of each frame: (4, 4) poses in the parent."""
    made = []
    for frame, pose in poses.items():
        x, y, z, w = _quaternion(pose[:3, :3])
        rotation = {"x": x, "y": y, "z": z, "w": w}
        made.append({"child_frame_id": frame, "transform": {"translation": _vector(pose[:3, 3]), "rotation": rotation}})
    return made


def _quaternion(rotation: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """x, y, z, w of a rotation: the eigenvector of Bar-Itzhack's symmetric matrix, w at least zero."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = rotation
    upper = [[xx - yy - zz, 0, 0, 0], [xy + yx, yy - xx - zz, 0, 0], [xz + zx, yz + zy, zz - xx - yy, 0]]
    lower = [zy - yz, xz - zx, yx - xy, xx + yy + zz]
    _, vectors = np.linalg.eigh(np.array([*upper, lower]) / 3)
    found = vectors[:, -1]
    x, y, z, w = (found if found[3] >= 0 else -found).tolist()
    return x, y, z, w
