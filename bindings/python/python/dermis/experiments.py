"""Reproduces the experiments of the papers.

>>> from dermis import experiments
>>> experiments.reproduce("moisio-foam").passed
True
"""

from __future__ import annotations

import json
import os
import pathlib
from dataclasses import dataclass
from typing import Any, Literal

from dermis import _native

__all__ = ["Outcome", "names", "reproduce"]


@dataclass(frozen=True)
class Outcome:
    """Result of an experiment."""

    name: str
    passed: bool
    """True if every bound holds."""
    metrics: dict[str, float]
    """Measured values."""
    verdicts: list[dict[str, Any]]
    """Each bound: metric, what, paper, min, max, one_sided, ours, passed."""
    notes: list[str]
    """Remarks."""
    partial: str | None = None
    """The part of the paper's experiment that was run, if not all of it."""


def names() -> dict[str, str]:
    """Names and titles of the experiments."""
    return {name: title for name, title, _ in _native.experiment_list()}


def reproduce(
    name: str,
    *,
    full: bool = False,
    data: str | os.PathLike[str] | None = None,
    skin: Literal["springs", "hydroelastic", "layer", "imprint", "gel"] | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Outcome:
    """Runs one experiment.

    full: at the paper's full length. data: folder of measurements, for experiments that need them. skin: another skin than the sensor's own,
    for experiments that support several. out: folder for figures and tables.
    """
    target = None if out is None else pathlib.Path(out)
    found = _native.run_experiment(name, full, None if data is None else pathlib.Path(data), skin, target)
    return Outcome(**json.loads(found))
