"""Everything with an index takes what lists take: negative numbers, slices, integers of numpy; and ends as lists do."""

import ast
import pathlib

import numpy as np
import pytest

import dermis.dataset

PACKAGE = pathlib.Path(dermis.__file__).parent
COUNT = 6
SET = """
name = "rows"
format = "parquet"
count = 6
shard = 4
sensor = [{ preset = "wts0614" }]
object = [{ shape.sphere.radius = "5 mm" }]
pose.depth = { uniform = ["0.2 mm", "0.8 mm"] }
scenario = { kind = "press", frames = 1 }
"""


def batch(folder):
    made = dermis.Sensor.preset("wts0614").press_batch(dermis.Object.sphere(radius=5e-3), depth=np.linspace(0.1e-3, 0.6e-3, COUNT))
    return made, lambda reading: reading.sum


def touches(folder):
    pytest.importorskip("pyarrow")
    (folder / "rows.toml").write_text(SET)
    dermis.dataset.make(folder / "rows.toml", folder / "rows")
    return dermis.dataset.Touches(folder / "rows"), lambda row: int(row["episode_index"])


def tensors(folder):
    pytest.importorskip("torch")
    from dermis.torch import TouchDataset

    touches(folder)
    return TouchDataset(folder / "rows"), lambda row: int(row["episode_index"])


SEQUENCES = {"Batch": batch, "Touches": touches, "TouchDataset": tensors}


def test_every_sequence_is_tested():
    kinds = {name: getattr(dermis, name) for name in dermis.__all__ if isinstance(getattr(dermis, name), type)}
    indexed = {name for name, kind in kinds.items() if hasattr(kind, "__getitem__")}
    for path in PACKAGE.rglob("*.py"):
        classes = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.ClassDef)]
        indexed |= {node.name for node in classes if any(getattr(part, "name", "") == "__getitem__" for part in node.body)}
    assert indexed == set(SEQUENCES)


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_sequence_is_indexed_like_a_list(name, tmp_path):
    """``Touches[2:4]`` was a TypeError about `<` and slices."""
    sequence, number = SEQUENCES[name](tmp_path)
    truth = [number(sequence[i]) for i in range(COUNT)]
    assert len(set(truth)) == COUNT == len(sequence) and [number(one) for one in sequence] == truth
    for index in (-1, -COUNT, np.int64(2), np.uint8(3), True):
        assert number(sequence[index]) == truth[index], index
    for chosen in (slice(2, 4), slice(None), slice(-2, None), slice(None, None, -2), slice(4, 99), slice(3, 3), slice(-99, 2)):
        part = sequence[chosen]
        assert type(part) is type(sequence) and [number(one) for one in part] == truth[chosen] and len(part) == len(truth[chosen])
        assert [number(one) for one in part[::-1]] == truth[chosen][::-1]
    for index in (COUNT, -COUNT - 1, 2**40, 2**70, -(2**70)):
        with pytest.raises(IndexError, match=f"there is no r.* {index}: "):
            sequence[index]
    for index in (1.0, "1", None, (1, 2), [1]):
        with pytest.raises(TypeError):
            sequence[index]
    with pytest.raises(ValueError, match="step"):
        sequence[::0]


def test_a_column_of_a_part_has_its_rows(tmp_path):
    rows, _ = touches(tmp_path)
    whole = rows.column("observation.tactile")
    assert whole.shape == (COUNT, 84) and np.array_equal(rows[4:1:-1].column("observation.tactile"), whole[4:1:-1])
    with pytest.raises(KeyError, match="no column 'taxels'; the columns are observation"):
        rows.column("taxels")
