"""Tactile sensors in ROS: ``python -m dermis.ros --scene scene.toml``.

With ROS 1 (``rospy``) a scene runs in real time. Topics of each sensor NAME:

- ``/NAME/wrench`` (geometry_msgs/WrenchStamped), force and torque on the sensor, in its frame NAME;
- ``/NAME/taxels`` (std_msgs/Float32MultiArray), the force on each taxel (N), rows by columns;
- ``/NAME/tactile`` (sensor_msgs/Image, rgb8), a heat map of the taxels;
- ``/NAME/camera`` (sensor_msgs/Image, rgb8), image of the camera behind the skin;
- ``/tf`` (tf2_msgs/TFMessage), poses of sensors and bodies in ``world``.

With ``--contacts TOPIC`` nothing is simulated: contact states of another simulator (gazebo_msgs/ContactsState, as Gazebo's bumper
publishes them) are converted to the same messages. For ROS 2, ``--bag FOLDER`` writes a bag.

The functions of this module need no ROS: they convert readings to message fields, and contact messages to arrays.
"""

from dermis.ros._contacts import CONTACTS_STATE, CONTACTS_STATE_TYPE, Contacts, parse_contacts, read_contacts
from dermis.ros._messages import Fields, image, taxels, transforms, wrench

__all__ = [
    "CONTACTS_STATE",
    "CONTACTS_STATE_TYPE",
    "Contacts",
    "Fields",
    "image",
    "parse_contacts",
    "read_contacts",
    "taxels",
    "transforms",
    "wrench",
]
