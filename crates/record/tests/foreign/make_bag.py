"""Writes `bag.db3` beside it with the `rosbags` package: a bag of ROS 2 in SQLite, with a type of its own."""

import pathlib
import shutil
import tempfile

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

HERE = pathlib.Path(__file__).resolve().parent
store = get_typestore(Stores.ROS2_HUMBLE)
store.register(get_types_from_msg("float64[] load\nstd_msgs/Header header\n", "their_msgs/msg/Touch"))
types = store.types


def header(i):
    return types["std_msgs/msg/Header"](stamp=types["builtin_interfaces/msg/Time"](sec=i, nanosec=0), frame_id="pad")


def vector(x, y, z):
    return types["geometry_msgs/msg/Vector3"](x=float(x), y=float(y), z=float(z))


def messages(i):
    """Topic and message of a time."""
    wrench = types["geometry_msgs/msg/Wrench"](force=vector(0, 0.5, -i), torque=vector(i, 0, 0))
    yield "/pad/wrench", types["geometry_msgs/msg/WrenchStamped"](header=header(i), wrench=wrench)
    turned = types["geometry_msgs/msg/Quaternion"](x=0.0, y=0.0, z=0.6, w=0.8)
    none, spin = np.zeros(9), vector(0.1, 0.2, 0.3 * i)
    yield "/imu", types["sensor_msgs/msg/Imu"](header(i), turned, none, spin, none, vector(0, 0, 9.81), none)
    joints = types["sensor_msgs/msg/JointState"](header(i), ["a", "b"], np.array([i, 2.0 * i]), np.array([]), np.array([0.5, 1.5]))
    yield "/joint_states", joints
    image = np.full(2 * 3 * 3, i, np.uint8)
    yield "/camera", types["sensor_msgs/msg/Image"](header(i), 2, 3, "bgr8", 0, 9, image)
    yield "/touch", types["their_msgs/msg/Touch"](load=np.array([1.0 * i]), header=header(i))
    yield "/note", types["std_msgs/msg/String"](data="hello")


with tempfile.TemporaryDirectory() as folder:
    bag = pathlib.Path(folder) / "bag"
    with Writer(bag, version=8, storage_plugin=StoragePlugin.SQLITE3) as writer:
        links = {}
        for i in range(5):
            for topic, message in messages(i):
                kind = message.__msgtype__
                if topic not in links:
                    links[topic] = writer.add_connection(topic, kind, typestore=store)
                writer.write(links[topic], 1_700_000_000_000_000_000 + i * 100_000_000, store.serialize_cdr(message, kind))
    shutil.copy(bag / "bag.db3", HERE / "bag.db3")
