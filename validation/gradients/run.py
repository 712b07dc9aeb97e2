#!/usr/bin/env python3
"""Gradients against central differences, and those of PyTorch and JAX: writes a dated log."""

import argparse
import datetime
import json
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAYER = """
name = "camera"
[surface.grid]
rows = 6
cols = 6
pitch = "2 mm"
[skin]
kind = "layer"
thickness = "3 mm"
young = "140 kPa"
poisson = 0.42
cell = "0.4 mm"
[camera]
width = 60
height = 50
pixel = "0.2 mm"
[markers]
pattern = { grid = { rows = 3, cols = 3, pitch = "2 mm" } }
radius = "0.3 mm"
"""
PAD = """
name = "pad"
[surface.grid]
rows = 6
cols = 6
pitch = "2 mm"
[skin]
kind = "hydroelastic"
hydroelastic_modulus = "60 kPa"
thickness = "4 mm"
"""


def cases():
    """Sensor, object, poses and parameters."""
    import dermis

    tilted = [[0.3e-3, -0.4e-3, 3.4e-3, 0.9, 0.1, -0.2, 0.3], [0.1e-3, 0.2e-3, 3.3e-3, 0.7, 0.2, 0.1, -0.1]]
    ellipsoid = dermis.Object.ellipsoid(semi_axes=[5e-3, 4.5e-3, 4e-3])
    sizes = {"semi_axes": [5e-3, 4.5e-3, 4e-3]}
    springs = dermis.Sensor.preset("uji-foam-14x6")
    yield "springs", springs, ellipsoid, tilted, {**sizes, "stiffness": 400.0}, False
    yield "hydroelastic", dermis.Sensor.parse(PAD), ellipsoid, tilted, {**sizes, "hydroelastic_modulus": 5e4}, False
    layer = {**sizes, "young": 1.3e5, "poisson": 0.4, "thickness": 3.1e-3}
    yield "layer", dermis.Sensor.parse(LAYER), ellipsoid, tilted, layer, True
    gel = {**sizes, "young": 1.3e5, "poisson": 0.4}
    yield "gel", dermis.Sensor.parse(LAYER.replace('"layer"', '"gel"').replace("0.4 mm", "0.8 mm")), ellipsoid, tilted, gel, True
    yield "layer with friction", dermis.Sensor.parse(LAYER), ellipsoid, tilted, {**layer, "mu": 0.4}, True


def compare():
    """Largest relative difference of PyTorch and JAX from Sensor.vjp, for each case."""
    import jax
    import torch

    import dermis.jax
    import dermis.torch
    from dermis._presses import Presses

    jax.config.update("jax_enable_x64", True)
    rows = []
    for name, sensor, obj, poses, params, image in cases():
        poses = np.array(poses)
        values = {key: np.array(value) for key, value in params.items()}
        presses = Presses(sensor, obj, values)
        outputs = presses.read(poses, image=image)
        random = np.random.default_rng(5)
        weights = [random.normal(size=part.shape) for part in outputs]
        truth = presses.pull_back(poses, *weights)

        pose = torch.tensor(poses, requires_grad=True)
        tensors = {key: torch.tensor(value, requires_grad=True) for key, value in values.items()}
        pressed = dermis.torch.press(sensor, obj, pose, tensors, image=image)
        sum((part * torch.tensor(by)).sum() for part, by in zip(pressed, weights, strict=True)).backward()
        by_torch = pose.grad.numpy(), {key: value.grad.numpy() for key, value in tensors.items()}

        def scalar(pose, values, sensor=sensor, obj=obj, image=image, weights=weights):
            pressed = dermis.jax.press(sensor, obj, pose, values, image=image)
            return sum((part * by).sum() for part, by in zip(pressed, weights, strict=True))

        by_jax = jax.jit(jax.grad(scalar, argnums=(0, 1)))(poses, values)
        for library, (by_pose, by_values) in (("torch", by_torch), ("jax", by_jax)):
            pairs = [(by_pose, truth[0]), *((by_values[key], truth[1][key]) for key in values)]
            worst = max(float(np.abs(np.asarray(got) - want).max() / np.abs(want).max()) for got, want in pairs)
            rows.append({"library": library, "case": name, "worst_rel": worst})
    return rows


