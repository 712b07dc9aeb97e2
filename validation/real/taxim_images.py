"""Scores the simulator Taxim on the kept-out balls of the GelSight, for `dermis validate real --peers`.

    pip install taxim==1.4.1 "jax[cpu]" pillow
    dermis validate real DATA --json > rows.json
    python validation/real/taxim_images.py DATA/gelsight-ball rows.json > peers.json
    dermis validate real DATA --peers peers.json --out report

Taxim renders with the calibration that it ships for this sensor, which was made from all presses, also those that are kept out here. Its ball
is pressed until the contact has the labelled radius, at the labelled place. The row of the Mini is left out: its labelled contacts are wider
than the pin that made them.
"""

import csv
import json
import sys
from pathlib import Path

import numpy
from PIL import Image
from taxim import Taxim

BALL_RADIUS_MM = 2.0
REGIONS = {"inside": (0.0, 0.9), "ring": (1.0, 2.0)}
FAR_MM = 10.0


def main():
    folder, rows = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())["rows"]
    row = next(row for row in rows if row["name"] == "gelsight-ball/gelsight")
    with open(folder / "labels.csv", newline="") as table:
        labels = {entry["file"]: entry for entry in csv.DictReader(table)}
    taxim = Taxim(backend="jax", device="cpu")
    pixel_mm = taxim.sensor_params.pixmm
    sums = {name: [0.0, 0] for name in REGIONS}
    for file in row["kept_out"]:
        measured = numpy.asarray(Image.open(folder / file).convert("RGB"), dtype=float)
        column, line, radius = (float(labels[file][key]) for key in ("center_x_px", "center_y_px", "contact_radius_px"))
        rows_px, columns_px = numpy.mgrid[: measured.shape[0], : measured.shape[1]]
        away = numpy.hypot(columns_px - column, rows_px - line)
        under = BALL_RADIUS_MM**2 - (away * pixel_mm) ** 2
        height = numpy.where(under > 0, BALL_RADIUS_MM - numpy.sqrt(numpy.maximum(under, 0)), FAR_MM)
        depth = BALL_RADIUS_MM - numpy.sqrt(BALL_RADIUS_MM**2 - (radius * pixel_mm) ** 2)
        shown = numpy.asarray(taxim.render(height.astype(numpy.float32), with_shadow=True, press_depth=float(depth)), dtype=float)
        shown *= 255.0 if shown.max() <= 1.5 else 1.0
        for name, (low, high) in REGIONS.items():
            region = (away >= low * radius) & (away < high * radius)
            sums[name][0] += ((shown - measured)[region] ** 2).sum()
            sums[name][1] += 3 * region.sum()
    peers = [
        {"row": row["name"], "measure": name, "model": "taxim 1.4.1, as shipped", "value": float((total / count) ** 0.5), "n": len(row["kept_out"])}
        for name, (total, count) in sums.items()
    ]
    print(json.dumps(peers, indent=1))


if __name__ == "__main__":
    main()
