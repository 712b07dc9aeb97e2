"""The page, the program and the Python package give the same numbers."""

import functools
import itertools
import json
import os
import random
import subprocess
from concurrent.futures import ThreadPoolExecutor

import dermis
import numpy as np
from conftest import PROGRAM

# Presets with their own skin; the gels are left out, because one press takes seconds.
PRESETS = {
    "wts0614": "springs", "wts0614-layer": "layer", "weiss-dsa": "springs", "capacitive-8x8": "springs", "digitacts-6x4": "springs", "uji-foam-14x6": "springs",
    "fingertip": "springs", "thumbtip": "springs", "shadow-fingertip": "hydroelastic", "spherical-patch": "springs",
    "gelsight": "layer", "gelsight-dots": "layer", "gelsight-mini": "layer", "finger-gel": "imprint",
    "reskin": "layer", "uskin-4x4": "layer", "eflesh": "springs",
}  # fmt: skip

# The shapes as on the command line, and in Python where it has them.
SHAPES = {
    "sphere:radius=5mm": lambda: dermis.Object.sphere(radius=5e-3),
    "sphere:radius=15mm": lambda: dermis.Object.sphere(radius=15e-3),
    "cuboid:size=8mm,8mm,8mm": lambda: dermis.Object.box(size=[8e-3, 8e-3, 8e-3]),
    "cylinder:radius=4mm,length=12mm": lambda: dermis.Object.cylinder(radius=4e-3, length=12e-3),
    "capsule:radius=3mm,length=12mm": lambda: dermis.Object.capsule(radius=3e-3, length=12e-3),
    "cone:radius=5mm,height=8mm": None,
    "torus:major=5mm,minor=1.5mm": None,
    "prism:sides=6,radius=5mm,length=10mm": None,
    "indenter:moon": lambda: dermis.Object.indenter("moon"),
}

ENGINE = """async () => {
    const { loadEngine } = await import("/engine.js");
    window.ask = await loadEngine("/dermis.wasm.gz");
}"""


# Every shape with every other preset (test_presses.py has all presets); `DERMIS_PRESSES=100` before the command of the tests asks for more.
PRESSES = int(os.environ.get("DERMIS_PRESSES", len(SHAPES)))


def presses(max_depth_mm):
    """Presses with every preset in turn and every shape in turn, at random places."""
    chance = random.Random(18)
    for i in range(PRESSES):
        preset = list(PRESETS)[2 * i % len(PRESETS)]
        yield {
            "preset": preset,
            "object": list(SHAPES)[i % len(SHAPES)],
            "at_mm": [round(chance.uniform(-1.5, 1.5), 2) for _ in range(2)],
            "tilt_deg": [round(chance.uniform(-3, 3), 1) for _ in range(2)],
            "yaw_deg": round(chance.uniform(-90, 90), 1),
            "depth_mm": round(chance.uniform(0.15, 0.5) * max_depth_mm(preset), 3),
        }


def by_page(page, press):
    """Force (N) on the sensor and sum of the taxels (N), from the engine of the page."""
    ask = lambda **request: page.evaluate("request => { const { arrays, ...answer } = window.ask(request); return answer }", request)
    ask(do="object", name=press["object"], unit=None)
    keys = ["at_mm", "tilt_deg", "yaw_deg", "depth_mm"]
    answer = ask(do="press", slot=0, shear_mm=[0, 0], **{key: press[key] for key in keys})
    assert "error" not in answer, (press, answer)
    return [*answer["force_n"], answer["sum_n"]]


def by_program(press):
    x, y = press["at_mm"]
    a, b = press["tilt_deg"]
    command = [PROGRAM, "press", "--json", "--sensor", press["preset"], "--object", press["object"]]
    command += ["--depth", f"{press['depth_mm']}mm", "--at", f"{x}mm,{y}mm", "--tilt", f"{a}deg,{b}deg", "--yaw", f"{press['yaw_deg']}deg"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, (command, run.stderr)
    said = json.loads(run.stdout)
    return [*said["on_sensor_n"], said["sum_n"]]


sensor = functools.cache(dermis.Sensor.preset)


def by_package(press):
    shape = SHAPES[press["object"]]
    if shape is None:
        return None
    reading = sensor(press["preset"]).press(
        shape(),
        depth=press["depth_mm"] * 1e-3,
        at=[part * 1e-3 for part in press["at_mm"]],
        tilt=np.radians(press["tilt_deg"]),
        yaw=np.radians(press["yaw_deg"]),
    )
    return [*reading.force, reading.sum]


# Largest difference from the program, relative to the sum of the taxels or to 1 mN where that is less. Package and program are the same machine
# code. WebAssembly has other elementary functions, which move the vertices of curved sensors by a rounding error, and other Fourier transforms: a
# layer is solved to 1e-7, with friction in up to eight increments of 3e-7 each, and a hydroelastic contact cuts its polygons where two fields are equal. tests/engine.rs compares the engine of the page, compiled as the program is, to 1e-12.
MAX_OFF = {"package": 1e-12, "page": 1e-10, "page, hydroelastic": 1e-8, "page, layer": 2e-6}


def test_page_program_and_package_agree_on_presses(page):
    page.evaluate(ENGINE)
    build = lambda preset: page.evaluate(
        "request => window.ask(request).max_depth_mm",
        {"do": "sensor", "slot": 0, "preset": preset, "skin": PRESETS[preset], "width_px": 160},
    )
    # By preset, so that the page builds each sensor twice only.
    table = sorted(presses(functools.cache(build)), key=lambda press: press["preset"])
    worst = dict.fromkeys(MAX_OFF, (0, ""))
    with ThreadPoolExecutor(1) as beside:
        programs = iter([beside.submit(by_program, press) for press in table])
        for preset, same in itertools.groupby(table, key=lambda press: press["preset"]):
            build(preset)
            kind = f"page, {PRESETS[preset]}"
            kind = kind if kind in MAX_OFF else "page"
            for press in same:
                page_numbers, package_numbers = by_page(page, press), by_package(press)
                program = next(programs).result()
                scale = max(abs(program[3]), 1e-3)
                for name, numbers in ((kind, page_numbers), ("package", package_numbers)):
                    if numbers is not None:
                        off = max(abs(a - b) for a, b in zip(numbers, program)) / scale
                        worst[name] = max(worst[name], (off, str(press)))
    print(worst)
    assert all(off < MAX_OFF[name] for name, (off, _) in worst.items()), worst
