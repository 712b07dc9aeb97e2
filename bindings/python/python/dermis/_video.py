"""Videos of data sets: encodes the images of a LeRobot set as MP4 files and reads single frames of them. Needs PyAV."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import pathlib
import shutil
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Literal

from dermis import _native, _optional

_Path = str | os.PathLike[str]

CODECS = {"av1": ("libsvtav1", {"preset": "8"}), "h264": ("libx264", {"preset": "medium"})}
"""Encoders of PyAV by the name of the codec, with their options."""

_KEY_FRAME_EVERY = 2
"""Key frames are frequent, as in LeRobot's own sets: training reads single frames."""

_SECONDS_PER_FILE = 600
"""LeRobot compares times as 32-bit floats with a tolerance of 0.1 ms, which long files would exceed."""

_PATH = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"


def encode_videos(
    folder: _Path, out: _Path, *, codec: Literal["av1", "h264"] = "av1", crf: int = 18, columns: Iterable[str] | None = None
) -> None:
    """Copies a finished set of the format ``lerobot`` with its images as videos (LeRobot v3.0, MP4).

    folder: the set, with images in its tables. out: a new folder. codec: ``"av1"`` or ``"h264"``. crf: quality, 0 (best) to 63, 51 for
    H.264; LeRobot's default is 30. columns: the images to encode; default: all, masks included (a mask is exact after comparing with 128,
    but smaller as PNG). Statistics are those of the images before encoding. `out` appears when it is complete.

    Raises dermis.Error if the set cannot be encoded, ImportError without PyAV (``pip install dermis[video]``).
    """
    folder, out = pathlib.Path(folder), pathlib.Path(out).absolute()
    about_file = folder / "dataset.json"
    if not about_file.is_file():
        raise FileNotFoundError(f"{about_file} does not exist: is {folder} a finished data set?")
    about: dict[str, Any] = json.loads(about_file.read_text(encoding="utf-8"))
    images = {column["name"]: column for column in about["columns"] if column["dtype"] == "image"}
    names = list(images) if columns is None else list(columns)
    if about["format"] != "lerobot" or not images:
        found = f"format {about['format']!r}, {len(images)} columns of images"
        raise _native.Error(f"{folder}: videos are made from a set of the format 'lerobot' with images in its tables; this one: {found}")
    for name in names:
        if name not in images:
            raise _native.Error(f"{folder}: there are no images {name!r}; there are {', '.join(images)}")
    if codec not in CODECS:
        raise _native.Error(f"codec must be one of {', '.join(CODECS)}, got {codec!r}")
    worst = 63 if codec == "av1" else 51
    if not 0 <= crf <= worst:
        raise _native.Error(f"crf must be 0 to {worst} for {codec}, got {crf}")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise _native.Error(f"{out} exists and is not empty; give another folder")
    for name in names:
        height, width, _ = images[name]["shape"]
        if codec == "h264" and (height % 2 or width % 2):
            raise _native.Error(f"{folder}: {name!r} has {width} × {height} pixels; H.264 needs even numbers, so choose codec='av1'")
    part = out.with_name(f"{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        _write(folder, part, about, names, codec, crf)
        with contextlib.suppress(FileNotFoundError):
            out.rmdir()
        part.replace(out)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _write(folder: pathlib.Path, part: pathlib.Path, about: dict[str, Any], names: list[str], codec: str, crf: int) -> None:
    _optional.require("dermis.dataset.encode_videos", "pyarrow.parquet")
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    rate = Fraction(about["rate_hz"]).limit_denominator(1_000_000)
    each = int(about["frames_per_episode"])
    episodes_per_file = max(1, int(_SECONDS_PER_FILE * rate / each))
    shutil.copytree(folder, part, ignore=shutil.ignore_patterns(".shards", "data", "SHA256SUMS"))
    with contextlib.ExitStack() as open_videos:
        writers = {name: open_videos.enter_context(_Writer(part, name, rate, codec, crf, episodes_per_file * each)) for name in names}
        for path in sorted((folder / "data").glob("**/*.parquet")):
            table = parquet.read_table(path)
            for name, writer in writers.items():
                for image in table.column(name):
                    writer.append(image.as_py()["bytes"])
            to = part / path.relative_to(folder)
            to.parent.mkdir(parents=True, exist_ok=True)
            parquet.write_table(table.drop_columns(names), to)

    info = json.loads((part / "meta/info.json").read_text(encoding="utf-8"))
    info["video_path"] = _PATH
    for name in names:
        feature = info["features"][name]
        height, width, _ = feature["shape"]
        feature["dtype"] = "video"
        feature["info"] = {
            "video.height": height, "video.width": width, "video.codec": codec, "video.pix_fmt": "yuv420p",
            "video.fps": info["fps"], "video.channels": 3, "video.g": _KEY_FRAME_EVERY, "video.crf": crf,
            "has_audio": False, "is_depth_map": False,
        }  # fmt: skip
    _write_json(part / "meta/info.json", info)

    for path in sorted((part / "meta/episodes").glob("**/*.parquet")):
        table = parquet.read_table(path)
        episodes = table.column("episode_index").to_pylist()
        chunks = [episode // episodes_per_file // info["chunks_size"] for episode in episodes]
        files = [episode // episodes_per_file % info["chunks_size"] for episode in episodes]
        starts = [float(episode % episodes_per_file * each / rate) for episode in episodes]
        ends = [float((episode % episodes_per_file + 1) * each / rate) for episode in episodes]
        for name in names:
            for key, values in (("chunk_index", chunks), ("file_index", files), ("from_timestamp", starts), ("to_timestamp", ends)):
                table = table.append_column(f"videos/{name}/{key}", arrow.array(values))
        parquet.write_table(table, path)

    for column in about["columns"]:
        column["dtype"] = "video" if column["name"] in names else column["dtype"]
    about["video_frames_per_file"] = episodes_per_file * each
    _write_json(part / "dataset.json", about)
    readme = (part / "README.md").read_text(encoding="utf-8")
    for name in names:
        readme = readme.replace(f"| `{name}` | image |", f"| `{name}` | video |")
    (part / "README.md").write_text(readme, encoding="utf-8")
    paths = sorted(path.relative_to(part).as_posix() for path in part.rglob("*") if path.is_file())
    sums = "".join(f"{_sha256(part / path)}  {path}\n" for path in paths)
    (part / "SHA256SUMS").write_text(sums, encoding="utf-8")


class _Writer:
    """Encodes the images of one column into files of a fixed number of frames."""

    def __init__(self, folder: pathlib.Path, name: str, rate: Fraction, codec: str, crf: int, frames_per_file: int) -> None:
        self._folder, self._name, self._rate = folder, name, rate
        encoder, options = CODECS[codec]
        self._encoder, self._options = encoder, {"g": str(_KEY_FRAME_EVERY), "crf": str(crf), **options}
        self._frames_per_file = frames_per_file
        self._frames = 0
        self._container: Any = None
        self._stream: Any = None

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, kind: object, *raised: object) -> None:
        if kind is None:
            self._close()
        elif self._container is not None:
            self._container.close()

    def append(self, png: bytes) -> None:
        """Appends an image."""
        av = _av()
        _optional.require("a video of a data set", "PIL.Image")
        from PIL import Image

        frame = av.VideoFrame.from_image(Image.open(io.BytesIO(png)).convert("RGB"))
        file, frame.pts = divmod(self._frames, self._frames_per_file)
        frame.time_base = 1 / self._rate
        if frame.pts == 0:
            self._close()
            path = self._folder / video_file(self._name, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._container = av.open(str(path), "w", options={"movflags": "faststart"})
            self._stream = self._container.add_stream(self._encoder, self._rate, options=self._options)
            self._stream.pix_fmt, self._stream.width, self._stream.height = "yuv420p", frame.width, frame.height
        self._container.mux(self._stream.encode(frame))
        self._frames += 1

    def _close(self) -> None:
        if self._container is not None:
            self._container.mux(self._stream.encode())
            self._container.close()
            self._container = None


class Video:
    """A video file whose frames are read by number."""

    def __init__(self, path: pathlib.Path, rate_hz: float) -> None:
        self._container = _av().open(str(path))
        self._stream = self._container.streams.video[0]
        self._step = 1 / Fraction(rate_hz).limit_denominator(1_000_000) / self._stream.time_base

    def frame(self, number: int) -> Any:
        """A frame as uint8, (height, width, 3)."""
        at = round(number * self._step)
        self._container.seek(at, stream=self._stream, backward=True)
        for frame in self._container.decode(self._stream):
            if frame.pts >= at:
                return frame.to_ndarray(format="rgb24")
        raise IndexError(f"{self._container.name}: there is no frame {number}")


def video_file(name: str, file: int) -> str:
    """Path of a video file of a column."""
    return _PATH.format(video_key=name, chunk_index=file // 1000, file_index=file % 1000)


def _av() -> Any:
    # Only the errors of the AV1 encoder.
    os.environ.setdefault("SVT_LOG", "1")
    _optional.require("a video of a data set", "av")
    import av

    return av


def _sha256(path: pathlib.Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _write_json(path: pathlib.Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
