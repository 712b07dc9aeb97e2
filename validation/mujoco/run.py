#!/usr/bin/env python3
"""Runs everything that has to do with MuJoCo on each version of it, from one wheel, and leaves a dated log."""

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

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings" / "mujoco"))
import check  # noqa: E402

VERSIONS = ["3.3.7", "3.17.0", "4.0.0"]
PYTHON = ROOT / "bindings" / "python"
EXAMPLE = ROOT / "bindings" / "mujoco" / "examples" / "weights.xml"
# A viewer that is still there after so long (s) has opened its model.
VIEWER = 15
ENVIRONMENT = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "agg"}
ENVIRONMENT.setdefault("MUJOCO_GL", "osmesa")


class Log:
    """Lines of the log, and whether all of it went well."""

    def __init__(self):
        self.lines, self.failed = [], []

    def add(self, line):
        print(line, flush=True)
        self.lines.append(line)

    def run(self, what, command, tail=1):
        """Runs a command in the repository and logs the last lines of what it says."""
        print(f"-- {what}", flush=True)
        done = subprocess.run([str(word) for word in command], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False)
        said = (done.stdout + done.stderr).strip().splitlines()
        if done.returncode:
            self.failed.append(what)
            print("\n".join(said[-60:]), flush=True)
        for line in said[-tail:]:
            self.add(f"- {what}: {'' if not done.returncode else 'FAILED: '}{line.strip('= ')}")


def pytest(python, *arguments):
    """Without our own settings, so that the last line counts the tests."""
    return [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=", "--color=no", *arguments]


def viewer(log, python, version):
    """Opens a model in MuJoCo's viewer on a screen that is not there; one with an unknown plugin must be refused."""
    if not shutil.which("xvfb-run"):
        log.add("- viewer: left out, there is no xvfb-run")
        return
    other = pathlib.Path(python).parent / "unknown.xml"
    other.write_text(EXAMPLE.read_text().replace("dermis.sensor", "dermis.nothing"))
    subprocess.run([python, "-m", "dermis.mujoco"], check=True, env=ENVIRONMENT)
    found = {}
    for name, model in (("ours", EXAMPLE), ("unknown", other)):
        command = ["xvfb-run", "-a", str(python), "-m", "mujoco.viewer", f"--mjcf={model}"]
        env = {key: value for key, value in ENVIRONMENT.items() if key != "MUJOCO_GL"}
        process = subprocess.Popen(command, env=env, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        end = time.monotonic() + VIEWER
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.2)
        found[name] = process.poll() is None
        if found[name]:
            os.killpg(process.pid, signal.SIGTERM)
        process.communicate()
    well = found == {"ours": True, "unknown": False}
    if not well:
        log.failed.append(f"viewer {version}")
    log.add(f"- `python -m mujoco.viewer` with a dermis.sensor: {'opens it, and refuses an unknown plugin' if well else f'FAILED: {found}'}")


def built(libraries, dist):
    """Builds the libraries and packs them."""
    subprocess.run(["cargo", "build", "--workspace", "--release", "--lib"], cwd=ROOT, check=True)
    pack = [sys.executable, PYTHON / "wheel.py", "--native", libraries / "libdermis_python.so"]
    subprocess.run([*pack, "--plugin", libraries / "libdermis_mujoco.so", "--out", dist], check=True)
    (wheel,) = dist.glob("dermis-*.whl")
    return wheel


def plugin(python):
    """Where the wheel has put the engine plugin."""
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
    wheel = options.wheel or built(options.dermis.parent, options.work / "dist")
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
        viewer(log, python, version)
        log.run(f"engine plugin {version}", pytest(python, "bindings/mujoco/tests"))
        log.run(f"dermis.mujoco {version}", pytest(python, PYTHON / "tests" / "test_mujoco.py"))
        log.run(f"dermis.gym {version}", pytest(python, PYTHON / "tests" / "test_gym.py"))
        log.run("cost", [python, "bindings/mujoco/bench.py", plugin(python)], tail=3)

    install(sys.executable)
    log.add("\n## Examples with robosuite and gymnasium-robotics, MuJoCo 3.3.7\n")
    chosen = "panda_lift or shadow_touch or train_policy"
    log.run("examples", pytest(sys.executable, PYTHON / "tests" / "test_examples.py", "-k", chosen))
    typed = [sys.executable, "-m", "mypy", "--strict", "--config-file", PYTHON / "pyproject.toml", "--cache-dir", options.work / "mypy"]
    log.run("mypy --strict", [*typed, PYTHON / "examples"])
    (options.log / f"log-{today}.md").write_text("\n".join(log.lines) + "\n")
    if log.failed:
        sys.exit(f"failed: {', '.join(log.failed)}")


if __name__ == "__main__":
    main()
