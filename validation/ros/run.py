"""Runs dermis.ros over DDS on the loopback interface, subscribes with Eclipse Cyclone DDS, and writes a dated log.

The subscriber declares the message types of ROS 2 itself, and decodes the bytes a second time with `rosbags`, which knows the original
definitions.
"""

import argparse
import datetime
import importlib.metadata
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NETWORK = (
    '<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="lo"/></Interfaces><AllowMulticast>false</AllowMulticast></General>'
    '<Discovery><ParticipantIndex>auto</ParticipantIndex><Peers><Peer address="127.0.0.1"/></Peers></Discovery></Domain></CycloneDDS>'
)
ENVIRONMENT = {"CYCLONEDDS_URI": NETWORK, "ROS_DOMAIN_ID": "77"}


def install():
    """Installs the wheel of this repository into the current environment."""
    subprocess.run(["cargo", "xtask", "wheel"], cwd=ROOT, check=True)
    (wheel,) = (ROOT / "dist").glob("dermis-*.whl")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"]
    subprocess.run([*pip, wheel], check=True)
    return wheel.name


class Session:
    """Programs that run until the end."""

    def __init__(self, work):
        self.work, self.running = work, []

    def start(self, name, *command):
        with (self.work / f"{name}.log").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, *command], cwd=self.work, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        self.running.append(process)
        return process

    def stop(self, process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def close(self):
        for process in reversed(self.running):
            self.stop(process)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for flag in ("--dermis", "--work", "--log"):
        parser.add_argument(flag, type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    wheel = install()
    os.environ.update(ENVIRONMENT)
    import subscriber

    eye = subprocess.run([options.dermis, "sensors", "gelsight"], check=True, capture_output=True, text=True).stdout
    (options.work / "eye.toml").write_text(eye.replace("width = 640", "width = 160").replace("height = 480", "height = 120"))
    for scene in ("scene.toml", "camera.toml"):
        shutil.copy(HERE / scene, options.work)
    lines, failed = [], []

    def check(what, well, shown):
        line = f"- {what}: {shown}" + ("" if well else " FAILED")
        print(line, flush=True)
        lines.append(line)
        if not well:
            failed.append(what)

    session = Session(options.work)
    network = subscriber.Subscriber()
    try:
        node = session.start("dermis", "-m", "dermis.ros", "--dds", "--scene", "scene.toml")
        eye = session.start("eye", "-m", "dermis.ros", "--dds", "--scene", "camera.toml")
        wanted = {f"rt/{name}/{what}" for name in ("left_pad", "eye") for what in ("wrench", "taxels", "tactile")} | {"rt/eye/camera", "rt/tf"}
        topics = network.wait_for(wanted, node)
        check("topics", wanted <= topics.keys(), ", ".join(sorted(wanted & topics.keys())))
        if node.poll() is not None:
            sys.exit(f"the program has ended: {(options.work / 'dermis.log').read_text().strip()}")
        kinds = {topics[name] for name in wanted & topics.keys()}
        named = {f"{kind.replace('/', '::').replace('::msg', '::msg::dds_')}_" for kind in subscriber.KINDS}
        check("types", kinds == named, ", ".join(sorted(kinds)))
        # The cube comes to rest.
        time.sleep(3)
        (wrench, again, _), *_ = network.take("left_pad/wrench", "geometry_msgs/msg/WrenchStamped", 1)
        force = wrench.wrench.force.z
        check("frame of /left_pad/wrench", wrench.header.frame_id == "left_pad", wrench.header.frame_id)
        check("force.z of /left_pad/wrench under a cube of 0.981 N", abs(force + 0.981) < 0.01, f"{force:.4f} N")
        same = again.wrench.force.z == force and again.header.stamp.nanosec == wrench.header.stamp.nanosec
        check("its bytes as rosbags decodes them", same, f"{again.wrench.force.z:.4f} N")
        (taxels, again, _), *_ = network.take("left_pad/taxels", "std_msgs/msg/Float32MultiArray", 1)
        sides = [(side.label, side.size) for side in again.layout.dim]
        well = list(again.data) == taxels.data and sides == [("rows", 14), ("cols", 6)] and abs(sum(taxels.data) - 0.981) < 0.01
        check("/left_pad/taxels", well, f"{len(taxels.data)} values, {sides}, sum {sum(taxels.data):.4f} N")
        for topic, size in (("left_pad/tactile", None), ("eye/camera", (160, 120))):
            (_, image, count), *_ = network.take(topic, "sensor_msgs/msg/Image", 1)
            found = (image.width, image.height)
            whole = image.data.size == image.height * image.step and image.data.max() > 0
            well = image.header.frame_id == topic.split("/")[0] and image.encoding == "rgb8" and size in (None, found) and whole
            check(f"/{topic}", well, f"{image.encoding}, {found[0]} x {found[1]}, {count} bytes, in {image.header.frame_id}")
        session.stop(eye)
        (_, transforms, _), *_ = network.take("tf", "tf2_msgs/msg/TFMessage", 1)
        parents, children = ({frame.header.frame_id for frame in transforms.transforms}, {frame.child_frame_id for frame in transforms.transforms})
        check("/tf", parents == {"world"} and {"left_pad", "cube"} <= children, f"in {', '.join(parents)}: {', '.join(sorted(children))}")
        messages = network.take("left_pad/wrench", "geometry_msgs/msg/WrenchStamped", 100)
        stamps = [wrench.header.stamp.sec + wrench.header.stamp.nanosec * 1e-9 for wrench, *_ in messages]
        rate = (len(stamps) - 1) / (stamps[-1] - stamps[0])
        check("rate of /left_pad/wrench, whose device samples at 50 Hz", 40 < rate < 55, f"{rate:.1f} Hz")
        session.stop(node)

        session.start("bumper", str(HERE / "bumper.py"))
        listen = ("--contacts", "/bumper", "--sensor", "Left pad", "--collision", "pad::link")
        node = session.start("contacts", "-m", "dermis.ros", "--dds", "--scene", "scene.toml", *listen)
        time.sleep(3)
        (wrench, *_), *_ = network.take("left_pad/wrench", "geometry_msgs/msg/WrenchStamped", 1)
        (taxels, *_), *_ = network.take("left_pad/taxels", "std_msgs/msg/Float32MultiArray", 1)
        force, total, lit = wrench.wrench.force.z, sum(taxels.data), sum(value > 0 for value in taxels.data)
        well = wrench.header.frame_id == "left_pad" and abs(force + 0.981) < 1e-9 and lit == 4 and abs(total - 0.981) < 1e-5
        check("gazebo_msgs/ContactsState as touch", well, f"{force:.4f} N in {wrench.header.frame_id}, {lit} taxels lit, sum {total:.4f} N")
    finally:
        session.close()
    today = datetime.date.today().isoformat()
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("cyclonedds", "rosbags"))
    head = [f"# Topics of ROS 2 over DDS, {today}", "", f"{wheel}; {versions}, Python {sys.version.split()[0]}; loopback interface", ""]
    (options.log / f"log-{today}.md").write_text("\n".join([*head, *lines]) + "\n")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}; what ran is in {options.work}/*.log")


if __name__ == "__main__":
    main()
