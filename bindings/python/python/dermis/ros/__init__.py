"""Touch in ROS: ``python -m dermis.ros --scene scene.toml``.

In ROS 1 (``rospy``) a scene runs in real time, and for each sensor NAME there are

- ``/NAME/wrench`` (geometry_msgs/WrenchStamped), the load on the sensor, in its frame NAME;
- ``/NAME/taxels`` (std_msgs/Float32MultiArray), the force on each taxel (N), rows by columns;
- ``/NAME/tactile`` (sensor_msgs/Image, rgb8), the same as a heat map;
- ``/NAME/camera`` (sensor_msgs/Image, rgb8), what a camera behind the skin sees;
- ``/tf`` (tf2_msgs/TFMessage), where the sensors and bodies are in ``world``.

With ``--contacts TOPIC`` nothing is simulated: contact states of another simulator, as Gazebo's bumper publishes them
(gazebo_msgs/ContactsState), become the same messages. For ROS 2, ``--bag FILE.mcap`` writes a bag.

What is here needs no ROS: messages as plain fields, and contacts as arrays.
"""

from dermis.ros._contacts import CONTACTS_STATE, CONTACTS_STATE_TYPE, Contacts, contacts_of, touched
from dermis.ros._messages import Fields, image, taxels, transforms, wrench

__all__ = [
    "CONTACTS_STATE",
    "CONTACTS_STATE_TYPE",
    "Contacts",
    "Fields",
    "contacts_of",
    "image",
    "taxels",
    "touched",
    "transforms",
    "wrench",
]
