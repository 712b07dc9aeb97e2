"""A ROS 1 node."""

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

WORLD = "world"
# Rate (Hz) of images, and of readings of sensors without a sampling rate.
DEFAULT_RATE_HZ = 100.0
IMAGE_RATE_HZ = 30.0


def _ros() -> Any:
    try:
        import rospy
    except ImportError as error:
        raise ImportError("dermis.ros needs ROS 1: apt install python3-rospy, or source its setup; for ROS 2 use --bag") from error
    return rospy


def fill(message: Any, fields: _messages.Fields) -> Any:
    """Sets the fields of a message, nested ones too."""
    for name, value in fields.items():
        if isinstance(value, dict):
            fill(getattr(message, name), value)
        else:
            setattr(message, name, value)
    return message


class Sensor:
    """The topics of one sensor."""

    def __init__(self, name: str, sensor: dermis.Sensor) -> None:
        rospy = _ros()
        from geometry_msgs.msg import WrenchStamped
        from sensor_msgs.msg import Image
        from std_msgs.msg import Float32MultiArray, MultiArrayDimension

        self.name, self.frame, self.sensor = name, plain_name(name), sensor
        self.rate = sensor.rate or DEFAULT_RATE_HZ
        self._wrench, self._image, self._taxels, self._side = WrenchStamped, Image, Float32MultiArray, MultiArrayDimension

        def topic(what: str, kind: Any) -> Any:
            return rospy.Publisher(f"{self.frame}/{what}", kind, queue_size=10)

        self._to_wrench, self._to_taxels = topic("wrench", WrenchStamped), topic("taxels", Float32MultiArray)
        self._to_tactile = topic("tactile", Image)
        self._to_camera = topic("camera", Image) if sensor.image_shape else None
        self._max_force = 0.0
        self._next_reading = self._next_image = -np.inf

    def publish(self, reading: dermis.Reading, now: Any, seconds: float) -> None:
        """Publishes the messages that are due at a time (s)."""
        if seconds < self._next_reading - 1e-9:
            return
        self._next_reading = max(self._next_reading + 1 / self.rate, seconds)
        self._stamped(self._to_wrench, self._wrench(), _messages.wrench(reading), now)
        fields = _messages.taxels(reading)
        array = self._taxels()
        array.layout.dim = [self._side(**side) for side in fields["layout"]["dim"]]
        array.data = fields["data"].tolist()
        self._to_taxels.publish(array)
        if seconds < self._next_image - 1e-9:
            return
        self._next_image = max(self._next_image + 1 / IMAGE_RATE_HZ, seconds)
        self._max_force = max(self._max_force, float(reading.taxels.max(initial=0.0)))
        heat = _heat.image(reading.taxels, reading.centers, max_force=self._max_force)
        self._stamped(self._to_tactile, self._image(), _messages.image(heat), now)
        if self._to_camera is not None:
            try:
                seen = reading.image
            except dermis.Error:
                # Contacts from another simulator do not define the deformed surface.
                return
            self._stamped(self._to_camera, self._image(), _messages.image(seen), now)

    def _stamped(self, topic: Any, message: Any, fields: _messages.Fields, now: Any) -> None:
        fill(message, fields)
        message.header.stamp, message.header.frame_id = now, self.frame
        topic.publish(message)


class Frames:
    """The transforms of sensors and bodies."""

    def __init__(self) -> None:
        rospy = _ros()
        from geometry_msgs.msg import TransformStamped
        from tf2_msgs.msg import TFMessage

        self._one, self._all = TransformStamped, TFMessage
        self._topic = rospy.Publisher("/tf", TFMessage, queue_size=10)

    def publish(self, poses: dict[str, NDArray[np.float64]], now: Any) -> None:
        """Publishes poses in the world."""
        made = []
        for fields in _messages.transforms(poses):
            message = fill(self._one(), fields)
            message.header.stamp, message.header.frame_id = now, WORLD
            made.append(message)
        self._topic.publish(self._all(transforms=made))


def _poses(world: dermis.World) -> dict[str, NDArray[np.float64]]:
    poses = {plain_name(name): world.sensor_pose(name) for name in world.sensors}
    for body in world.bodies:
        frame = plain_name(body)
        poses[f"{frame}_body" if frame in poses else frame] = world.pose(body)
    return poses


def simulate(world: dermis.World, *, duration: float | None) -> None:
    """Runs a world in real time and publishes the readings of its sensors, until the duration is over or ROS shuts down."""
    rospy = _ros()
    sensors = [Sensor(name, world.sensor(name)) for name in world.sensors]
    frames = Frames()
    rate = min(max(sensor.rate for sensor in sensors), 1 / world.time_step)
    start, warned = time.monotonic(), False
    while not rospy.is_shutdown() and (duration is None or world.time < duration):
        behind = time.monotonic() - start - world.time
        if behind < world.time_step:
            time.sleep(min(world.time_step, 1 / rate))
            continue
        # Step at most one reading period at a time: a slow world falls behind the clock but publishes every reading.
        world.step(max(1, min(round(behind / world.time_step), round(1 / rate / world.time_step))))
        if behind > 1 and not warned:
            warned = True
            print("dermis.ros: the scene runs slower than real time", file=sys.stderr)
        now = rospy.Time.now()
        frames.publish(_poses(world), now)
        for sensor in sensors:
            sensor.publish(world.reading(sensor.name), now, world.time)


def listen(world: dermis.World, *, name: str, topic: str, collision: str | None, duration: float | None) -> None:
    """Converts contact states on a topic to readings of a sensor of a scene."""
    rospy = _ros()
    import genpy.dynamic

    kind = genpy.dynamic.generate_dynamic(_contacts.CONTACTS_STATE_TYPE, _contacts.CONTACTS_STATE)[
        _contacts.CONTACTS_STATE_TYPE
    ]
    sensor, frames = Sensor(name, world.sensor(name)), Frames()
    pose = world.sensor_pose(name)

    def on_message(message: Any) -> None:
        try:
            contacts = _contacts.parse_contacts(message, collision=collision)
            reading = _contacts.read_contacts(sensor.sensor, contacts, frame=sensor.frame, sensor_pose=pose)
        except dermis.Error as error:
            rospy.logerr_throttle(1.0, str(error))
            return
        now = message.header.stamp if message.header.stamp.to_sec() > 0 else rospy.Time.now()
        sensor.publish(reading, now, time.monotonic())
        frames.publish(_poses(world), now)

    rospy.Subscriber(topic, kind, on_message, queue_size=10)
    start = time.monotonic()
    while not rospy.is_shutdown() and (duration is None or time.monotonic() - start < duration):
        time.sleep(0.05)
