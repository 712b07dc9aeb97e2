"""Subscribes to topics of ROS 2 with Cyclone DDS, as a program without dermis does."""

import dataclasses
import os
import time

from cyclonedds import core
from cyclonedds._clayer import ddspy_take
from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import float32, float64, int32, sequence, uint8, uint32
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from rosbags.typesys import Stores, get_typestore


@dataclasses.dataclass
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    sec: int32
    nanosec: uint32


@dataclasses.dataclass
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    stamp: Time
    frame_id: str


@dataclasses.dataclass
class Vector3(IdlStruct, typename="geometry_msgs::msg::dds_::Vector3_"):
    x: float64
    y: float64
    z: float64


@dataclasses.dataclass
class Quaternion(IdlStruct, typename="geometry_msgs::msg::dds_::Quaternion_"):
    x: float64
    y: float64
    z: float64
    w: float64


@dataclasses.dataclass
class Wrench(IdlStruct, typename="geometry_msgs::msg::dds_::Wrench_"):
    force: Vector3
    torque: Vector3


@dataclasses.dataclass
class WrenchStamped(IdlStruct, typename="geometry_msgs::msg::dds_::WrenchStamped_"):
    header: Header
    wrench: Wrench


@dataclasses.dataclass
class Transform(IdlStruct, typename="geometry_msgs::msg::dds_::Transform_"):
    translation: Vector3
    rotation: Quaternion


@dataclasses.dataclass
class TransformStamped(IdlStruct, typename="geometry_msgs::msg::dds_::TransformStamped_"):
    header: Header
    child_frame_id: str
    transform: Transform


@dataclasses.dataclass
class TFMessage(IdlStruct, typename="tf2_msgs::msg::dds_::TFMessage_"):
    transforms: sequence[TransformStamped]


@dataclasses.dataclass
class MultiArrayDimension(IdlStruct, typename="std_msgs::msg::dds_::MultiArrayDimension_"):
    label: str
    size: uint32
    stride: uint32


@dataclasses.dataclass
class MultiArrayLayout(IdlStruct, typename="std_msgs::msg::dds_::MultiArrayLayout_"):
    dim: sequence[MultiArrayDimension]
    data_offset: uint32


@dataclasses.dataclass
class Float32MultiArray(IdlStruct, typename="std_msgs::msg::dds_::Float32MultiArray_"):
    layout: MultiArrayLayout
    data: sequence[float32]


@dataclasses.dataclass
class Image(IdlStruct, typename="sensor_msgs::msg::dds_::Image_"):
    header: Header
    height: uint32
    width: uint32
    encoding: str
    is_bigendian: uint8
    step: uint32
    data: sequence[uint8]


KINDS = {
    "geometry_msgs/msg/WrenchStamped": WrenchStamped,
    "sensor_msgs/msg/Image": Image,
    "std_msgs/msg/Float32MultiArray": Float32MultiArray,
    "tf2_msgs/msg/TFMessage": TFMessage,
}
EVERYTHING = core.SampleState.Any | core.ViewState.Any | core.InstanceState.Any
STORE = get_typestore(Stores.ROS2_HUMBLE)


class Subscriber:
    """A participant in the domain ROS_DOMAIN_ID."""

    def __init__(self):
        self.participant = DomainParticipant(int(os.environ["ROS_DOMAIN_ID"]))
        self.found = BuiltinDataReader(self.participant, BuiltinTopicDcpsPublication)

    def wait_for(self, wanted, process):
        """Waits until all topics are published, at most half a minute; names and types of all."""
        topics, end = {}, time.monotonic() + 30
        while time.monotonic() < end and process.poll() is None and not wanted <= topics.keys():
            topics.update((found.topic_name, found.type_name) for found in self.found.take(100))
            time.sleep(0.2)
        return topics

    def take(self, topic, kind, count):
        """The next messages of a topic: as Cyclone DDS decodes it, as rosbags decodes it, and its size in bytes."""
        # What a subscription of ROS 2 asks for by default.
        qos = core.Qos(core.Policy.Reliability.Reliable(0), core.Policy.History.KeepLast(10), core.Policy.Durability.Volatile)
        reader = DataReader(self.participant, Topic(self.participant, f"rt/{topic}", KINDS[kind]), qos=qos)
        taken, end = [], time.monotonic() + 30
        while len(taken) < count:
            if time.monotonic() > end:
                raise TimeoutError(f"{topic}: {len(taken)} of {count} messages within half a minute")
            for data, info in ddspy_take(reader._ref, EVERYTHING, 10):
                if info.valid_data:
                    taken.append((KINDS[kind].deserialize(data), STORE.deserialize_cdr(data, kind), len(data)))
            time.sleep(0.002)
        return taken