def learns():
    """A pose from taxels by PyTorch, as in docs/gradients.md: its error (m)."""
    import torch

    import dermis
    from dermis.torch import press

    sensor, ball = dermis.Sensor.preset("uji-foam-14x6"), dermis.Object.sphere(radius=10e-3)
    measured = torch.as_tensor(sensor.press(ball, depth=2e-3, at=[3e-3, -5e-3]).taxels)
    pose = torch.tensor([[2e-3, -4e-3, 8.5e-3]], dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([pose], lr=1e-3, max_iter=100, line_search_fn="strong_wolfe")

    def loss():
        optimiser.zero_grad()
        off = 1e6 * (press(sensor, ball, pose).taxels[0] - measured).square().sum()
        off.backward()
        return off

    optimiser.step(loss)
    return float(np.abs(pose.detach().numpy() - [[3e-3, -5e-3, 8e-3]]).max())


def fits(found):
    """One line on the fits of materials."""
    worst = [1e2 * max(abs(fit[key]) for fit in found["fits"]) for key in ("young_rel", "mu_rel")]
    covered = sum(fit["covered"] for fit in found["fits"]) / len(found["fits"])
    return (
        f"Material from simulated forces with 1 % + 2 mN of noise, {len(found['fits'])} fits: Young's modulus within 2 % in {found['young_share']:.0%}"
        f" (worst {worst[0]:.1f} %), friction within 5 % in {found['mu_share']:.0%} (worst {worst[1]:.1f} %); both 95 % intervals cover {covered:.0%}."
    )


def poses(found):
    """A table of the poses of the indenters."""
    count = sum(len(row["fits"]) for row in found["indenters"])
    lines = [f"Poses of the 21 indenters from simulated images: {found['pose_share']:.1%} of {count} within 0.1 mm and 1 degree.", ""]
    lines += ["| indenter | freedoms that no image shows | poses | within the bars | worst mm | worst degrees |", "|---|---|---|---|---|---|"]
    for row in found["indenters"]:
        worst = [max(fit[key] for fit in row["fits"]) for key in ("position_mm", "orientation_deg")]
        lines.append(f"| {row['indenter']} | {row['hidden']} | {len(row['fits'])} | {row['share']:.0%} | {worst[0]:.3f} | {worst[1]:.2f} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dermis", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--log", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    parser.add_argument("--presses", type=int, default=40)
    parser.add_argument("--installed", action="store_true", help="use the dermis that is installed, and build no wheel")
    options = parser.parse_args()
    if not options.installed:
        subprocess.run(["cargo", "xtask", "wheel"], cwd=ROOT, check=True)
        wheel = next((ROOT / "dist").glob("dermis-*.whl"))
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", str(wheel)], check=True)
    command = [options.dermis, "validate", "gradients", "--presses", str(options.presses), "--json"]
    # Both exit with an error if a bar is missed; the log has their reports all the same.
    report = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    found = json.loads(subprocess.run([options.dermis, "validate", "inverse", "--json"], capture_output=True, text=True).stdout)
    rows, off_m = compare(), learns()
    day = datetime.date.today().isoformat()
    lines = [f"# Gradients, {day}", "", f"{options.presses} random presses of each sensor and object.", ""]
    lines += ["| press | by | compared | excluded | largest relative error |", "|---|---|---|---|---|"]
    lines += [
        f"| {row['case']} | {row['parameter']} | {row['presses']} | {row['excluded']} | {row['worst_rel']:.1e} |" for row in report["errors"]
    ]
    total = sum(row["presses"] + row["excluded"] for row in report["errors"])
    excluded = sum(row["excluded"] for row in report["errors"])
    lines += ["", f"Excluded because the contact changes between the differences, or the extrapolations differ: {100 * excluded / total:.1f} %.", ""]
    kinked = sorted({(row["case"], row["kinked"]) for row in report["errors"] if row["kinked"] > 0.0})
    lines += ["Pixels left out because other points cast their shadow within the differences, or because of another kink: " + ", ".join(f"{100 * share:.2f} % ({case})" for case, share in kinked) + ".", ""]
    lines += ["| cost | press µs | gradient µs | ratio | allowed |", "|---|---|---|---|---|"]
    lines += [
        f"| {row['case']} | {row['press_us']:.1f} | {row['vjp_us']:.1f} | {row['ratio']:.2f} | {row['max_ratio']} |" for row in report["costs"]
    ]
    lines += ["", "| library | press | largest relative difference from `Sensor.vjp` |", "|---|---|---|"]
    lines += [f"| {row['library']} | {row['case']} | {row['worst_rel']:.1e} |" for row in rows]
    lines += ["", f"Pose of a ball from taxels by L-BFGS in PyTorch: off by {1e6 * off_m:.2f} µm.", ""]
    lines += [fits(found), ""]
    lines += poses(found) + [""]
    (options.log / f"log-{day}.md").write_text("\n".join(lines))
    bad = [row for row in report["errors"] if not row["worst_rel"] <= row["tolerance"] or row["presses"] < row["excluded"]]
    bad += [row for row in report["costs"] if not row["ratio"] <= row["max_ratio"]]
    bad += [row for row in rows if not row["worst_rel"] <= 1e-12]
    bad += [] if min(found["young_share"], found["mu_share"]) >= 0.95 else ["fits of the material"]
    bad += [] if found["pose_share"] >= 0.95 else ["poses of the indenters"]
    sys.exit(f"beyond the tolerances: {bad}" if bad or off_m > 2e-5 else 0)


if __name__ == "__main__":
    main()
