"""From bench data to a sensor that answers like the one that was measured.

>>> import dermis
>>> from dermis import calibration
>>> known = dermis.Sensor.preset("wts0614")
>>> creeps = {"response": {"creep": [{"amplitude": 0.08, "time": "1.5 s"}]}}
>>> device = dermis.Sensor.preset("wts0614", parameters=creeps)  # stands for a real one here
>>> bench = calibration.characterise(device, presses=1)          # or calibration.load("presses.csv", "creep.csv")
>>> found = calibration.fit(known, bench)
>>> round(found.numbers["creep"]["terms"][0]["amplitude"]["value"], 2)
0.08
"""

from __future__ import annotations

import csv
import json
import os
import pathlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dermis import _native
from dermis._native import Bench, Error, Sensor

__all__ = ["Bench", "SensorFit", "characterise", "fit", "load", "save"]


@dataclass(frozen=True)
class SensorFit:
    """A fitted device."""

    sensor: Sensor
    """The sensor that was measured, with the response that was found: spread, gain, threshold, curve, hysteresis, creep, noise."""
    numbers: dict[str, Any]
    """Everything that was found (SI units, counts), each estimate with the half-width ``ci95`` of its 95 % interval."""


def characterise(
    sensor: Sensor,
    *,
    indenter: float = 1e-3,
    depths: Sequence[float] | None = None,
    presses: int = 3,
    dwell: float = 0.1,
    rest: float = 2.0,
    step: float = 0.01,
    creep_taxels: Sequence[int] = (0,),
    creep_depth: float = 0.8e-3,
    creep_time: float = 10.0,
) -> Bench:
    """Measures a simulated sensor as an experimenter would, taxel by taxel.

    indenter: diameter of a flat, round indenter (m). depths: rising, pressed one after the other and back (m); 0.2 to 1.4 mm without.
    presses: how often every taxel is pressed. dwell, rest, step: how long a depth is held, a taxel is left alone, and between two
    readings (s). creep_taxels, creep_depth, creep_time: where creep is recorded, how deep (m), for how long (s).
    """
    protocol: dict[str, Any] = {
        "indenter_m": indenter,
        "presses": presses,
        "dwell_s": dwell,
        "rest_s": rest,
        "step_s": step,
        "creep_taxels": [int(taxel) for taxel in creep_taxels],
        "creep_depth_m": creep_depth,
        "creep_s": creep_time,
    }
    if depths is not None:
        protocol["depths_m"] = [float(depth) for depth in depths]
    return _native.characterise_sensor(sensor, json.dumps(protocol))


def fit(sensor: Sensor, bench: Bench, *, kernel: int = 3) -> SensorFit:
    """Fits the response of a device to what a bench measured of it.

    sensor: the one that was measured, as far as it is known: its taxels, bits and newtons a count. kernel: size of the point spread, in
    taxels. Raises dermis.Error where the data do not determine a parameter.
    """
    fitted, numbers = _native.fit_sensor(sensor, bench, kernel)
    return SensorFit(fitted, json.loads(numbers))


def save(bench: Bench, folder: str | os.PathLike[str]) -> None:
    """Writes ``presses.csv`` and ``creep.csv``, as ``dermis characterise`` does."""
    place = pathlib.Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    (place / "presses.csv").write_text(bench.presses_csv())
    (place / "creep.csv").write_text(bench.creep_csv())


def load(presses: str | os.PathLike[str], creep: str | os.PathLike[str] | None = None) -> Bench:
    """Reads what ``save`` or ``dermis characterise`` wrote, or a real bench in the same columns."""
    rows = _columns(presses, ["taxel", "press", "held_s", "depth_mm", "force_N"])
    raw = [rows[name] for name in rows if name.startswith("raw_") and name.endswith("_counts")]
    if not raw:
        raise Error(f"{os.fspath(presses)}: there are no columns raw_0_counts, raw_1_counts, …")
    arrays: dict[str, Any] = {
        "taxel": rows["taxel"],
        "press": rows["press"],
        "held": rows["held_s"],
        "depth": [1e-3 * depth for depth in rows["depth_mm"]],
        "force": rows["force_N"],
        "raw": list(zip(*raw)),
    }
    if creep is not None:
        drift = _columns(creep, ["taxel", "time_s", "force_N", "raw_counts"])
        first = drift["taxel"][0] if drift["taxel"] else 0.0
        kept = [i for i, taxel in enumerate(drift["taxel"]) if taxel == first]
        for ours, theirs in [("creep_time", "time_s"), ("creep_force", "force_N"), ("creep_raw", "raw_counts")]:
            arrays[ours] = [drift[theirs][i] for i in kept]
        arrays["creep_taxel"] = int(first)
    return Bench(**arrays)


def _columns(path: str | os.PathLike[str], needed: list[str]) -> dict[str, list[float]]:
    with open(path, newline="") as file:
        reader = csv.DictReader(file)
        names = list(reader.fieldnames or [])
        for name in needed:
            if name not in names:
                raise Error(f"{os.fspath(path)}: there is no column {name!r}; there are {', '.join(names) or 'none'}")
        columns: dict[str, list[float]] = {name: [] for name in names}
        for line, row in enumerate(reader, start=2):
            for name in names:
                try:
                    columns[name].append(float(row[name]))
                except (TypeError, ValueError):
                    where = f"{os.fspath(path)}, line {line}"
                    raise Error(f"{where}: `{name}` must be a number, got {row[name]!r}") from None
    return columns
