"""Flux densities of magnets against magpylib: writes golden values, compares, and writes a dated log."""

import argparse
import datetime
import importlib.metadata
import json
import pathlib
import subprocess
import sys

import magpylib
import numpy as np

BAR = 1e-9
DIRECTIONS = {"axial": (0, 0, 1), "diametral": (1, 0, 0), "oblique": (0.48, -0.6, 0.64)}
SHAPES = {
    "dipole": {"moment_am2": 0.26},
    "flat cylinder": {"diameter_m": 9.525e-3, "height_m": 3.175e-3},
    "long cylinder": {"diameter_m": 2e-3, "height_m": 7e-3},
    "cube": {"size_m": [3e-3, 3e-3, 3e-3]},
    "plate": {"size_m": [8e-3, 5e-3, 1e-3]},
}
REMANENCE_T = 1.45


def places(shape, count, random):
    """Random places outside a magnet, by 2 % of its size at least, within four of its diameters."""
    half = np.array(
        shape.get("size_m") or [shape.get("diameter_m", 2e-3)] * 2 + [shape.get("height_m", 2e-3)]
    ) / 2
    reach = 8 * half.max()
    found = []
    while len(found) < count:
        at = random.uniform(-reach, reach, 3)
        across = np.hypot(*at[:2]) / half[0] if "size_m" not in shape else np.abs(at[:2] / half[:2]).max()
        if max(across, abs(at[2]) / half[2]) > 1.02:
            found.append(at)
    return np.array(found)


def source(shape, direction):
    """The magnet in magpylib."""
    direction = np.array(direction)
    if "moment_am2" in shape:
        return magpylib.misc.Dipole(moment=direction * shape["moment_am2"])
    polarization = direction * REMANENCE_T
    if "size_m" in shape:
        return magpylib.magnet.Cuboid(dimension=shape["size_m"], polarization=polarization)
    return magpylib.magnet.Cylinder(dimension=(shape["diameter_m"], shape["height_m"]), polarization=polarization)


def golden(count):
    random = np.random.default_rng(25)
    cases = []
    for name, shape in SHAPES.items():
        for way, direction in DIRECTIONS.items():
            at = places(shape, count, random)
            field = source(shape, direction).getB(at)
            remanence = {} if "moment_am2" in shape else {"remanence_t": REMANENCE_T}
            cases.append(
                {"name": f"{name}, {way}", **shape, **remanence, "direction": list(direction)}
                | {"at_m": at.tolist(), "field_t": field.tolist()}
            )
    return {"source": f"magpylib {importlib.metadata.version('magpylib')}", "cases": cases}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dermis", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--log", type=pathlib.Path)
    parser.add_argument("--golden", type=pathlib.Path)
    parser.add_argument("--places", type=int, default=1000)
    arguments = parser.parse_args()
    file = arguments.golden or arguments.work / "fields.json"
    file.write_text(json.dumps(golden(arguments.places)) + "\n")
    if arguments.golden:
        return
    found = subprocess.run(
        [arguments.dermis, "validate", "magnetic", file, "--json"], check=True, capture_output=True, text=True
    )
    cases = json.loads(found.stdout)["cases"]
    worst = max(case["worst_rel"] for case in cases)
    lines = [
        f"# Fields of magnets, {datetime.date.today()}",
        "",
        f"Against magpylib {importlib.metadata.version('magpylib')}, {arguments.places} places each. Worst relative error {worst:.1e} (bar {BAR:.0e}).",
        "",
        "| magnet | places | worst relative error | ns a place |",
        "|---|---|---|---|",
    ]
    lines += [f"| {c['name']} | {c['places']} | {c['worst_rel']:.1e} | {c['ns_per_place']:.0f} |" for c in cases]
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.log:
        (arguments.log / f"log-{datetime.date.today()}.md").write_text(text)
    if not worst <= BAR:
        sys.exit(f"a field is off by {worst:.1e}")


if __name__ == "__main__":
    main()
