"""Contents of data sets as third-party programs read them: `{column: array of all rows}` for every program."""

import io
import json

import numpy


def _pixels(source):
    from PIL import Image

    pixels = numpy.asarray(Image.open(source))
    return pixels if pixels.ndim == 3 else pixels[..., None]


def _columns(folder, names, rows):
    """Columns of a table from its rows; images are decoded."""
    columns = {}
    for name in names:
        values = [row[name] for row in rows]
        if name.startswith("observation.images."):
            # PNG in the table, or the name of a file.
            values = [_pixels(io.BytesIO(value["bytes"]) if isinstance(value, dict) else folder / value) for value in values]
        columns[name] = numpy.asarray(values)
    return columns


def _files(folder):
    return sorted((folder / "data").glob("**/*.parquet"))


def by_pyarrow(folder):
    from pyarrow import parquet

    rows = [row for path in _files(folder) for row in parquet.read_table(path).to_pylist()]
    return _columns(folder, rows[0], rows)


def by_polars(folder):
    import polars

    rows = [row for path in _files(folder) for row in polars.read_parquet(path).to_dicts()]
    return _columns(folder, rows[0], rows)


def by_duckdb(folder):
    import duckdb

    columns = {}
    for path in _files(folder):
        table = duckdb.read_parquet(str(path))
        for name, values in zip(table.columns, zip(*table.fetchall(), strict=True), strict=True):
            columns.setdefault(name, []).extend(values)
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return _columns(folder, rows[0], rows)


def by_lerobot(folder):
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    rows = LeRobotDataset(f"dermis/{folder.name}", root=folder, video_backend="pyav")
    columns = {name: numpy.stack([numpy.asarray(rows[row][name]) for row in range(len(rows))]) for name in rows.features}
    for name, values in columns.items():
        if name.startswith("observation.images."):
            columns[name] = numpy.rint(values.transpose(0, 2, 3, 1) * 255).astype(numpy.uint8)
    return columns


def by_webdataset(folder):
    import webdataset

    shards = sorted(str(path) for path in folder.glob("*.tar"))
    rows = list(webdataset.WebDataset(shards, shardshuffle=False).decode("rgb8"))
    columns = {f"json.{key}": [json.dumps(row["json"][key]) for row in rows] for key in rows[0]["json"]}
    for key in rows[0]:
        if key != "json" and not key.startswith("__"):
            columns[key] = [row[key] for row in rows]
    return {key: numpy.asarray(values) for key, values in columns.items()}


def by_h5py(folder):
    import h5py

    columns = {}

    def visit(name, entry):
        columns.update({f"{name}@{key}": value for key, value in entry.attrs.items()})
        if isinstance(entry, h5py.Dataset):
            columns[name] = entry[()]

    for path in sorted(folder.glob("*.hdf5")):
        with h5py.File(path) as file:
            found = len(columns)
            file.visititems(lambda name, entry, path=path: visit(name if "demo" in name else f"{path.stem}/{name}", entry))
            assert len(columns) > found
    return {name: numpy.asarray(value) for name, value in columns.items()}


def by_robomimic(folder, mask=None, load_next_obs=True):
    """The sequences of robomimic's own loader, of all shards; `mask` selects demonstrations."""
    import h5py
    from robomimic.utils import obs_utils
    from robomimic.utils.dataset import SequenceDataset

    columns = {}
    for path in sorted(folder.glob("*.hdf5")):
        with h5py.File(path) as file:
            keys = list(next(iter(file["data"].values()))["obs"])
            env = json.loads(file["data"].attrs["env_args"])
        images = [key for key in keys if key.endswith("image")]
        obs_utils.initialize_obs_utils_with_obs_specs({"obs": {"low_dim": [key for key in keys if key not in images], "rgb": images}})
        rows = SequenceDataset(
            str(path), obs_keys=keys, dataset_keys=("actions", "rewards", "dones"), filter_by_attribute=mask, load_next_obs=load_next_obs
        )
        for row in (rows[i] for i in range(len(rows))):
            for name in ("actions", "rewards", "dones"):
                columns.setdefault(name, []).append(row[name][0])
            for part in ("obs", "next_obs") if load_next_obs else ("obs",):
                for key, value in row[part].items():
                    columns.setdefault(f"{part}/{key}", []).append(value[0])
        columns.setdefault("env_type", []).append(env["type"])
    return {name: numpy.asarray(values) for name, values in columns.items()}
