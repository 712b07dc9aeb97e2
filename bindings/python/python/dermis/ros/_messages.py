"""Message fields that ROS 1 and ROS 2 have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dermis

# Fields of a message; a nested message is a nested dict.
Fields = dict[str, Any]


def _vector(values: NDArray[np.float64]) -> Fields:
    return {"x": float(values[0]), "y": float(values[1]), "z": float(values[2])}


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
    return {"layout": {"dim": sides, "data_offset": 0}, "data": values.astype(np.float32).ravel()}


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
