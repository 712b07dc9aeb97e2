"""Runs the example that reads PyBullet's contact points, with the wheel of this repository, and writes a dated log."""

import argparse
import datetime
import importlib.metadata
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "bindings" / "python" / "examples" / "pybullet_contacts.py"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for flag in ("--dermis", "--work", "--log"):
        parser.add_argument(flag, type=pathlib.Path, required=True)
    options = parser.parse_args()
    subprocess.run(["cargo", "xtask", "wheel"], cwd=ROOT, check=True)
    wheel = next((ROOT / "dist").glob("dermis-*.whl"))
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", str(wheel)], check=True
    )
    ran = subprocess.run([sys.executable, str(EXAMPLE)], cwd=options.work, capture_output=True, text=True, check=False)
    print(ran.stdout, ran.stderr)
    if ran.returncode:
        sys.exit("the example failed")
    today = datetime.date.today().isoformat()
    lines = [
        f"# PyBullet {importlib.metadata.version('pybullet')}, {today}",
        "",
        "A block of 0.2 kg on a pad, read through `Sensor.read_contacts`; taxels (N):",
        "",
        *(f"    {line}" for line in ran.stdout.splitlines() if line.startswith((" [", "[["))),
    ]
    (options.log / f"log-{today}.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
