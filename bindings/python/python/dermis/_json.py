"""JSON of values that may come from numpy."""

import json
import math
from typing import Any

from dermis._native import Error


def dumps(value: Any) -> str:
    """The JSON text of a value, with numpy's scalars and arrays as numbers and lists. Errors name the key."""
    return json.dumps(_plain("", value))


def _plain(key: str, value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(name): _plain(f"{key}.{name}" if key else str(name), entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(key, entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise Error(f"`{key}` must be a finite number, got {value}")
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise TypeError(f"`{key}` must be a number, text, list or dict, got {value!r}")
