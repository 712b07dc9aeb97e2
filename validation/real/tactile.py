"""Scores MuJoCo's own sensor `tactile` on the records of the Weiss array, for `dermis validate real --peers`.

    pip install mujoco==4.0.0 numpy
    dermis validate real DATA --json > rows.json
    python validation/real/tactile.py DATA/weiss-dsa rows.json > peers.json
    dermis validate real DATA --peers peers.json --out report

`tactile` reads the depth of every vertex of a mesh in another body, and no force. The stamp is placed at a depth that is proportional to
its weight (MuJoCo's default contact would give a depth that hardly depends on it); one gain, fitted to the records that the row fits,
makes counts of depths.
"""

import gzip
import json
import sys
from pathlib import Path

import mujoco
import numpy

ROWS, COLS, PITCH = 13, 6, 3.4e-3
STAMP = 10.5e-3
STIFFNESS = 1e5  # N/m; the gain absorbs it
BEGIN_S, END_S = 1.0, 12.0


def record(path):
    with gzip.open(path, "rt") as file:
        table = numpy.loadtxt(file, delimiter=",", skiprows=1)
    times = table[:, 0]
    keep = (times >= BEGIN_S) & (times <= END_S)
    return times[keep], table[keep, 1:]


def depths(newton, middle):
    """Depth of every taxel (m) in a stamp that rests on the array, and the places of the taxels."""
    half = [COLS / 2 * PITCH, ROWS / 2 * PITCH]
    # MuJoCo rotates the mesh to its principal axes, so that its normal is x: the plate is rotated back. The vertices are at its centre,
    # so that it is thin.
    model = mujoco.MjModel.from_xml_string(f"""
        <mujoco><asset><mesh name="pad" builtin="plate" params="{COLS} {ROWS}" scale="{half[0]} {half[1]} 1"/></asset>
        <worldbody><geom name="plate" type="box" size="1e-6 0.05 0.05" xyaxes="0 0 1 1 0 0"/>
        <body pos="{middle[0]} {middle[1]} 0.005"><joint name="down" type="slide" axis="0 0 1"/>
        <geom type="cylinder" size="{STAMP / 2} 0.005" mass="0.1"/></body></worldbody>
        <sensor><tactile name="touch" geom="plate" mesh="pad"/></sensor></mujoco>""")
    data = mujoco.MjData(model)
    data.qpos[0] = -newton / STIFFNESS
    mujoco.mj_forward(model, data)
    places = numpy.array(model.mesh_vert).reshape(-1, 3)[:, 1:]
    return numpy.array(data.sensordata).reshape(3, -1)[0], places


def main():
    folder, rows = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())["rows"]
    row = next(row for row in rows if row["name"] == "weiss-dsa/weiss-dsa")
    files = sorted(folder.glob("room-*g-*.csv.gz"))
    kept_out = set(row["kept_out"])
    grams = {path: float(path.name.split("-")[1].rstrip("g")) for path in files}
    fitted = [path for path in files if path.name not in kept_out]
    read = {path: record(path) for path in files}
    mean = numpy.mean([read[path][1].mean(0) for path in fitted], axis=0).reshape(ROWS, COLS)
    x = (numpy.arange(COLS) - (COLS - 1) / 2) * PITCH
    y = ((ROWS - 1) / 2 - numpy.arange(ROWS)) * PITCH
    middle = [(mean.sum(0) * x).sum() / mean.sum(), (mean.sum(1) * y).sum() / mean.sum()]
    shown = {}
    for weight in sorted(set(grams.values())):
        depth, places = depths(weight * 9.81e-3, middle)
        col = numpy.rint(places[:, 0] / PITCH + (COLS - 1) / 2).astype(int)
        line = numpy.rint((ROWS - 1) / 2 - places[:, 1] / PITCH).astype(int)
        grid = numpy.zeros((ROWS, COLS))
        grid[line, col] = numpy.abs(depth)
        shown[weight] = grid.ravel()
    product = sum((read[path][1] @ shown[grams[path]]).sum() for path in fitted)
    square = sum(len(read[path][0]) * (shown[grams[path]] ** 2).sum() for path in fitted)
    gain = product / square
    unseen = [path for path in files if path.name in kept_out]
    everything = numpy.concatenate([read[path][1].ravel() for path in unseen])
    error = sum(((read[path][1] - gain * shown[grams[path]]) ** 2).sum() for path in unseen)
    explained = 1 - error / ((everything - everything.mean()) ** 2).sum()
    totals, creep = [], []
    for weight in sorted({grams[path] for path in unseen}):
        own = [path for path in unseen if grams[path] == weight]
        measured = numpy.mean([read[path][1].sum(1).mean() for path in own])
        totals.append(100 * abs(gain * shown[weight].sum() / measured - 1))
        growth = []
        for path in own:
            times, total = read[path][0], read[path][1].sum(1)
            growth.append(total[times >= times[-1] - 0.5].mean() / total[times <= times[0] + 0.5].mean() - 1)
        creep.append(100 * abs(numpy.mean(growth)))
    scores = [("taxels", explained, len(unseen)), ("totals", max(totals), len(totals)), ("creep", max(creep), len(creep))]
    model = f"MuJoCo {mujoco.__version__} tactile, gain fitted"
    peers = [{"row": row["name"], "measure": measure, "model": model, "value": float(value), "n": n} for measure, value, n in scores]
    print(json.dumps(peers, indent=1))


if __name__ == "__main__":
    main()
