"""The robosuite Panda lifts a cube with a tactile array on each finger; the skins compute the contact instead of MuJoCo.

Needs robosuite, MuJoCo 3.3.7, matplotlib, and MUJOCO_GL=egl or osmesa without a display.
"""

import os
import pathlib

import matplotlib.pyplot as plt
import mujoco
import numpy as np
import robosuite

import dermis.mujoco

# A stiff pad of 16 × 16 mm, and a time step that is stable with it.
firm = {"stiffness_per_area": "60 MPa/m", "max_penetration": "4 mm", "friction": {"sigma1": "0.2 N s/m"}}
pad = {"surface": {"grid": {"pitch": "2 mm"}}, "contact_points": 1, "skin": firm}
sensor = dermis.Sensor.preset("capacitive-8x8", parameters=pad)
robosuite.macros.SIMULATION_TIMESTEP = 2.5e-4
env = robosuite.make("Lift", robots="Panda", has_renderer=False, has_offscreen_renderer=False, use_camera_obs=False, seed=1)
observation = env.reset()
model, data = env.sim.model._model, env.sim.data._data
data.joint("cube_joint0").qpos[3:] = [1, 0, 0, 0]  # aligned with the fingers

# The arrays are 4.5 mm above the pads, rows up; the pads are boxes that face each other along their y axis.
pads = []
for finger, side in (("finger1", 1), ("finger2", -1)):
    pose = np.array([[side, 0, 0, 0], [0, 0, side, side * 8.5e-3], [0, -1, 0, 0], [0, 0, 0, 1]], float)
    geom = f"gripper0_right_{finger}_pad_collision"
    pads.append(dermis.mujoco.attach(model, data, sensor, geom=geom, pose=pose, objects="cube_main", mode="couple"))

table = observation["cube_pos"][2]
for phase, steps in (("above", 25), ("down", 25), ("grip", 15), ("lift", 35)):
    for _ in range(steps):
        to_cube = observation["cube_pos"] - observation["robot0_eef_pos"]
        # Grips the upper end, so that the uppermost rows stay unloaded.
        rise = {"above": to_cube[2] + 0.08, "down": to_cube[2] + 0.015, "grip": 0.0, "lift": 0.05}[phase]
        closing = 1.0 if phase in ("grip", "lift") else -1.0
        move = np.array([*(to_cube[:2] if closing < 0 else (0, 0)), rise])
        observation, *_ = env.step(np.concatenate([np.clip(move * 10, -1, 1), np.zeros(3), [closing]]))

readings = [pad.read() for pad in pads]
print(f"cube {observation['cube_pos'][2] - table:.3f} m up, pressed by", *(f"{reading.sum:.2f} N" for reading in readings))
camera, shown = mujoco.MjvCamera(), mujoco.MjvOption()
camera.lookat, camera.distance, camera.azimuth, camera.elevation = observation["cube_pos"], 0.25, 180, -8
shown.geomgroup[0] = 0  # without robosuite's collision geoms
figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), width_ratios=[1.5, 1, 1], layout="constrained")
with mujoco.Renderer(model, 400, 480) as renderer:
    renderer.update_scene(data, camera, shown)
    axes[0].imshow(renderer.render())
    axes[0].axis("off")
for name, axis, reading in zip(("finger 1", "finger 2"), axes[1:], readings):
    drawn = axis.imshow(reading.taxels, cmap="inferno", vmin=0)
    axis.set_title(f"{name}: {reading.sum:.1f} N, {-reading.force[1]:.2f} N vertical", fontsize=10)
    figure.colorbar(drawn, ax=axis, label="N", shrink=0.8)
figure.savefig(pathlib.Path(os.environ.get("DERMIS_OUT", ".")) / "panda.png")
weight = model.body("cube_main").mass[0] * 9.81
assert observation["cube_pos"][2] > table + 0.05 and all(10 < reading.active < 60 for reading in readings)
assert abs(sum(pad.pose[2, :3] @ reading.force for pad, reading in zip(pads, readings)) + weight) < 0.1 * weight
