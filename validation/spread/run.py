"""How closely springs with a point spread approach an elastic layer: an independent model in NumPy and SciPy.

The layer's contact is solved by Polonsky and Keer's method at a given load, its base stress by the transfer function of a
bonded layer (a matrix exponential, not the library's closed form). Springs press by their depth alone. Both are shared
out among the tactels of a WTS 0614 and compared by the number that `dermis reproduce kappassov-indenters` uses.

    python -m venv venv && venv/bin/pip install numpy scipy
    venv/bin/python run.py [thickness_mm] [poisson]
"""

import sys

import numpy as np
from numpy.fft import fftfreq, irfft2, rfft2, rfftfreq
from scipy.linalg import expm

YOUNG_PA = 1.65e6
PITCH_M, PER_TACTEL, ROWS, COLS = 3.4e-3, 8, 14, 6
CELL_M = PITCH_M / PER_TACTEL
PERIOD = 512
LIT_N = 4.5e-3
CLEAR_M = 1e-2
LOADS_N = (0.981, 4.905)
ANGLES_DEG = (0, 45, 90)
SHAPES = ("hexagon", "triangle", "square", "bar", "cross", "ring", "cylinder", "ball")

thickness_m = float(sys.argv[1] if len(sys.argv) > 1 else 3.0) * 1e-3
poisson = float(sys.argv[2] if len(sys.argv) > 2 else 0.2)

x = (np.arange(ROWS * PER_TACTEL) + 0.5) * CELL_M - ROWS * PITCH_M / 2
y = (np.arange(COLS * PER_TACTEL) + 0.5) * CELL_M - COLS * PITCH_M / 2
wave = np.hypot(2 * np.pi * fftfreq(PERIOD, CELL_M)[:, None], 2 * np.pi * rfftfreq(PERIOD, CELL_M)[None, :])
wave[0, 0] = 1e-9
xi = np.minimum(wave * thickness_m, 40.0)


def sinking():
    """Compliance (m/Pa) of each wave."""
    kappa = 3 - 4 * poisson
    bonded = (2 * kappa * np.sinh(2 * xi) - 4 * xi) / (2 * kappa * np.cosh(2 * xi) + 4 * xi**2 + 1 + kappa**2)
    return 2 * (1 - poisson**2) / (YOUNG_PA * wave) * bonded


def base():
    """Ratio of base stress to surface pressure in plane strain, by a matrix exponential from base to surface."""
    first = 2 * poisson / (1 - 2 * poisson)
    both = first + 2
    rates = np.array(
        [[0, -1, 1, 0], [first / both, 0, 0, 1 / both], [both - first**2 / both, 0, 0, -first / both], [0, 0, 1, 0]]
    )
    steps = np.linspace(0, 25, 2501)
    values = [1.0] + [np.linalg.solve(expm(rates * s)[2:, 2:], [0, 1])[1] for s in steps[1:]]
    return np.interp(xi, steps, values, right=0.0)


SINK, BASE = sinking(), base()


def product(field, spectrum):
    padded = np.zeros((PERIOD, PERIOD))
    padded[: field.shape[0], : field.shape[1]] = field
    return irfft2(rfft2(padded) * spectrum, (PERIOD, PERIOD))[: field.shape[0], : field.shape[1]]


def heights(shape, angle_deg):
    """Underside of an indenter (m), its lowest point at zero."""
    a = np.deg2rad(angle_deg)
    dx, dy = (x - 0.6e-3)[:, None], (y - 0.9e-3)[None, :]
    u, v = np.cos(a) * dx + np.sin(a) * dy, -np.sin(a) * dx + np.cos(a) * dy

    def prism(sides, radius):
        turns = 2 * np.pi * (np.arange(sides) + 0.5) / sides
        out = np.max([u * np.cos(t) + v * np.sin(t) for t in turns], axis=0) - radius * np.cos(np.pi / sides)
        return np.where(out <= 0, 0.0, CLEAR_M)

    def box(width, length):
        return np.where((abs(u) <= width / 2) & (abs(v) <= length / 2), 0.0, CLEAR_M)

    def arc(distance, radius, where):
        return np.where(where, radius - np.sqrt(np.maximum(radius**2 - distance**2, 0)), CLEAR_M)

    if shape == "hexagon":
        return prism(6, 4.5e-3)
    if shape == "triangle":
        return prism(3, 5e-3)
    if shape == "square":
        return box(7e-3, 7e-3)
    if shape == "bar":
        return box(12e-3, 3e-3)
    if shape == "cross":
        return np.minimum(box(11e-3, 2.5e-3), box(2.5e-3, 11e-3))
    if shape == "ring":
        return arc(np.hypot(u, v) - 5e-3, 1.5e-3, abs(np.hypot(u, v) - 5e-3) < 1.5e-3)
    if shape == "cylinder":
        return arc(v, 4e-3, (abs(v) < 4e-3) & (abs(u) < 5e-3))
    return arc(np.hypot(u, v), 12e-3, np.hypot(u, v) < 12e-3)


