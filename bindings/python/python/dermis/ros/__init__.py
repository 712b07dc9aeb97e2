"""Tactile sensors in ROS 2: ``python -m dermis.ros --scene scene.toml``.

A scene runs in real time. Topics of each sensor NAME:

- ``/NAME/wrench`` (geometry_msgs/WrenchStamped), force and torque on the sensor, in its frame NAME;
- ``/NAME/taxels`` (std_msgs/Float32MultiArray), the force on each taxel (N), rows by columns;
- ``/NAME/tactile`` (sensor_msgs/Image, rgb8), a heat map of the taxels;
- ``/NAME/camera`` (sensor_msgs/Image, rgb8), image of the camera behind the skin;
- ``/tf`` (tf2_msgs/TFMessage), poses of sensors and bodies in ``world``.

With ``--contacts TOPIC`` nothing is simulated: contact states of another simulator (gazebo_msgs/ContactsState, as Gazebo's bumper
publishes them) are converted to the same messages. ``--bag FOLDER`` writes a bag instead.

Where ROS 2 is installed it is a node (``rclpy``). Elsewhere, or with ``--dds``, the same topics go over DDS (``pip install 'dermis[ros]'``
brings Eclipse Cyclone DDS); nodes of ROS 2 in the same ROS_DOMAIN_ID see them.

The functions of this module need neither: they convert readings to message fields, and contact messages to arrays.
"""

from dermis.ros._contacts import Contacts, parse_contacts, read_contacts
from dermis.ros._messages import Fields, image, taxels, transforms, wrench

__all__ = [
    "Contacts",
    "Fields",
    "image",
    "parse_contacts",
    "read_contacts",
    "taxels",
    "transforms",
    "wrench",
]
