"""Compares the CUDA solvers with the CPU solvers on an NVIDIA GPU, measures both, and writes a dated log.

    cargo xtask validate cuda

On a machine without cargo, pass files that were built elsewhere: the tests (`cargo test --release --workspace --no-run`), the program and
the Python package.

    python3 run.py --dermis dermis --tests cuda --package FOLDER --work work --log .
"""

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ("cuda",)
BENCHES = ("springs", "layer", "gel")


def built():
    """Builds the test programs of this repository and returns their paths."""
    names = [word for test in TESTS for word in ("--test", test)]
    command = ["cargo", "test", "--release", "--workspace", "--no-run", "--message-format=json", *names]
    lines = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    messages = [json.loads(line) for line in lines if line.startswith("{")]
    return [m["executable"] for m in messages if m.get("executable") and m["target"]["name"] in TESTS]


def package():
    """Builds the Python package and installs it into the current environment."""
    subprocess.run(["cargo", "xtask", "wheel"], cwd=ROOT, check=True)
    (wheel,) = (ROOT / "dist").glob("dermis-*.whl")
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", wheel], check=True)


def gpu():
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    return subprocess.run(query, check=True, capture_output=True, text=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("--dermis", "--work", "--log"):
        parser.add_argument(flag, type=pathlib.Path, required=True)
    parser.add_argument("--tests", nargs="*", help="test programs; built here without")
    parser.add_argument("--package", type=pathlib.Path, help="folder that holds the Python package; built and installed without")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ)
    if arguments.package:
        environment["PYTHONPATH"] = str(arguments.package.resolve())
    else:
        package()
    tests = [str(pathlib.Path(test).resolve()) for test in arguments.tests or built()]
    commands = [[test, "--nocapture", "--test-threads=1", "--include-ignored"] for test in tests]
    commands += [[str(arguments.dermis.resolve()), "bench", *BENCHES, "--device", "cuda"]]
    commands += [[sys.executable, str(pathlib.Path(__file__).with_name("first_press.py"))]]
    commands += [[sys.executable, "-m", "pytest", "-q", "-rs", str(ROOT / "bindings/python/tests/test_device.py")]]

    when = datetime.datetime.now(datetime.timezone.utc)
    log = arguments.log / f"log-{when:%Y-%m-%d}.md"
    lines = [f"# Skins on a GPU against the CPU, {when:%Y-%m-%d}", "", f"GPU: {gpu()}", ""]
    failed = []
    for command in commands:
        name = " ".join([pathlib.Path(command[0]).name, *[pathlib.Path(w).name if "/" in w else w for w in command[1:]]])
        print(f"== {name}", flush=True)
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        output = done.stdout + done.stderr
        print(output, flush=True)
        if done.returncode != 0 or "SKIPPED:" in output:
            failed.append(name)
        lines += [f"## `{name}`", "", "```", output.strip(), "```", ""]
        lines.append(f"Exit status {done.returncode}.\n")
        # Written after every command, so that a later failure keeps the results.
        log.write_text("\n".join(lines))
    if failed:
        sys.exit(f"failed or skipped: {', '.join(failed)}; see {log}")


if __name__ == "__main__":
    main()
