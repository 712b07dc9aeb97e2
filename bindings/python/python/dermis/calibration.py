"""Fits the response and the material of a sensor to bench measurements.

>>> import dermis
>>> from dermis import calibration
>>> known = dermis.Sensor.preset("wts0614")
>>> creeps = {"response": {"creep": [{"amplitude": 0.08, "time": "1.5 s"}]}}
>>> measured = dermis.Sensor.preset("wts0614", parameters=creeps)  # stands for a real sensor
>>> bench = calibration.characterise(measured, presses=1)         # or calibration.load("presses.csv", "creep.csv")
>>> found = calibration.fit(known, bench)
>>> round(found.numbers["creep"]["terms"][0]["amplitude"]["value"], 2)
0.08
"""

from __future__ import annotations

import csv
import io
import json
import os
import pathlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import ArrayLike

from dermis import _json, _native
from dermis._native import Bench, Error, Object, Sensor

__all__ = ["Bench", "MaterialFit", "SensorFit", "characterise", "fit", "load", "material", "save"]

_Material = Literal["young", "poisson", "thickness", "friction", "zero", "relaxation_ratio", "relaxation_time"]


@dataclass(frozen=True)
class SensorFit:
    """Result of a fit."""

    sensor: Sensor
    """The sensor with the fitted response: spread, gain, threshold, curve, hysteresis, creep, noise."""
    numbers: dict[str, Any]
    """All estimates (SI units, counts), each with the half-width ``ci95`` of its 95 % confidence interval."""


