"""Reads `one_of_each.parquet` with pyarrow and polars (`pip install pyarrow polars`) and compares it with what `tests.rs` wrote."""

from pathlib import Path

import polars
import pyarrow.parquet

EXPECTED = {
    "number": [0.1, -0.0, float("inf")],
    "flag": [True, False, True],
    "name": ["a", "", "π"],
    "taxels": [[0.5, 1.5], [2.5, 3.5], [4.5, 5.5]],
    "grid": [[[[0, 1], [2, 3]]], [[[4, 5], [6, 7]]], [[[8, 9], [10, 11]]]],
    "some": [["x", "y"], [], ["z"]],
    "seen": [
        {"bytes": b"\x01", "path": "0.png"},
        {"bytes": b"", "path": "1.png"},
        {"bytes": b"\x02\x03", "path": "2.png"},
    ],
}

file = Path(__file__).with_name("one_of_each.parquet")
assert pyarrow.parquet.read_table(file).to_pydict() == EXPECTED
assert pyarrow.parquet.read_metadata(file).metadata == {b"made": b"by hand"}
assert polars.read_parquet(file).to_dict(as_series=False) == EXPECTED
print("pyarrow and polars read what was written")
