"""Runs what CI leaves out of the guide and the docstrings: `cargo xtask validate guide`; see README.md."""

from __future__ import annotations

import argparse
import datetime
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))
EXAMPLES = "bindings/python/tests/test_package.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dermis", type=pathlib.Path, help="not used")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--log", type=pathlib.Path, required=True, help="folder of the log")
    parser.add_argument("--wheel", type=pathlib.Path, help="a wheel that is there already, in place of one that is built")
    options = parser.parse_args()
    if options.wheel is None:
        subprocess.run(["cargo", "xtask", "wheel"], cwd=ROOT, check=True)
    wheel = options.wheel or next((ROOT / "dist").glob("dermis-*.whl"))
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", str(wheel)], check=True)
    import blocks

    here = os.environ | {"DERMIS_TIME": "1", "MPLBACKEND": "agg", "PYTHONDONTWRITEBYTECODE": "1"}
    today = datetime.datetime.now(datetime.timezone.utc).date()
    lines = [f"# Guide, {today}\n", f"{wheel.name}, Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores.\n"]
    packages = [name for name in ("torch", "jax", "ray", "rerun", "mujoco_warp", "cyclonedds", "rclpy") if blocks.has(name)]
    lines.append(f"Packages: {', '.join(packages)}.\n")
    commands = {
        "pages": [sys.executable, "docs/site/build.py", "--out", str(options.work / "site"), "--blocks"],
        "docstrings": [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", "--durations=0", EXAMPLES, "-k", "texts_show"],
    }
    failed = []
    for name, command in commands.items():
        done = subprocess.run(command, cwd=ROOT, env=here, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(done.stdout, flush=True)
        lines.append(f"## {name}: {'passed' if done.returncode == 0 else 'FAILED'}\n\n```text\n{done.stdout.strip()}\n```\n")
        failed += [name] if done.returncode else []
    (options.log / f"log-{today}.md").write_text("\n".join(lines))
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
