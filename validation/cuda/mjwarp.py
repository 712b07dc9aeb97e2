"""Throughput of a ball on a tactile plate in MuJoCo Warp: no sensor, its own `tactile` sensor, and dermis springs, coupled; these also with
all stages of a response, after the skin or beside the rest of the step, and with all parameters drawn for each world.

    python3 mjwarp.py [--worlds 4096 16384] [--taxels 10 40] [--precision double single] [--kinds none dermis response]

10 and 40 are 10 x 10 and 40 x 40 taxels. All steps are in one captured CUDA graph. Medians of 9 runs of 200 steps of 2 ms, those of all kinds in turn; the weight of the
ball is read at the end.
"""

import argparse
import statistics
import time

import mujoco
import mujoco_warp as mjw
import numpy as np
import warp as wp

import dermis
import dermis.mjwarp

WARM_UP, RUNS, STEPS = 5_000, 9, 200
RADIUS, MASS, SIDE, GRAVITY = 10e-3, 0.05, 40e-3, 9.81
SKIN = """
name = "plate"
contact_points = 1
[surface.grid]
rows = {n}
cols = {n}
pitch = "{pitch} mm"
[skin]
kind = "springs"
stiffness = "{stiffness} N/m"
damping = "{damping} N s/m"
max_penetration = "6 mm"
[skin.friction]
kind = "lugre"
sigma0 = "{bristles} N/m"
sigma1 = "{sliding} N s/m"
viscous = "{sliding} N s/m"
mu_static = 0.6
mu_dynamic = 0.5
stribeck_speed = "0.01 m/s"
[response]
quantised = true
spread = { sigma_taxels = 0.6, kernel = 3 }
hysteresis = { fraction = 0.1 }
creep = [{ amplitude = 0.1, time = "1 s" }]
ageing = { loss_by_use = 0.1, presses = 1e4, pressed_above = "1 mN", loss_by_time = 0.1, time = "1000 s" }
gain = { gain_sd = 0.1, seed = 5 }
threshold = { force = "0.1 mN", kind = "dead-band" }
curve = { kind = "polynomial", coefficients = [1.0, -0.05], until = "2 N" }
saturation = { force = "5 N" }
crosstalk = { adjacent = 0.02 }
noise = { sd = "0.1 mN", seed = 1 }
faults = { dead = [3] }
sampling = { rate = "200 Hz" }
delay = { time = "4 ms" }
"""
RANDOM = {name: (0.9, 1.1) for name in ("stiffness", "friction", "gain", "threshold", "noise", "spread")}
RANDOM |= {"position": (-1e-4, 1e-4), "rotation": (-1e-3, 1e-3)}
KINDS = {
    "none": None,
    "tactile": None,
    "dermis": {},
    "dermis float64": {"dtype": "float64"},
    "response": {"response": True},
    "response beside": {"response": "beside"},
    "random": {"randomise": RANDOM},
    "both": {"response": "beside", "randomise": RANDOM},
}


def sensor(n):
    each = 1e4 * (SIDE * 1e3 / n) ** 2 * 1e-2  # 1e8 N/m^3
    words = {"n": n, "pitch": SIDE * 1e3 / n, "stiffness": each, "damping": each * 5e-3, "bristles": each, "sliding": each * 1e-3}
    text = SKIN
    for word, value in words.items():
        text = text.replace(f"{{{word}}}", str(value))
    return dermis.Sensor.parse(text)


def scene(tactile):
    asset = sense = ""
    if tactile:
        asset = f'<asset><mesh name="pad" builtin="plate" params="{tactile} {tactile}" scale="{SIDE / 2} {SIDE / 2} 1"/></asset>'
        sense = '<sensor><tactile name="touch" geom="plate" mesh="pad"/></sensor>'
    return f"""<mujoco><option timestep="0.002" gravity="0 0 -{GRAVITY}"/>{asset}
      <worldbody><geom name="plate" type="box" size="{SIDE / 2} {SIDE / 2} 0.005" pos="0 0 -0.005"/><site name="skin" pos="0 0 0"/>
      <body name="ball" pos="0.001 0.002 {RADIUS - 1e-4}"><freejoint/><geom name="ball" type="sphere" size="{RADIUS}" mass="{MASS}"/></body>
      </worldbody>{sense}</mujoco>"""


class Loop:
    """One captured step of all worlds, with one sensor or none."""

    def __init__(self, worlds, taxels, kind, precision):
        self.worlds, self.taxels, self.kind, self.name, self.times = worlds, taxels, kind, label(kind, precision), []
        model = mujoco.MjModel.from_xml_string(scene(taxels if kind == "tactile" else 0))
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        self.m, self.d = m, d = mjw.put_model(model), mjw.put_data(model, data, nworld=worlds, nconmax=16, njmax=32)
        self.touch = None
        if KINDS[kind] is not None:
            self.touch = dermis.mjwarp.attach(m, d, sensor(taxels), model=model, site="skin", object="ball", precision=precision, **KINDS[kind])
        mjw.step(m, d)
        wp.synchronize()
        with wp.ScopedCapture() as capture:
            mjw.step(m, d)
        self.graph = capture.graph
        self.step(WARM_UP)

    def step(self, count):
        """Seconds per step."""
        start = time.perf_counter()
        for _ in range(count):
            wp.capture_launch(self.graph)
        wp.synchronize()
        return (time.perf_counter() - start) / count

    def line(self):
        seconds, note = statistics.median(self.times), ""
        if self.touch is not None:
            self.touch.check()
            weight = self.touch.taxels.numpy().sum(axis=1)
            note = f"weight read to {np.abs(weight / (MASS * GRAVITY) - 1).max():.1e}"
        elif self.kind == "tactile":
            note = f"{self.d.sensordata.shape[1]} numbers"
        return (f"{self.worlds:6} worlds, {self.taxels ** 2:5} taxels, {self.name:21}: {self.worlds / seconds / 1e6:6.2f} M env-steps/s, "
                f"{seconds * 1e6:6.1f} us a step; {note}")


def measure(worlds, taxels, kinds, precisions):
    loops = []
    for kind in kinds:
        for precision in precisions if KINDS[kind] is not None else ["double"]:
            try:
                loops.append(Loop(worlds, taxels, kind, precision))
            except Exception as error:  # the other lines are still wanted
                print(f"{worlds:6} worlds, {taxels * taxels:5} taxels, {label(kind, precision):21}: {type(error).__name__}: {error}", flush=True)
    # In turn, so that a change of the clock is one of all.
    for _ in range(RUNS):
        for loop in loops:
            loop.times.append(loop.step(STEPS))
    for loop in loops:
        print(loop.line(), flush=True)


def label(kind, precision):
    return f"{kind} {precision}" if KINDS[kind] is not None else kind


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, nargs="*", default=[4096, 16384])
    parser.add_argument("--taxels", type=int, nargs="*", default=[10, 40])
    parser.add_argument("--precision", nargs="*", choices=["double", "single"], default=["double"], help="of the springs")
    parser.add_argument("--kinds", nargs="*", choices=list(KINDS), default=list(KINDS))
    arguments = parser.parse_args()
    wp.config.quiet = True
    for worlds in arguments.worlds:
        for taxels in arguments.taxels:
            measure(worlds, taxels, arguments.kinds, arguments.precision)


if __name__ == "__main__":
    main()
