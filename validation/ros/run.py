"""Runs dermis.ros under Debian's ROS 1 with a roscore of its own, reads its topics with rostopic, and writes a dated log."""

import argparse
import datetime
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SYSTEM_PYTHON = "/usr/bin/python3"
PACKAGES = [
    *("python3-rospy", "python3-roslaunch", "python3-rostopic", "python3-numpy"),
    *("python3-std-msgs", "python3-geometry-msgs", "python3-sensor-msgs", "python3-tf2-msgs"),
]
IMPORTS = "import rospy, numpy, std_msgs.msg, geometry_msgs.msg, sensor_msgs.msg, tf2_msgs.msg"


def install():
    """Installs Debian's ROS packages if they are missing."""
    there = subprocess.run([SYSTEM_PYTHON, "-c", IMPORTS], capture_output=True, check=False).returncode == 0
    if there and shutil.which("roscore") and shutil.which("rostopic"):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        sys.exit(f"ROS 1 is missing: as root, apt-get install {' '.join(PACKAGES)}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *PACKAGES], check=True, env=environment)


def unpacked(work):
    """Unpacks the wheel of this repository into a folder for Debian's Python."""
    subprocess.run(["cargo", "xtask", "wheel"], cwd=ROOT, check=True)
    (wheel,) = (ROOT / "dist").glob("dermis-*.whl")
    site = work / "site"
    shutil.rmtree(site, ignore_errors=True)
    with zipfile.ZipFile(wheel) as file:
        file.extractall(site)
    return site, wheel.name


class Session:
    """A roscore on a free port of the loopback interface, with its nodes."""

    def __init__(self, site, work):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.work = work
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("VIRTUAL_ENV", "PYTHONHOME"))},
            "ROS_MASTER_URI": f"http://127.0.0.1:{port}",
            "ROS_IP": "127.0.0.1",
            "ROS_HOME": str(work / "ros-home"),
            "PYTHONPATH": str(site),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.running = []
        self.start("roscore", "/usr/bin/roscore", "-p", str(port))
        end = time.monotonic() + 30
        while subprocess.run(["/usr/bin/rostopic", "list"], env=self.environment, capture_output=True, check=False).returncode:
            if time.monotonic() > end:
                sys.exit("roscore did not come up within 30 s")
            time.sleep(0.5)

    def start(self, name, *command):
        with (self.work / f"{name}.log").open("w") as log:
            process = subprocess.Popen(
                command, env=self.environment, cwd=self.work, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
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

    def topics(self):
        command = ["/usr/bin/rostopic", "list"]
        return set(subprocess.run(command, env=self.environment, capture_output=True, text=True, check=True).stdout.split())

    def wait_for(self, wanted, process):
        """Waits until all topics exist, at most half a minute."""
        end = time.monotonic() + 30
        while time.monotonic() < end and process.poll() is None and not wanted <= self.topics():
            time.sleep(0.5)
        return self.topics()

    def echo(self, *arguments):
        """One message as printed by rostopic."""
        command = ["/usr/bin/rostopic", "echo", "-n", "1", *arguments]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=True, timeout=60).stdout

    def rate(self, topic, seconds=6):
        """The message rate (1/s) measured by rostopic."""
        command = ["timeout", "--signal=INT", str(seconds), "/usr/bin/rostopic", "hz", topic]
        said = subprocess.run(command, env={**self.environment, "PYTHONUNBUFFERED": "1"}, capture_output=True, text=True, check=False).stdout
        found = re.findall(r"average rate: ([\d.]+)", said)
        return float(found[-1]) if found else 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for flag in ("--dermis", "--work", "--log"):
        parser.add_argument(flag, type=pathlib.Path, required=True)
    options = parser.parse_args()
    install()
    options.work.mkdir(parents=True, exist_ok=True)
    site, wheel = unpacked(options.work)
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

    session = Session(site, options.work)
    try:
        node = session.start("dermis", SYSTEM_PYTHON, "-m", "dermis.ros", "--scene", "scene.toml")
        eye = session.start("eye", SYSTEM_PYTHON, "-m", "dermis.ros", "--scene", "camera.toml", "--node", "eye")
        wanted = {f"/{name}/{what}" for name in ("left_pad", "eye") for what in ("wrench", "taxels", "tactile")} | {"/eye/camera", "/tf"}
        topics = session.wait_for(wanted, node)
        check("topics", wanted <= topics, ", ".join(sorted(wanted & topics)))
        if node.poll() is not None:
            sys.exit(f"the node has ended: {(options.work / 'dermis.log').read_text().strip()}")
        # The cube comes to rest.
        time.sleep(3)
        wrench = session.echo("/left_pad/wrench")
        frame = re.search(r'frame_id: "([^"]*)"', wrench)[1]
        force = float(re.search(r"force:.*?z: (\S+)", wrench, re.S)[1])
        check("frame of /left_pad/wrench", frame == "left_pad", frame)
        check("force.z of /left_pad/wrench under a cube of 0.981 N", abs(force + 0.981) < 0.01, f"{force:.4f} N")
        lines.extend(["", *(f"      {row}" for row in wrench.splitlines()), ""])
        taxels = [float(value) for value in re.findall(r"[-+\d.e]+", session.echo("/left_pad/taxels/data").split("---")[0].strip("()\n"))]
        check("/left_pad/taxels", len(taxels) == 84 and abs(sum(taxels) - 0.981) < 0.01, f"{len(taxels)} values, sum {sum(taxels):.4f} N")
        for topic, size in (("/left_pad/tactile", None), ("/eye/camera", (160, 120))):
            image = session.echo("--noarr", topic)
            frame = re.search(r'frame_id: "([^"]*)"', image)[1]
            width, height = (int(re.search(rf"{side}: (\d+)", image)[1]) for side in ("width", "height"))
            well = frame == topic.split("/")[1] and "rgb8" in image and size in (None, (width, height))
            check(topic, well, f"rgb8, {width} x {height}, in {frame}")
        session.stop(eye)
        transforms = session.echo("/tf")
        parents, children = (set(re.findall(rf'{key}: "([^"]*)"', transforms)) for key in (r"(?<!child_)frame_id", "child_frame_id"))
        well = parents == {"world"} and {"left_pad", "cube"} <= children
        check("/tf", well, f"in {', '.join(sorted(parents))}: {', '.join(sorted(children))}")
        rate = session.rate("/left_pad/wrench")
        check("rate of /left_pad/wrench, whose device samples at 50 Hz", 40 < rate < 55, f"{rate:.1f} Hz")
        session.stop(node)

        session.start("bumper", SYSTEM_PYTHON, str(HERE / "bumper.py"))
        listen = ("--contacts", "/bumper", "--sensor", "Left pad", "--collision", "pad::link")
        node = session.start("contacts", SYSTEM_PYTHON, "-m", "dermis.ros", "--scene", "scene.toml", *listen)
        time.sleep(3)
        wrench = session.echo("/left_pad/wrench")
        frame = re.search(r'frame_id: "([^"]*)"', wrench)[1]
        force = float(re.search(r"force:.*?z: (\S+)", wrench, re.S)[1])
        taxels = [float(value) for value in re.findall(r"[-+\d.e]+", session.echo("/left_pad/taxels/data").split("---")[0].strip("()\n"))]
        lit = sum(value > 0 for value in taxels)
        well = frame == "left_pad" and abs(force + 0.981) < 1e-9 and lit == 4 and abs(sum(taxels) - 0.981) < 1e-5
        check("gazebo_msgs/ContactsState as touch", well, f"{force:.4f} N in {frame}, {lit} taxels lit, sum {sum(taxels):.4f} N")
    finally:
        session.close()
    today = datetime.date.today().isoformat()
    version = subprocess.run([SYSTEM_PYTHON, "-c", "import roslaunch, sys; print(sys.version.split()[0])"], capture_output=True, text=True, check=True)
    debian = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "python3-rospy"], capture_output=True, text=True, check=False).stdout
    head = [f"# In ROS 1, {today}", "", f"{wheel}; Debian's rospy {debian}, Python {version.stdout.strip()}", ""]
    (options.log / f"log-{today}.md").write_text("\n".join([*head, *lines]) + "\n")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}; what ran is in {options.work}/*.log")


if __name__ == "__main__":
    main()
