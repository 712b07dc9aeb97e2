#!/usr/bin/env python3
"""Trains policies with and without touch, scores them on unseen episodes, and checks the wrapper with other libraries; writes a dated log."""

import argparse
import datetime
import importlib.metadata
import pathlib
import platform
import runpy
import subprocess
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "bindings" / "python" / "examples" / "train_policy.py"
SEEDS = (1, 2, 3)
# Unseen episodes for each policy, a multiple of the number of environments.
EPISODES = 48
ROUNDS = {"dermis/EdgeFollow-v0": 8, "dermis/GraspLift-v0": 12}


def wilson(successes, count, z=1.96):
    """The 95 % interval of a success rate (Wilson 1927)."""
    rate, more = successes / count, z * z / count
    middle, half = (rate + more / 2) / (1 + more), z * np.sqrt(rate * (1 - rate) / count + more / (4 * count)) / (1 + more)
    return max(0.0, middle - half), min(1.0, middle + half)


def score(example, envs, policy, touch):
    """Number of unseen episodes in which a policy succeeds."""
    tries = example["TRIES"]
    starts = range(10**6, 10**6 + EPISODES, tries)
    return sum(int(example["play"](envs, np.array([policy] * tries), touch, list(range(first, first + tries)))[1].sum()) for first in starts)


def learn(example, name):
    """One row of the table for each of touch and touch zeroed."""
    import gymnasium

    envs = [gymnasium.make(name) for _ in range(example["TRIES"])]
    rows = []
    for touch in (True, False):
        start = time.perf_counter()
        counts = []
        for seed in SEEDS:
            counts.append(score(example, envs, example["train"](envs, touch, seed, ROUNDS[name]), touch))
            print(f"{name}, touch {touch}, seed {seed}: {counts[-1]} of {EPISODES}", flush=True)
        low, high = wilson(sum(counts), EPISODES * len(SEEDS))
        each = ", ".join(f"{count / EPISODES:.2f}" for count in counts)
        minutes = (time.perf_counter() - start) / 60
        rows.append(
            f"| {name} | {'touch' if touch else 'touch zeroed'} | {sum(counts) / EPISODES / len(SEEDS):.2f} ({low:.2f} to {high:.2f}) | {each} | {minutes:.0f} |"
        )
        print(rows[-1], flush=True)
    return rows


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
    example = runpy.run_path(str(EXAMPLE), run_name="train_policy")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("dermis", "gymnasium", "mujoco", "numpy"))
    lines = [f"# Gym, {datetime.date.today()}", "", f"{platform.machine()}, Python {platform.python_version()}, {versions}", ""]
    lines += [
        f"Success in {EPISODES} unseen episodes for each of {len(SEEDS)} training seeds; 95 % interval of all {EPISODES * len(SEEDS)} episodes (Wilson)."
        f" Rounds of {2 * example['TRIES']} episodes: {', '.join(f'{rounds} for {name}' for name, rounds in ROUNDS.items())}.",
        "",
        "| environment | observation | success | seeds 1, 2, 3 | minutes |",
        "|---|---|---|---|---|",
    ]
    for name in ROUNDS:
        lines += learn(example, name)
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=", "--color=no", "bindings/python/tests/test_gym.py"]
    done = subprocess.run(tests, cwd=ROOT, capture_output=True, text=True, check=False)
    lines += ["", f"- `tests/test_gym.py` with stable-baselines3: {(done.stdout or done.stderr).strip().splitlines()[-1].strip('= ')}"]
    (options.log / f"log-{datetime.date.today()}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
