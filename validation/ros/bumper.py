"""Publishes contact states as Gazebo's bumper does: a cube of 0.981 N on four points of a pad that stands at z = 20 mm."""

import genpy.dynamic
import rospy

import dermis.ros

kinds = genpy.dynamic.generate_dynamic(dermis.ros.CONTACTS_STATE_TYPE, dermis.ros.CONTACTS_STATE)
State, States = kinds["gazebo_msgs/ContactState"], kinds[dermis.ros.CONTACTS_STATE_TYPE]
Wrench, Vector = kinds["geometry_msgs/Wrench"], kinds["geometry_msgs/Vector3"]

# The checksum of the package gazebo_msgs; ROS connects only equal checksums.
assert States._md5sum == "acbcb1601a8e525bf72509f18e6f668d", States._md5sum
rospy.init_node("bumper")
topic = rospy.Publisher("/bumper", States, queue_size=1)
rate = rospy.Rate(20)
while not rospy.is_shutdown():
    state = State(collision1_name="cube::link::cube", collision2_name="pad::link::pad")
    for x in (-0.005, 0.005):
        for y in (-0.01, 0.01):
            state.contact_positions.append(Vector(x, y, 0.02))
            state.contact_normals.append(Vector(0, 0, -1))
            state.depths.append(1e-4)
            state.wrenches.append(Wrench(force=Vector(0, 0, 0.981 / 4), torque=Vector(0, 0, 0)))
    message = States(states=[state])
    message.header.frame_id, message.header.stamp = "world", rospy.Time.now()
    topic.publish(message)
    rate.sleep()
