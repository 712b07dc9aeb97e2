"""Makes and reads tactile data sets. A data set is a function of its description: one machine and a cluster write the same bytes.

>>> from dermis import dataset
>>> dataset.make("array.toml", "out/array")                         # all cores of this machine; resumes
>>> touches = dataset.Touches("out/array")                          # rows by number, as numpy arrays
>>> touches[0]["observation.tactile"].shape
(84,)

``make(…, ray="auto")`` uses all nodes of a Ray cluster, and ``encode_videos(folder, out)`` makes a LeRobot set with videos.
``dermis dataset example array`` prints a description to start from. Reading needs ``pyarrow``, images ``pillow``; both come with
``pip install dermis[datasets]``. Videos also need PyAV: ``pip install dermis[video]``. ``dermis.torch`` has the same rows for PyTorch.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import json
import operator
import os
import pathlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from dermis import _native, _optional, _progress
from dermis._video import Video, encode_videos, video_file

__all__ = ["Touches", "check", "describe", "encode_videos", "make"]

_Path = str | os.PathLike[str]


def make(
    spec: _Path,
    out: _Path,
    *,
    threads: int | None = None,
    ray: str | None = None,
    progress: bool | Callable[[int, int], object] | None = None,
) -> None:
    """Makes a data set, or resumes an interrupted one.

    spec: the description, a TOML file. out: the folder; every node must see it under the same path. threads: number of threads; default: all
    cores. ray: ``"auto"``, ``"local"`` or the address of a Ray cluster, whose workers make the shards, one task each. If a worker or a
    node is lost, its unfinished shards are made again; finished shards are kept. progress: True shows the number of episodes
    (shards on a cluster) on stderr, with tqdm if it is installed; a function is called with the number made and the total.

    The bytes do not depend on any of these. Raises dermis.Error if the description is invalid or the disk is full.
    """
    text, file, folder = _read(spec)
    out = pathlib.Path(out).absolute()
    with _told(progress, "episodes" if ray is None else "shards") as tell:
        if ray is None:
            _native.Dataset(text, file, folder).make(out, threads, tell)
        else:
            _make_with_ray(text, file, folder, out, ray, tell)


@contextlib.contextmanager
def _told(progress: bool | Callable[[int, int], object] | None, what: str) -> Iterator[Callable[[int, int], object] | None]:
    """The function to call with the parts made and the total: that of the caller, or one that shows them."""
    if not isinstance(progress, bool):
        yield progress
        return
    bars: list[Any] = []

    def show(made: int, total: int) -> None:
        bars[:] = bars or [_progress.start(total, what)]
        bars[0].show(made)

    try:
        yield show if progress else None
    finally:
        for bar in bars:
            bar.close()


def describe(spec: _Path) -> dict[str, Any]:
    """Summary of a description: name, format, scenario, episodes, shards, labels."""
    found: dict[str, Any] = json.loads(_native.Dataset(*_read(spec)).about())
    return found


def check(folder: _Path) -> int:
    """Compares every file of a finished set with its hash and returns their number. Raises dermis.Error at the first difference."""
    return _native.check_dataset(folder)


def _read(spec: _Path) -> tuple[str, str, pathlib.Path]:
    path = pathlib.Path(spec)
    return _native.read_description(path), str(path), path.absolute().parent


@functools.lru_cache(maxsize=2)
def _opened(text: str, file: str, folder: pathlib.Path) -> _native.Dataset:
    """The data set, cached: a worker makes many shards of one set."""
    return _native.Dataset(text, file, folder)


def _make_one(text: str, file: str, folder: pathlib.Path, out: pathlib.Path, shard: int) -> int:
    _opened(text, file, folder).make_shards(out, [shard])
    return shard


def _make_with_ray(
    text: str,
    file: str,
    folder: pathlib.Path,
    out: pathlib.Path,
    address: str,
    progress: Callable[[int, int], object] | None,
) -> None:
    _optional.require("dermis.dataset.make(address=…)", "ray")
    import ray

    if not ray.is_initialized():
        ray.init(address=None if address == "local" else address, log_to_driver=False)
    whole = _native.Dataset(text, file, folder)
    # Shards are files, so lost tasks can be repeated, by Ray and by the loop below.
    task = ray.remote(num_cpus=1, max_retries=8)(_make_one)
    wanted = missing = whole.missing(out)
    done = 0
    for attempt in range(_ATTEMPTS):
        waiting = list(missing)
        running: dict[Any, int] = {}
        lost: Exception | None = None
        while waiting or running:
            # Slightly more tasks than can run at once, so that no worker idles.
            room = 4 * max(1, int(ray.cluster_resources().get("CPU", 1)))
            while waiting and len(running) < room:
                shard = waiting.pop(0)
                running[task.remote(text, file, folder, out, shard)] = shard
            ready, _ = ray.wait(list(running), timeout=1.0)
            for reference in ready:
                del running[reference]
                try:
                    ray.get(reference)
                except ray.exceptions.RayTaskError as error:
                    raise error.as_instanceof_cause() from None
                except ray.exceptions.RayError as error:
                    lost = error
                else:
                    done += 1
                    if progress is not None:
                        progress(done, len(wanted))
        missing = whole.missing(out)
        if not missing:
            whole.complete(out)
            return
        print(f"dermis: {len(missing)} shards were lost ({lost}); trying again", file=sys.stderr)
        time.sleep(min(2.0**attempt, 30.0))
    raise _native.Error(f"{out}: {len(missing)} shards are still missing after {_ATTEMPTS} attempts: is the folder shared by all nodes?")


_ATTEMPTS = 6


def row_of(row: int, rows: Sequence[int]) -> int:
    """The entry of ``rows`` with an index, from the end if it is negative."""
    place = operator.index(row)
    if not -len(rows) <= place < len(rows):
        raise IndexError(f"there is no row {place}: there are {len(rows)}")
    return rows[place]


class Touches:
    """The rows of a finished data set in the format ``lerobot`` or ``parquet``, indexed by number.

    ``touches[3]`` is a row, a dict of numpy arrays by column, and ``touches[10:20]`` the touches of those rows; images and frames of videos are uint8, (height, width, channels). columns: the columns to
    read; default: all.
    """

    def __init__(self, folder: _Path, columns: Iterable[str] | None = None) -> None:
        _optional.require("dermis.dataset.Touches", "pyarrow.parquet")
        import pyarrow.parquet as parquet

        self.folder = pathlib.Path(folder)
        about = self.folder / "dataset.json"
        if not about.is_file():
            raise FileNotFoundError(f"{about} does not exist: is {folder} a finished data set?")
        self.about: dict[str, Any] = json.loads(about.read_text(encoding="utf-8"))
        if self.about["format"] not in ("lerobot", "parquet"):
            raise _native.Error(f"{folder}: rows of the format {self.about['format']!r} are read by its own tools")
        self.labels: list[str] = self.about["labels"]
        """Names of the objects; the column ``label`` holds indices into them."""
        shapes = {column["name"]: column for column in self.about["columns"]}
        self.columns = list(columns) if columns is not None else [*shapes, "timestamp", "frame_index", "episode_index"]
        self._shapes = {name: tuple(shapes[name]["shape"]) for name in self.columns if name in shapes}
        self._types = {name: shapes[name]["dtype"] for name in self.columns if name in shapes}
        self._images = {name for name in self.columns if shapes.get(name, {}).get("dtype") == "image"}
        self._videos = {name for name in self.columns if shapes.get(name, {}).get("dtype") == "video"}
        self._parquet = parquet
        self._rows = range(int(self.about["episodes"]) * int(self.about["frames_per_episode"]))
        self._files = sorted((self.folder / "data").glob("**/*.parquet"))
        self._each = self.about["episodes_per_shard"] * self.about["frames_per_episode"]
        self._table = functools.lru_cache(maxsize=4)(self._load)
        self._video = functools.lru_cache(maxsize=16)(self._open)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, row: int, /) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, row: slice, /) -> Touches: ...
    def __getitem__(self, row: int | slice, /) -> dict[str, Any] | Touches:
        if isinstance(row, slice):
            part = copy.copy(self)
            part._rows = self._rows[row]
            return part
        row = row_of(row, self._rows)
        file, at = divmod(row, self._each)
        table = self._table(file)
        in_table = {name: self._value(name, table.column(name)[at]) for name in self.columns if name not in self._videos}
        return {name: in_table[name] if name in in_table else self._frame(name, row) for name in self.columns}

    def column(self, name: str) -> Any:
        """One column of all rows, as an array (rows, …)."""
        if name not in self.columns:
            raise KeyError(f"there is no column {name!r}; the columns are {', '.join(self.columns)}")
        if name in self._videos:
            return np.stack([self._frame(name, row) for row in self._rows])
        places = [divmod(row, self._each) for row in self._rows]
        return np.stack([self._value(name, self._table(file).column(name)[at]) for file, at in places])

    def _load(self, file: int) -> Any:
        return self._parquet.read_table(self._files[file], columns=[name for name in self.columns if name not in self._videos])

    def _open(self, name: str, file: int, process: int) -> Video:
        return Video(self.folder / video_file(name, file), self.about["rate_hz"])

    def _frame(self, name: str, row: int) -> Any:
        file, frame = divmod(row, self.about["video_frames_per_file"])
        # A video cannot be shared with the workers of a data loader.
        return self._video(name, file, os.getpid()).frame(frame)

    def _value(self, name: str, scalar: Any) -> Any:
        value = scalar.as_py()
        if name not in self._images:
            # The columns that every set has are times and indices.
            return np.asarray(value, dtype=self._types.get(name, "float32" if name == "timestamp" else "int64"))
        _optional.require("an image in dermis.dataset.Touches", "PIL.Image")
        from PIL import Image

        source = io.BytesIO(value["bytes"]) if isinstance(value, dict) else self.folder / value
        pixels = np.asarray(Image.open(source))
        return pixels.reshape(self._shapes[name])
