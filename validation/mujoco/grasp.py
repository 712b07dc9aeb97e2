#!/usr/bin/env python3
"""Holds cubes of 1 g to 10 kg between two 8 × 8 pads for 60 s, at 0.5 to 5 ms, with every integrator: drift and weight.

    python3 grasp.py libdermis_mujoco.so        # needs mujoco, pytest
"""

import os
import pathlib
import sys

os.environ["DERMIS_MUJOCO_PLUGIN"] = str(pathlib.Path(sys.argv[1]).resolve())
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "bindings" / "mujoco" / "tests"))
import mujoco  # noqa: E402
import test_implicit  # noqa: E402


def load(text):
    model = mujoco.MjModel.from_xml_string(text)
    return model, mujoco.MjData(model)


def main():
    failed, worst = 0, [0.0, 0.0, 0.0]
    for mass_kg in (1e-3, 0.02, 0.1, 1.0, 10.0):
        for step_s in (5e-4, 1e-3, 2e-3, 5e-3):
            for integrator in ("Euler", "implicitfast", "RK4"):
                found = test_implicit.check_grasp(load, mass_kg, step_s, integrator, 60.0)
                failed += not (found[0] < 1e-5 and found[1] < 1e-6 and found[2] < 1e-6)
                worst = [max(pair) for pair in zip(worst, found)]
    print(f"grasps: {failed} of 60 fail; largest speed after 1 s {worst[0]:.1e} m/s, drift in 59 s {worst[1]:.1e} m, error of the weight {worst[2]:.1e}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
