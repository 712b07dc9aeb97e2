#!/usr/bin/env python3
"""Steps sensors in Gymnasium's AsyncVectorEnv with processes made in every way, compares with one process, and writes a dated log."""

import argparse
import datetime
import importlib.metadata
import os
import pathlib
import platform
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KINDS = {
    "couple": "MuJoCo, a coupled array of more than 1,024 contact points",
    "contacts": "MuJoCo, an array that reads the contacts",
    "image": "MuJoCo, a coupled GelSight, camera images",
    "world": "`dermis.World`, an array",
    "world image": "`dermis.World`, a GelSight, camera images",
    "edge": "`dermis/EdgeFollow-v0`",
}
# A run that takes longer (s) hangs.
LIMIT = 300


def run(kind, context, parent):
    """What the environments observed, or why they did not, and the time (s)."""
    start = time.perf_counter()
    command = [sys.executable, str(HERE / "environments.py"), kind, context, parent]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return "hangs", LIMIT
    said = done.stdout.strip() if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no reason"])[-1]
    return said, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for flag in ("--dermis", "--work", "--log"):
        parser.add_argument(flag, type=pathlib.Path, required=flag == "--log")
    parser.add_argument("--installed", action="store_true", help="use the dermis that is installed, and build no wheel")
    options = parser.parse_args()
    if not options.installed:
        subprocess.run(["cargo", "xtask", "wheel"], cwd=ROOT, check=True)
        wheel = next((ROOT / "dist").glob("dermis-*.whl"))
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", str(wheel)], check=True)
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("dermis", "gymnasium", "mujoco", "numpy"))
    lines = [f"# Environments in processes, {datetime.date.today()}", ""]
    lines += [f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {versions}", ""]
    lines += ["| environments | processes by | sensors used in the parent before | same bytes as in one process | s |", "|---|---|---|---|---|"]
    failed = 0
    for kind, about in KINDS.items():
        expected, _ = run(kind, "one", "unused")
        for context in ("fork", "forkserver", "spawn"):
            for parent in ("unused", "used"):
                said, seconds = run(kind, context, parent)
                same = said == expected and len(said) == 64
                failed += not same
                lines.append(f"| {about} | {context} | {'yes' if parent == 'used' else 'no'} | {'yes' if same else said} | {seconds:.1f} |")
                print(lines[-1], flush=True)
    (options.log / f"log-{datetime.date.today()}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
