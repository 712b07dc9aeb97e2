"""Compares simulated images of ball presses with the real ones of the package `taxim`.

    cargo xtask validate real-balls

The package is installed without what it depends on: only its images and labels are wanted. They stay outside the repository; the log
has numbers alone.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

PACKAGE = "taxim==1.4.1"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dermis", required=True, help="the dermis program")
    parser.add_argument("--work", required=True, help="folder for images")
    parser.add_argument("--log", required=True, help="folder for the dated log")
    arguments = parser.parse_args()

    data, out = Path(arguments.work) / "data", Path(arguments.work) / "out"
    if not (data / "gelsight-mini" / "labels.csv").exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", PACKAGE]
        subprocess.run(pip, check=True)
        subprocess.run([sys.executable, Path(__file__).with_name("export.py"), data], check=True)
    command = [arguments.dermis, "reproduce", "real-balls", "--data", data, "--out", out, "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    report = json.loads(done.stdout)
    text = log(report)
    print(text)
    print(f"images: {out / 'real-balls'}")
    day = datetime.date.today().isoformat()
    (Path(arguments.log) / f"log-{day}.md").write_text(text)
    sys.exit(done.returncode)


def log(report):
    metrics = report["metrics"]
    rows = []
    for what, prefix in [
        ("GelSight, as labelled", ""),
        ("GelSight Mini, as labelled", "mini_"),
        ("GelSight Mini, aligned", "mini_aligned_"),
    ]:
        for where, ring in [("to 0.9 radii", ""), ("1 to 2 radii", "ring_")]:
            values = [metrics[f"{prefix}{ring}{light}rmse_255"] for light in ["", "phong_", "null_"]]
            rows.append(f"| {what} | {where} | " + " | ".join(f"{value:.2f}" for value in values) + " |")
    lines = [
        f"# Real ball presses ({PACKAGE})",
        "",
        "    cargo xtask validate real-balls",
        "",
        f"{datetime.date.today().isoformat()}, {platform.machine()}, {os.cpu_count()} cores. "
        f"**{'Holds' if report['passed'] else 'Does not hold'}.**",
        "",
        "Root mean square of the difference (of 255) on the odd presses, lights fitted to the even ones. Asked, as labelled: at most 6.9 and 24 to",
        "0.9 radii with the calibrated light, and from 1 to 2 radii less than the image without contact.",
        "",
        "| sensor | where | calibrated | lamps | image without contact |",
        "|---|---|---|---|---|",
        *rows,
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
