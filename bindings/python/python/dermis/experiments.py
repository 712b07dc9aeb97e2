"""The claims of the papers, run again.

>>> from dermis import experiments
>>> experiments.reproduce("moisio-foam").passed
True
"""

from __future__ import annotations

import json
import os
import pathlib
from dataclasses import dataclass
from typing import Any

from dermis import _native

__all__ = ["Outcome", "names", "reproduce"]


@dataclass(frozen=True)
class Outcome:
    """What came out of an experiment."""

    name: str
    passed: bool
    """Whether every bound holds."""
    metrics: dict[str, float]
    """The numbers."""
    verdicts: list[dict[str, Any]]
    """Each bound: metric, what, paper, min, max, ours, passed."""
    notes: list[str]
    """What a reader should know."""


def names() -> dict[str, str]:
    """The experiments: name and what each is about."""
    return {name: title for name, title, _ in _native.experiment_list()}


def reproduce(
    name: str,
    *,
    full: bool = False,
    data: str | os.PathLike[str] | None = None,
    skin: str | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Outcome:
    """Runs one experiment.

    full: as long as the paper's own. data: folder of measurements, for those that need some. skin: another one than the sensor's own,
    where there are several. out: folder for its figures and tables.
    """
    place = None if out is None else pathlib.Path(out)
    found = _native.run_experiment(name, full, None if data is None else pathlib.Path(data), skin, place)
    return Outcome(**json.loads(found))
