"""Writes the labelled ball presses that come with the package `taxim` as PNG images and tables.

    python export.py FOLDER

The images are of Taxim's authors (MIT licence) and stay outside the repository.
"""

import csv
import importlib.resources
import pathlib
import sys

import numpy
from PIL import Image


def save(image: numpy.ndarray, path: pathlib.Path) -> None:
    """Writes an image as RGB. The package stores blue, green, red, as OpenCV does."""
    Image.fromarray(numpy.ascontiguousarray(image[..., ::-1])).save(path)


def export(calibration: pathlib.Path, folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    data = numpy.load(calibration / "dataPack.npz", allow_pickle=False)
    save(data["f0"], folder / "background.png")
    with open(folder / "labels.csv", "w", newline="") as table:
        rows = csv.writer(table)
        rows.writerow(["file", "center_x_px", "center_y_px", "contact_radius_px"])
        for i, (image, center, radius) in enumerate(zip(data["imgs"], data["touch_center"], data["touch_radius"])):
            name = f"press_{i:02}.png"
            save(image, folder / name)
            rows.writerow([name, float(center[0]), float(center[1]), float(radius)])


def main() -> None:
    target = pathlib.Path(sys.argv[1])
    calibrations = pathlib.Path(str(importlib.resources.files("taxim"))) / "calib"
    for source, name in [("gelsight", "gelsight"), ("gelsight_mini", "gelsight-mini")]:
        export(calibrations / source, target / name)


main()
