"""Publishes contact states as Gazebo's bumper does, over DDS: a cube of 0.981 N on four points of a pad that stands at z = 20 mm."""

import dataclasses
import os
import time

from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import float64, sequence
from cyclonedds.pub import DataWriter
from cyclonedds.topic import Topic
from subscriber import Header, Time, Vector3, Wrench


@dataclasses.dataclass
class ContactState(IdlStruct, typename="gazebo_msgs::msg::dds_::ContactState_"):
    info: str
    collision1_name: str
    collision2_name: str
    wrenches: sequence[Wrench]
    total_wrench: Wrench
    contact_positions: sequence[Vector3]
    contact_normals: sequence[Vector3]
    depths: sequence[float64]


@dataclasses.dataclass
class ContactsState(IdlStruct, typename="gazebo_msgs::msg::dds_::ContactsState_"):
    header: Header
    states: sequence[ContactState]


participant = DomainParticipant(int(os.environ["ROS_DOMAIN_ID"]))
topic = DataWriter(participant, Topic(participant, "rt/bumper", ContactsState))
points = [Vector3(x, y, 0.02) for x in (-0.005, 0.005) for y in (-0.01, 0.01)]
loads = [Wrench(Vector3(0.0, 0.0, 0.981 / 4), Vector3(0.0, 0.0, 0.0))] * 4
total = Wrench(Vector3(0.0, 0.0, 0.981), Vector3(0.0, 0.0, 0.0))
normals = [Vector3(0.0, 0.0, -1.0)] * 4
while True:
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    state = ContactState("", "cube::link::cube", "pad::link::pad", loads, total, points, normals, [1e-4] * 4)
    topic.write(ContactsState(Header(Time(seconds, nanoseconds), "world"), [state]))
    time.sleep(0.05)
