"""JSON of values that may come from numpy."""

import json
from typing import Any


def dumps(value: Any) -> str:
    """The JSON text of a value, with numpy's scalars and arrays as numbers and lists."""
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} is neither a number nor a text, list or dict")
