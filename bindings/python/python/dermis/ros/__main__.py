"""``python -m dermis.ros``: see ``--help``."""

from __future__ import annotations

import argparse
import sys

import dermis


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dermis.ros", description="Publishes tactile sensors in ROS 2.")
    parser.add_argument("--scene", required=True, metavar="FILE", help="a scene file of dermis")
    parser.add_argument("--duration", type=float, metavar="SECONDS", help="duration; default: until ROS shuts down")
    parser.add_argument("--bag", metavar="FOLDER", help="write a ROS 2 bag of the whole scene instead; needs no ROS")
    parser.add_argument("--contacts", metavar="TOPIC", help="read gazebo_msgs/ContactsState from this topic instead of simulating")
    parser.add_argument("--sensor", metavar="NAME", help="the sensor that the contacts act on; default: the first of the scene")
    parser.add_argument("--collision", metavar="NAME", help="part of the name of the sensor's own collision in the contact states")
    parser.add_argument("--node", default="dermis", metavar="NAME", help="name of the node")
    parser.add_argument("--dds", action="store_true", help="use Cyclone DDS even where rclpy is installed")
    return parser


def main() -> None:
    """Runs the node."""
    parser = _arguments()
    words = sys.argv[1:]
    # rclpy reads the arguments of ROS.
    options = parser.parse_args(words[: words.index("--ros-args")] if "--ros-args" in words else words)
    if options.duration is not None and not options.duration > 0:
        parser.error(f"--duration must be positive, got {options.duration}")
    if options.contacts is None and (options.sensor or options.collision):
        parser.error("--sensor and --collision go with --contacts")
    try:
        world = dermis.World.load(options.scene)
        if options.bag:
            world.run(duration=options.duration, record=options.bag, format="ros2")
            print(f"recorded {options.bag}")
            return
        from dermis.ros import _node
        from dermis.ros._transport import transport

        topics = transport(options.node, dds=options.dds)
        try:
            if options.contacts:
                name = options.sensor or world.sensors[0]
                _node.listen(topics, world, name=name, topic=options.contacts, collision=options.collision, duration=options.duration)
            else:
                _node.simulate(topics, world, duration=options.duration)
        finally:
            topics.close()
    except KeyboardInterrupt:
        sys.exit(130)
    except (dermis.Error, OSError, ImportError) as error:
        sys.exit(f"dermis.ros: {error}")


if __name__ == "__main__":
    main()