def layer(height, load):
    """Force of every cell (N) under an indenter on the layer."""
    area = CELL_M**2
    p = np.where(height < 1e-3, 1.0, 0.0)
    p *= load / (p.sum() * area)
    direction, keep, before = np.zeros_like(p), 0.0, 1.0
    for _ in range(400):
        gap = height + product(p, SINK)
        pressed = p > 0
        gap -= gap[pressed].mean()
        square = (gap[pressed] ** 2).sum()
        direction = np.where(pressed, gap + keep * (square / before) * direction, 0)
        before = square
        answer = product(direction, SINK)
        answer -= answer[pressed].mean()
        step = (gap[pressed] * direction[pressed]).sum() / (answer[pressed] * direction[pressed]).sum()
        last = p
        p = np.maximum(p - step * direction, 0)
        overlaps = (p == 0) & (gap < 0)
        keep = 0.0 if overlaps.any() else 1.0
        p[overlaps] -= step * gap[overlaps]
        p *= load / (p.sum() * area)
        if abs(p - last).sum() * area < 1e-6 * load:
            break
    return p * area


def springs(height, load):
    """Force of every cell (N) on springs that are as stiff as the layer under a wide plate."""
    plate = YOUNG_PA * (1 - poisson) / ((1 + poisson) * (1 - 2 * poisson))
    stiffness = plate * CELL_M**2 / thickness_m
    low, high = 0.0, 5e-3
    for _ in range(80):
        depth = (low + high) / 2
        force = stiffness * np.maximum(depth - height, 0)
        low, high = (depth, high) if force.sum() < load else (low, depth)
    return force


def tactels(cells):
    return cells.reshape(ROWS, PER_TACTEL, COLS, PER_TACTEL).sum(axis=(1, 3))


def spread_after(cells, sigma):
    """Applies a Gaussian (σ in tactels) over 5 × 5 tactels after binning the load."""
    i = np.arange(-2, 3)
    weights = np.exp(-(i[:, None] ** 2 + i[None, :] ** 2) / (2 * sigma**2))
    weights /= weights.sum()
    padded = np.pad(tactels(cells), 2)
    return sum(weights[a, b] * padded[a : a + ROWS, b : b + COLS] for a in range(5) for b in range(5))


def spread_before(cells, sigma):
    """Applies the same Gaussian over the cells before binning the load."""
    return tactels(product(cells, np.exp(-((wave * sigma * PITCH_M) ** 2) / 2)))


def difference(truth, image):
    lit = (truth > LIT_N) | (image > LIT_N)
    return abs(truth - image)[lit].sum() / truth[lit].sum()


def main():
    cases = [(shape, angle, load) for shape in SHAPES for angle in ANGLES_DEG for load in LOADS_N]
    undersides = [heights(shape, angle) for shape, angle, _ in cases]
    by_layer = [layer(height, load) for height, (_, _, load) in zip(undersides, cases)]
    by_springs = [springs(height, load) for height, (_, _, load) in zip(undersides, cases)]
    truth = [tactels(product(p, BASE)) for p in by_layer]
    print(f"layer of {thickness_m * 1e3:g} mm, Poisson's ratio {poisson:g}; median over {len(cases)} images, then by shape")
    print(f"{'':52}{'all':>7}" + "".join(f"{shape:>10}" for shape in SHAPES))

    def score(images):
        return [difference(a, b) for a, b in zip(truth, images)]

    def show(name, scores):
        each = len(ANGLES_DEG) * len(LOADS_N)
        shapes = "".join(f"{np.median(scores[i * each : (i + 1) * each]):10.3f}" for i in range(len(SHAPES)))
        print(f"{name:52}{np.median(scores):7.3f}{shapes}")

    def best(name, spread, cells):
        fits = [(np.median(score([spread(c, s) for c in cells])), s) for s in np.arange(0.2, 0.8, 0.02)]
        sigma = min(fits)[1]
        show(f"{name}, sigma {sigma:.2f}", score([spread(c, sigma) for c in cells]))

    show("springs, no spread", score([tactels(f) for f in by_springs]))
    best("springs, spread after sharing", spread_after, by_springs)
    best("springs, spread before sharing", spread_before, by_springs)
    show("springs, the layer's own spread", score([tactels(product(f, BASE)) for f in by_springs]))
    best("layer's pressure, spread after sharing", spread_after, by_layer)
    best("layer's pressure, spread before sharing", spread_before, by_layer)


main()
