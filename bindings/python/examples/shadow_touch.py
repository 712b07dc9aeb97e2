"""The Shadow hand of gymnasium-robotics closes on an egg, with a fingertip sensor of 12 taxels on each finger.

Needs gymnasium-robotics, MuJoCo 3.3.7, matplotlib, and MUJOCO_GL=egl or osmesa without a display.
"""

import os
import pathlib

import gymnasium
import gymnasium_robotics
import matplotlib.pyplot as plt
import mujoco
import numpy as np

import dermis.gym

gymnasium.register_envs(gymnasium_robotics)
FINGERS = {"ff": "first", "mf": "middle", "rf": "ring", "lf": "little", "th": "thumb"}
# Joint targets as fractions of the range, -1 to 1: fingers bent, thumb opposed.
POSTURE = {"J2": 0.48, "J1": 0.29, "FFJ3": -0.19, "LFJ3": -0.71, "THJ4": 0.56, "THJ3": 0.98, "THJ2": 0.92, "THJ1": 0.25, "WRJ1": -0.16}


def on_finger(finger: str) -> dict[str, object]:
    """The skin is 1.5 mm above the pad of a distal phalanx: along z, facing -y; the thumb faces -x and is larger."""
    pose = np.array([[1, 0, 0, 0], [0, 0, -1, -8.5e-3], [0, 1, 0, 18e-3], [0, 0, 0, 1]], float)
    if finger == "th":
        pose = np.array([[0, 0, -1, -10.7e-3], [-1, 0, 0, 0], [0, 1, 0, 21e-3], [0, 0, 0, 1]], float)
    return {"preset": "shadow-fingertip", "body": f"robot0:{finger}distal", "pose": pose, "objects": "object", "mode": "sense"}


env = dermis.gym.TactileObservation(gymnasium.make("HandManipulateEgg-v1"), {f: on_finger(f) for f in FINGERS})
env.reset(seed=1)
model, data = env.attachments["ff"].model, env.attachments["ff"].data
names = [str(model.actuator(i).name).removeprefix("robot0:A_") for i in range(model.nu)]
closing = np.array([POSTURE.get(name, POSTURE.get(name[2:], 0.0)) for name in names], np.float32)
for step in range(25):
    seen, *_ = env.step(closing)
touching = {f: float(seen["tactile"][f].sum()) for f in FINGERS}
print("N on the fingertips:", {FINGERS[f]: round(force, 2) for f, force in touching.items()})

sensor = dermis.Sensor.preset("shadow-fingertip")
camera = mujoco.MjvCamera()
camera.lookat, camera.distance, camera.azimuth, camera.elevation = data.body("object").xpos, 0.3, 180, -45
figure, axes = plt.subplots(1, 6, figsize=(14, 3.2), width_ratios=[2, 1, 1, 1, 1, 1], layout="constrained")
with mujoco.Renderer(model, 400, 480) as renderer:
    renderer.update_scene(data, camera)
    axes[0].imshow(renderer.render())
axes[0].axis("off")
for axis, f in zip(axes[1:], FINGERS):
    across, along, _ = sensor.centers.T * 1e3
    drawn = axis.scatter(across, along, c=seen["tactile"][f], s=160, cmap="inferno", vmin=0, vmax=0.3, edgecolors="0.6")
    axis.set(title=f"{FINGERS[f]}: {touching[f]:.2f} N", aspect="equal", xlabel="mm", xlim=(-12, 12), ylim=(-8, 17))
figure.colorbar(drawn, ax=axes[-1], label="N")
figure.savefig(pathlib.Path(os.environ.get("DERMIS_OUT", ".")) / "shadow.png")
assert sum(force > 0.02 for force in touching.values()) >= 4 and all(force >= 0 for force in touching.values())
