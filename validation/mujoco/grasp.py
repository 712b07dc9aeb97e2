#!/usr/bin/env python3
"""Holds cubes of 1 g to 10 kg between two 8 × 8 pads for 60 s, at 0.5 to 5 ms, with every integrator: drift and weight.

    python3 grasp.py libdermis_mujoco.so [--masses KG …] [--steps S …]        # needs mujoco, pytest
"""

import argparse
import os
import pathlib
import sys

PARSER = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
PARSER.add_argument("plugin", type=pathlib.Path)
PARSER.add_argument("--masses", type=float, nargs="+", default=[1e-3, 0.02, 0.1, 1.0, 10.0], help="kg")
PARSER.add_argument("--steps", type=float, nargs="+", default=[5e-4, 1e-3, 2e-3, 5e-3], help="s")
OPTIONS = PARSER.parse_args()
os.environ["DERMIS_MUJOCO_PLUGIN"] = str(OPTIONS.plugin.resolve())
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "bindings" / "mujoco" / "tests"))
import mujoco  # noqa: E402
import test_implicit  # noqa: E402


def load(text):
    model = mujoco.MjModel.from_xml_string(text)
    return model, mujoco.MjData(model)


def main():
    cases = [(mass, step, how) for mass in OPTIONS.masses for step in OPTIONS.steps for how in ("Euler", "implicitfast", "RK4")]
    failed, worst = 0, [0.0, 0.0, 0.0]
    for mass_kg, step_s, integrator in cases:
        found = test_implicit.check_grasp(load, mass_kg, step_s, integrator, 60.0)
        failed += not (found[0] < 1e-5 and found[1] < 1e-6 and found[2] < 1e-6)
        worst = [max(pair) for pair in zip(worst, found)]
    print(
        f"{failed} of {len(cases)} grasps fail; largest speed after 1 s {worst[0]:.1e} m/s, drift in 59 s {worst[1]:.1e} m, "
        f"error of the weight {worst[2]:.1e}"
    )
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