def characterise(
    sensor: Sensor,
    *,
    indenter: float = 2e-3,
    depths: Sequence[float] | None = None,
    presses: int = 3,
    dwell: float = 0.1,
    rest: float = 2.0,
    step: float = 0.01,
    creep_taxels: Sequence[int] = (0,),
    creep_depth: float = 0.8e-3,
    creep_time: float = 10.0,
) -> Bench:
    """Measures a simulated sensor on a virtual bench, taxel by taxel.

    indenter: diameter of a flat, round indenter (m). depths: increasing depths (m), loaded in order and unloaded in reverse; default 0.2 to
    1.4 mm. presses: presses per taxel. dwell, rest, step: duration of each depth, pause between presses, and sampling interval (s).
    creep_taxels, creep_depth, creep_time: taxels, depth (m) and duration (s) of the creep recordings.
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
    return _native.characterise_sensor(sensor, _json.dumps(protocol))


def fit(sensor: Sensor, bench: Bench, *, kernel: int = 3, indenter: float = 2e-3) -> SensorFit:
    """Fits the response of a sensor to bench measurements.

    sensor: the measured sensor with its known properties: taxels, bits and newtons per count. kernel: size of the point spread (taxels).
    indenter: diameter of the flat, round indenter of the bench (m). Stages that the data do not show (creep, spread, hysteresis, noise) are left out.
    With readings at several temperatures, the change of the gains per kelvin is fitted too; ``response.gain.drift.rise`` of the fitted sensor sets its temperature.
    Raises dermis.Error if the data do not determine a parameter.
    """
    fitted, numbers = _native.fit_sensor(sensor, bench, kernel, indenter)
    return SensorFit(fitted, json.loads(numbers))


@dataclass(frozen=True)
class MaterialFit:
    """Result of the fit of a material."""

    sensor: Sensor
    """The sensor with the fitted material."""
    values: dict[str, tuple[float, float]]
    """Each unknown (SI units) with the half-width of its 95 % confidence interval."""
    forces: list[tuple[float, float]]
    """Forces of the fitted sensor at the measurements (N): against the normal, and along x."""
    rms: float
    """Root mean square residual (N)."""
    explained: float
    """Part of the squared forces about their mean that the fit explains (R²): 1 for a perfect fit, 0 for one that is no better than the mean
    force, negative for a worse one."""
    converged: bool
    """False if the search ended before it found the best values."""
    at_bounds: list[str]
    """Unknowns that ended at a bound of their range."""
    warnings: list[str]
    """Warnings of the skin about the fitted presses, and about the fit."""


def material(
    sensor: Sensor,
    obj: Object,
    *,
    depth: ArrayLike,
    force: ArrayLike,
    shear: ArrayLike | None = None,
    shear_force: ArrayLike | None = None,
    time: ArrayLike | None = None,
    unknowns: Sequence[_Material] = ("young",),
    at: tuple[float, float] = (0.0, 0.0),
) -> MaterialFit:
    """Fits the material of a sensor's skin, a layer or a gel, to forces under a known object.

    depth: travel past first contact (m), (n,). force: force of the object against the normal (N), (n,). shear and shear_force: displacement along
    x after the press (m) and force on the sensor along x (N), (n,), for the friction. time: time of each measurement (s), not decreasing, (n,), for
    the relaxation; the depth may be held or grow. unknowns: what is fitted, starting from the values of the sensor: ``young`` (Pa), ``poisson``, ``thickness`` (m),
    ``friction``, ``zero`` (the depth at which the bench has its first contact, m), ``relaxation_ratio`` and ``relaxation_time`` (s), of the first branch.
    at: place of the object (m). Raises dermis.Error if the measurements do not determine an unknown, have depths or forces along x of another unit or sign, or a
    shear_force without shear.

    >>> import dermis
    >>> from dermis import calibration
    >>> sensor, ball = dermis.Sensor.preset("wts0614-layer"), dermis.Object.sphere(radius=5e-3)
    >>> depth = [0.2e-3, 0.4e-3, 0.6e-3]
    >>> force = [2 * -sensor.press(ball, depth=d).force[2] for d in depth]  # of a sensor that is twice as stiff
    >>> found = calibration.material(sensor, ball, depth=depth, force=force)
    >>> round(float(found.sensor.press(ball, depth=0.5e-3).force[2] / sensor.press(ball, depth=0.5e-3).force[2]), 3)
    2.0
    >>> found.converged, found.at_bounds
    (True, [])
    """
    fitted, text = _native.fit_material(sensor, obj, depth, force, shear, shear_force, time, list(unknowns), (float(at[0]), float(at[1])))
    found = json.loads(text)
    values = {name: (estimate["value"], estimate["ci95"]) for name, estimate in found["values"]}
    forces = [(normal, along) for normal, along in found["predicted_newton"]]
    return MaterialFit(fitted, values, forces, found["rms_newton"], found["explained"], found["converged"], found["at_bounds"], found["warnings"])


def save(bench: Bench, folder: str | os.PathLike[str]) -> None:
    """Writes ``presses.csv`` and ``creep.csv``, as ``dermis characterise`` does."""
    target = pathlib.Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    (target / "presses.csv").write_text(bench.presses_csv())
    (target / "creep.csv").write_text(bench.creep_csv())


def load(presses: str | os.PathLike[str], creep: str | os.PathLike[str] | None = None) -> Bench:
    """Reads files written by ``save`` or ``dermis characterise``, or by a real bench in the same format."""
    rows = _columns(presses, ["taxel", "press", "held_s", "depth_mm", "force_N"])
    raw = [rows[name] for name in rows if name.startswith("raw_") and name.endswith("_counts")]
    if not raw:
        raise Error(f"{os.fspath(presses)}: no columns raw_0_counts, raw_1_counts, …")
    arrays: dict[str, Any] = {
        "taxel": rows["taxel"],
        "press": rows["press"],
        "held": rows["held_s"],
        "depth": [1e-3 * depth for depth in rows["depth_mm"]],
        "force": rows["force_N"],
        "raw": list(zip(*raw)),
        "rise": rows.get("rise_K"),
        "rest": rows.get("rest_s"),
    }
    if creep is not None:
        drift = _columns(creep, ["taxel", "time_s", "force_N", "raw_counts"])
        first = drift["taxel"][0] if drift["taxel"] else 0.0
        kept = [i for i, taxel in enumerate(drift["taxel"]) if taxel == first]
        for argument, column in [("creep_time", "time_s"), ("creep_force", "force_N"), ("creep_raw", "raw_counts")]:
            arrays[argument] = [drift[column][i] for i in kept]
        arrays["creep_taxel"] = int(first)
    return Bench(**arrays)


def _columns(path: str | os.PathLike[str], needed: list[str]) -> dict[str, list[float]]:
    with io.StringIO(_native.read_table(path), newline="") as file:
        reader = csv.DictReader(file)
        names = list(reader.fieldnames or [])
        for name in needed:
            if name not in names:
                raise Error(f"{os.fspath(path)}: no column {name!r}; the columns are {', '.join(names) or 'none'}")
        columns: dict[str, list[float]] = {name: [] for name in names}
        for line, row in enumerate(reader, start=2):
            for name in names:
                try:
                    columns[name].append(float(row[name]))
                except (TypeError, ValueError):
                    where = f"{os.fspath(path)}, line {line}"
                    raise Error(f"{where}: `{name}` must be a number, got {row[name]!r}") from None
    return columns
