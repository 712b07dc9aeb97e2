"""Publishes the sensors of a scene."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dermis
from dermis import _heat
from dermis._names import plain_name
from dermis.ros import _contacts, _messages
from dermis.ros._transport import Transport

WORLD = "world"
# Rate (Hz) of images, and of readings of sensors without a sampling rate.
DEFAULT_RATE_HZ = 100.0
IMAGE_RATE_HZ = 30.0


class Sensor:
    """The topics of one sensor."""

    def __init__(self, transport: Transport, name: str, sensor: dermis.Sensor) -> None:
        self.name, self.frame, self.sensor = name, plain_name(name), sensor
        self.rate = sensor.rate or DEFAULT_RATE_HZ
        kinds = {
            **{"wrench": "geometry_msgs/WrenchStamped", "taxels": "std_msgs/Float32MultiArray"},
            **{"tactile": "sensor_msgs/Image", **({"camera": "sensor_msgs/Image"} if sensor.image_shape else {})},
        }
        self._topics = {what: transport.publisher(f"/{self.frame}/{what}", kind) for what, kind in kinds.items()}
        self._max_force = 0.0
        self._next_reading = self._next_image = -np.inf

    def publish(self, reading: dermis.Reading, stamp: _messages.Fields, seconds: float) -> None:
        """Publishes the messages that are due at a time (s)."""
        if seconds < self._next_reading - 1e-9:
            return
        header = {"header": _messages.header(stamp, self.frame)}
        self._next_reading = max(self._next_reading + 1 / self.rate, seconds)
        self._topics["wrench"]({**header, **_messages.wrench(reading)})
        self._topics["taxels"](_messages.taxels(reading))
        if seconds < self._next_image - 1e-9:
            return
        self._next_image = max(self._next_image + 1 / IMAGE_RATE_HZ, seconds)
        self._max_force = max(self._max_force, float(reading.taxels.max(initial=0.0)))
        heat = _heat.image(reading.taxels, reading.centers, max_force=self._max_force)
        self._topics["tactile"]({**header, **_messages.image(heat)})
        if "camera" in self._topics:
            # Contacts from another simulator do not define the deformed surface.
            if hasattr(reading, "image"):
                self._topics["camera"]({**header, **_messages.image(reading.image)})


def _poses(world: dermis.World) -> dict[str, NDArray[np.float64]]:
    poses = {plain_name(name): world.sensor_pose(name) for name in world.sensors}
    for body in world.bodies:
        frame = plain_name(body)
        poses[f"{frame}_body" if frame in poses else frame] = world.pose(body)
    return poses


def _transforms(world: dermis.World, stamp: _messages.Fields) -> _messages.Fields:
    """tf2_msgs/TFMessage of all sensors and bodies."""
    header = _messages.header(stamp, WORLD)
    return {"transforms": [{"header": header, **fields} for fields in _messages.transforms(_poses(world))]}


def simulate(transport: Transport, world: dermis.World, *, duration: float | None) -> None:
    """Runs a world in real time and publishes the readings of its sensors, until the duration is over or ROS shuts down."""
    sensors = [Sensor(transport, name, world.sensor(name)) for name in world.sensors]
    frames = transport.publisher("/tf", "tf2_msgs/TFMessage")
    rate = min(max(sensor.rate for sensor in sensors), 1 / world.time_step)
    start, warned, wait = time.monotonic(), False, 0.0
    while transport.spin(wait) and (duration is None or world.time < duration):
        behind = time.monotonic() - start - world.time
        wait = 0.0
        if behind < world.time_step:
            wait = min(world.time_step, 1 / rate)
            continue
        # Step at most one reading period at a time: a slow world falls behind the clock but publishes every reading.
        world.step(max(1, min(round(behind / world.time_step), round(1 / rate / world.time_step))))
        if behind > 1 and not warned:
            warned = True
            print("dermis.ros: the scene runs slower than real time", file=sys.stderr)
        stamp = transport.now()
        frames(_transforms(world, stamp))
        for sensor in sensors:
            sensor.publish(world.reading(sensor.name), stamp, world.time)


def listen(
    transport: Transport, world: dermis.World, *, name: str, topic: str, collision: str | None, duration: float | None
) -> None:
    """Converts contact states on a topic to readings of a sensor of a scene."""
    sensor = Sensor(transport, name, world.sensor(name))
    frames = transport.publisher("/tf", "tf2_msgs/TFMessage")
    pose = world.sensor_pose(name)
    told: set[str] = set()

    def on_message(message: Any) -> None:
        try:
            contacts = _contacts.parse_contacts(message, collision=collision)
            reading = _contacts.read_contacts(sensor.sensor, contacts, frame=sensor.frame, sensor_pose=pose)
        except dermis.Error as error:
            if str(error) not in told:
                told.add(str(error))
                print(f"dermis.ros: {error}", file=sys.stderr)
            return
        given = message.header.stamp
        stamp = {"sec": given.sec, "nanosec": given.nanosec} if given.sec > 0 else transport.now()
        sensor.publish(reading, stamp, time.monotonic())
        frames(_transforms(world, stamp))

    transport.subscribe(topic, "gazebo_msgs/ContactsState", on_message)
    start = time.monotonic()
    while transport.spin(0.05) and (duration is None or time.monotonic() - start < duration):
        pass
