#!/usr/bin/env python3
"""Runs all MuJoCo tests on each supported version from one wheel, and writes a dated log."""

import argparse
import datetime
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import time

import matplotlib.pyplot as plt
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings" / "mujoco"))
import check  # noqa: E402

VERSIONS = ["3.3.7", "3.17.0", "4.0.0"]
PYTHON = ROOT / "bindings" / "python"
EXAMPLE = ROOT / "bindings" / "mujoco" / "examples" / "weights.xml"
# Time limit (s) for the viewer to show its model.
VIEWER = 20
ENVIRONMENT = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "agg"}
ENVIRONMENT.setdefault("MUJOCO_GL", "osmesa")


class Log:
    """The log and its outcome."""

    def __init__(self):
        self.lines, self.failed = [], []

    def add(self, line):
        print(line, flush=True)
        self.lines.append(line)

    def run(self, what, command, tail=1):
        """Runs a command in the repository and logs the last lines of its output."""
        print(f"-- {what}", flush=True)
        done = subprocess.run([str(word) for word in command], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False)
        said = (done.stdout + done.stderr).strip().splitlines()
        if done.returncode:
            self.failed.append(what)
            print("\n".join(said[-60:]), flush=True)
        for line in said[-tail:]:
            self.add(f"- {what}: {'' if not done.returncode else 'FAILED: '}{line.strip('= ')}")


def pytest(python, *arguments):
    """Runs pytest without the repository's settings, so that the last line counts the tests."""
    return [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=", "--color=no", *arguments]


def screen(folder):
    """The screen of an X server, (height, width, 3), read from its frame buffer file."""
    data = (folder / "Xvfb_screen0").read_bytes()
    header = np.frombuffer(data, ">u4", 20).astype(int)
    width, height, bytes_per_line, colours = header[4], header[5], header[12], header[19]
    pixels = np.frombuffer(data, np.uint8, bytes_per_line * height, header[0] + 12 * colours)
    return pixels.reshape(height, -1, 4)[:, :width, 2::-1]


def orange(image):
    """The number of pixels with the hue of the example's cube."""
    red, green, blue = image.astype(int).transpose(2, 0, 1)
    return int(((red > 1.2 * green) & (green > 1.3 * blue) & (red > 60)).sum())


def viewer(log, python, version, work):
    """Opens a model in MuJoCo's viewer on a virtual screen and looks for its cube, which needs the plugin."""
    if not shutil.which("xvfb-run"):
        log.add("- viewer: left out, there is no xvfb-run")
        return
    work.mkdir(parents=True, exist_ok=True)
    other = work / "unknown.xml"
    other.write_text(EXAMPLE.read_text().replace("dermis.sensor", "dermis.nothing"))
    subprocess.run([python, "-m", "dermis.mujoco"], check=True, env=ENVIRONMENT)
    found = {}
    for name, model in (("ours", EXAMPLE), ("unknown", other)):
        command = ["xvfb-run", "-a", "-s", f"-screen 0 1024x768x24 -fbdir {work}", str(python), "-m", "mujoco.viewer", f"--mjcf={model}"]
        env = {key: value for key, value in ENVIRONMENT.items() if key != "MUJOCO_GL"}
        process = subprocess.Popen(command, env=env, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(VIEWER)
        shown = screen(work)
        found[name] = orange(shown)
        plt.imsave(work / f"viewer-{name}.png", shown)
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
    well = found["ours"] > 1000 > 10 * found["unknown"]
    if not well:
        log.failed.append(f"viewer {version}")
    said = f"shows its cube ({found['ours']} pixels; {found['unknown']} with a plugin that is not there)"
    log.add(f"- `python -m mujoco.viewer` with a dermis.sensor: {said if well else f'FAILED: {found}'}")


def built():
    """Builds the wheel."""
    subprocess.run(["cargo", "xtask", "wheel"], cwd=ROOT, check=True)
    (wheel,) = (ROOT / "dist").glob("dermis-*.whl")
    return wheel


def plugin(python):
    """The path of the engine plugin in the installed wheel."""
    code = "import dermis._engine_plugin as plugin; print(plugin.path())"
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dermis", type=pathlib.Path, help="the built program; the libraries are beside it")
    parser.add_argument("--wheel", type=pathlib.Path, help="a wheel that is there already, in place of one that is built")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--log", type=pathlib.Path, required=True)
    options = parser.parse_args()
    log = Log()
    wheel = options.wheel or built()
    today = datetime.date.today().isoformat()
    log.add(f"# In MuJoCo, {today}\n\n{wheel.name}, Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores")

    def install(python, *others):
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if others:
            subprocess.run([*pip, *others], check=True)
        subprocess.run([*pip, "--no-deps", "--force-reinstall", wheel], check=True)

    for version in VERSIONS:
        python = check.environment(options.work / "envs", version)
        install(python, "gymnasium", "imageio")
        log.add(f"\n## MuJoCo {version}\n")
        viewer(log, python, version, options.work / f"viewer-{version}")
        log.run(f"engine plugin {version}", pytest(python, "bindings/mujoco/tests"))
        log.run(f"dermis.mujoco {version}", pytest(python, PYTHON / "tests" / "test_mujoco.py"))
        log.run(f"dermis.gym {version}", pytest(python, PYTHON / "tests" / "test_gym.py"))
        log.run("grasps of 60 s", [python, "validation/mujoco/grasp.py", plugin(python)])
        log.run("cost", [python, "bindings/mujoco/bench.py", plugin(python)], tail=5)

    install(sys.executable)
    log.add("\n## Examples with robosuite and gymnasium-robotics, MuJoCo 3.3.7\n")
    chosen = "panda_lift or shadow_touch or train_policy"
    log.run("TactileObservation", [sys.executable, "validation/mujoco/libraries.py"], tail=6)
    log.run("examples", pytest(sys.executable, PYTHON / "tests" / "test_examples.py", "-k", chosen))
    typed = [sys.executable, "-m", "mypy", "--strict", "--config-file", PYTHON / "pyproject.toml", "--cache-dir", options.work / "mypy"]
    log.run("mypy --strict", [*typed, PYTHON / "examples"])
    (options.log / f"log-{today}.md").write_text("\n".join(log.lines) + "\n")
    if log.failed:
        sys.exit(f"failed: {', '.join(log.failed)}")


if __name__ == "__main__":
    main()
