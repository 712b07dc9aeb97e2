#!/usr/bin/env python3
"""Holds cubes of 1 g to 10 kg between two 8 × 8 pads for 60 s, at 0.5 to 5 ms, with every integrator: rest, drift, weight, messages.

    python3 grasp.py libdermis_mujoco.so [--masses KG …] [--steps S …] [--seconds S]        # needs mujoco, pytest

Prints a table with the worst of the integrators for each mass and step.
"""

import argparse
import os
import pathlib
import sys

PARSER = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
PARSER.add_argument("plugin", type=pathlib.Path)
PARSER.add_argument("--masses", type=float, nargs="+", default=[1e-3, 0.01, 0.1, 1.0, 10.0], help="kg")
PARSER.add_argument("--steps", type=float, nargs="+", default=[5e-4, 1e-3, 2e-3, 5e-3], help="s")
PARSER.add_argument("--seconds", type=float, default=60.0, help="simulated time of each grasp")
OPTIONS = PARSER.parse_args()
os.environ["DERMIS_MUJOCO_PLUGIN"] = str(OPTIONS.plugin.resolve())
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "bindings" / "mujoco" / "tests"))
import mujoco  # noqa: E402
import test_implicit  # noqa: E402

INTEGRATORS = ("Euler", "implicitfast", "RK4")
MESSAGES = []


def load(text):
    model = mujoco.MjModel.from_xml_string(text)
    return model, mujoco.MjData(model)


def main():
    mujoco.set_mju_user_warning(MESSAGES.append)
    failed, worst, table = 0, [0.0, 0.0, 0.0], []
    for mass_kg in OPTIONS.masses:
        for step_s in OPTIONS.steps:
            found = [test_implicit.check_grasp(load, mass_kg, step_s, how, OPTIONS.seconds) for how in INTEGRATORS]
            sys.stdout.flush()
            speed, drift, error = (max(values) for values in zip(*found))
            failed += sum(not (one[0] < 1e-5 and one[1] < 1e-6 and one[2] < 1e-6) for one in found)
            worst = [max(pair) for pair in zip(worst, (speed, drift, error))]
            table.append(f"| {mass_kg:g} kg | {step_s * 1e3:g} ms | {speed:.1e} | {drift:.1e} | {error:.1e} |")
    print(f"\nMuJoCo {mujoco.__version__}, {', '.join(INTEGRATORS)}, {OPTIONS.seconds:g} s each:\n")
    print("| cube | step | speed after 1 s (m/s) | drift afterwards (m) | error of the weight |\n|---|---|---|---|---|")
    print("\n".join(table))
    print(
        f"\n{failed} of {len(table) * len(INTEGRATORS)} grasps fail, {len(MESSAGES)} messages; largest speed after 1 s {worst[0]:.1e} m/s, "
        f"drift {worst[1]:.1e} m, error of the weight {worst[2]:.1e}"
    )
    print("\n".join(MESSAGES[:5]))
    sys.exit(failed > 0 or len(MESSAGES) > 0)


if __name__ == "__main__":
    main()
