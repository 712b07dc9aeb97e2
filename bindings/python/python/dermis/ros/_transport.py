"""Publishes and subscribes: with rclpy, or over DDS alone, under the names and in the encoding of ROS 2."""

from __future__ import annotations

import array
import functools
import importlib
import os
import struct
import time
from collections.abc import Callable
from typing import Any, Protocol

from dermis import _optional
from dermis.ros._messages import TYPES, Fields, make

# Number of messages that wait for a slow subscriber.
QUEUE = 10
# Time (s) between two looks at the subscribed topics.
POLL_S = 0.005


class Transport(Protocol):
    """Topics of ROS 2."""

    def publisher(self, topic: str, kind: str) -> Callable[[Fields], None]:
        """A function that publishes the fields of a message of a type."""

    def subscribe(self, topic: str, kind: str, on_message: Callable[[Any], None]) -> None:
        """Calls a function with every message of a topic, from within spin."""

    def now(self) -> Fields:
        """The current time, as builtin_interfaces/Time."""

    def spin(self, seconds: float) -> bool:
        """Handles messages for a time; false once ROS has shut down."""

    def close(self) -> None:
        """Ends all topics."""


def transport(node: str, *, dds: bool) -> Transport:
    """rclpy where it is installed, otherwise DDS; dds: DDS in any case."""
    if not dds:
        try:
            return Rclpy(node)
        except ModuleNotFoundError as error:
            if error.name != "rclpy":
                raise
    return Dds()


class Rclpy:
    """A node of ROS 2."""

    def __init__(self, node: str) -> None:
        _optional.require("dermis.ros without --dds", "rclpy")
        import rclpy

        self._rclpy = rclpy
        rclpy.init()
        self._node = rclpy.create_node(node)

    @staticmethod
    def _type(kind: str) -> Any:
        package, name = kind.split("/")
        return getattr(importlib.import_module(f"{package}.msg"), name)

    def _create(self, kind: str, fields: Fields) -> Any:
        # rclpy takes arrays without looking at each element.
        codes = {"uint8[]": "B", "float32[]": "f"}
        packed = {name: array.array(codes[sort], fields[name]) for name, sort in TYPES[kind].items() if sort in codes}
        return self._type(kind)(**{**fields, **packed})

    def publisher(self, topic: str, kind: str) -> Callable[[Fields], None]:
        publisher = self._node.create_publisher(self._type(kind), topic, QUEUE)
        return lambda fields: publisher.publish(make(kind, fields, self._create))

    def subscribe(self, topic: str, kind: str, on_message: Callable[[Any], None]) -> None:
        self._node.create_subscription(self._type(kind), topic, on_message, QUEUE)

    def now(self) -> Fields:
        stamp = self._node.get_clock().now().to_msg()
        return {"sec": stamp.sec, "nanosec": stamp.nanosec}

    def spin(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while self._rclpy.ok():
            self._rclpy.spin_once(self._node, timeout_sec=max(0.0, end - time.monotonic()))
            if time.monotonic() >= end:
                return True
        return False

    def close(self) -> None:
        self._node.destroy_node()
        self._rclpy.try_shutdown()


class Dds:
    """Topics over Eclipse Cyclone DDS, in the domain ROS_DOMAIN_ID. CYCLONEDDS_URI configures the network."""

    def __init__(self) -> None:
        _optional.require("dermis.ros without ROS 2 (source its setup.bash)", "cyclonedds.core", "cyclonedds.domain")
        from cyclonedds.core import Policy, Qos
        from cyclonedds.domain import DomainParticipant

        self._participant = DomainParticipant(int(os.environ.get("ROS_DOMAIN_ID", "0")))
        # The defaults of ROS 2, which knows the first version of CDR alone.
        self._qos = Qos(
            Policy.Reliability.Reliable(100_000_000),
            Policy.History.KeepLast(QUEUE),
            Policy.Durability.Volatile,
            Policy.DataRepresentation(use_cdrv0_representation=True),
        )
        self._readers: list[tuple[Any, Any, Callable[[Any], None]]] = []

    def _topic(self, topic: str, kind: str) -> Any:
        _optional.require("dermis.ros", "cyclonedds.topic")
        from cyclonedds.topic import Topic

        return Topic(self._participant, f"rt/{topic.strip('/')}", dds_type(kind), qos=self._qos)

    def publisher(self, topic: str, kind: str) -> Callable[[Fields], None]:
        _optional.require("dermis.ros", "cyclonedds.pub")
        from cyclonedds.pub import DataWriter

        writer = DataWriter(self._participant, self._topic(topic, kind), qos=self._qos)
        return lambda fields: writer.write(make(kind, fields, lambda inner, values: dds_type(inner)(**values)))

    def subscribe(self, topic: str, kind: str, on_message: Callable[[Any], None]) -> None:
        _optional.require("dermis.ros", "cyclonedds.sub")
        from cyclonedds.sub import DataReader

        reader = DataReader(self._participant, self._topic(topic, kind), qos=self._qos)
        self._readers.append((reader, dds_type(kind), on_message))

    def now(self) -> Fields:
        seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
        return {"sec": seconds, "nanosec": nanoseconds}

    def spin(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while True:
            for reader, kind, on_message in self._readers:
                # Publishers that end leave samples without a message.
                for message in filter(lambda sample: isinstance(sample, kind), reader.take(N=QUEUE)):
                    on_message(message)
            left = end - time.monotonic()
            if left <= 0:
                return True
            time.sleep(min(left, POLL_S) if self._readers else left)

    def close(self) -> None:
        self._readers.clear()
        del self._participant


@functools.cache
def dds_type(kind: str) -> Any:
    """The class of a message for Cyclone DDS, under the name that ROS 2 gives the type."""
    _optional.require("dermis.ros", "cyclonedds.idl.types")
    from cyclonedds import idl
    from cyclonedds.idl import types

    def of(sort: str) -> Any:
        if sort.endswith("[]"):
            return types.sequence[of(sort.removesuffix("[]"))]
        if sort in TYPES:
            return dds_type(sort)
        return str if sort == "string" else getattr(types, sort)

    package, name = kind.split("/")
    fields = {field: of(sort) for field, sort in TYPES[kind].items()}
    made = idl.make_idl_struct(f"{name}_", f"{package}::msg::dds_::{name}_", fields)
    if TYPES[kind].get("data") == "uint8[]":
        # Cyclone DDS packs byte by byte, which is too slow for images: the bytes are appended after an empty array.
        slow = made.serialize

        def serialize(self: Any, *arguments: Any, **options: Any) -> bytes:
            data, self.data = self.data, b""
            head: bytes = slow(self, *arguments, **options)
            self.data = data
            return head[:-4] + struct.pack("=I", len(data)) + bytes(data)

        made.serialize = serialize
    return made
