#!/usr/bin/env python3
"""Plots the creep of two cubes on a slope of 10° over 60 s: one with dermis' bristle friction, one with MuJoCo's contact.

    python3 tilt.py libdermis_mujoco.so OUT.png        # needs mujoco, matplotlib
"""

import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import mujoco
import numpy as np

EXAMPLE = pathlib.Path(__file__).parents[2] / "bindings" / "mujoco" / "examples" / "tilt.xml"


def main():
    library, out = sys.argv[1:]
    mujoco.mj_loadPluginLibrary(str(pathlib.Path(library).resolve()))
    model = mujoco.MjModel.from_xml_path(str(EXAMPLE))
    data = mujoco.MjData(model)
    settle = int(1.0 / model.opt.timestep)
    for _ in range(settle):
        mujoco.mj_step(model, data)
    start = data.xpos.copy()
    times, paths = [], {"cube": [], "twin": []}
    for step in range(int(60.0 / model.opt.timestep)):
        mujoco.mj_step(model, data)
        if step % 200 == 0:
            times.append(data.time)
            for name, path in paths.items():
                body = model.body(name).id
                path.append(np.linalg.norm(data.xpos[body] - start[body]))
    figure, axes = plt.subplots(figsize=(7, 4.2), dpi=130)
    axes.semilogy(times, np.maximum(paths["twin"], 1e-17), color="tab:red", label="MuJoCo's contact, μ = 0.435")
    axes.semilogy(times, np.maximum(paths["cube"], 1e-17), color="tab:blue", label="dermis in MuJoCo, bristles, μ = 0.435")
    axes.axhline(1e-6, color="0.5", linewidth=0.8, linestyle="--")
    axes.text(61, 1.3e-6, "bar: 1 µm", color="0.4", ha="right")
    axes.set_xlabel("Time (s)")
    axes.set_ylabel("Distance from where it settled (m)")
    axes.set_title(f"1 kg on a slope of 10°, MuJoCo {mujoco.__version__}, steps of 0.5 ms")
    axes.legend(loc="center right")
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(out)
    print(f"after 60 s: dermis {paths['cube'][-1]:.1e} m, MuJoCo {paths['twin'][-1]:.1e} m")


if __name__ == "__main__":
    main()
