"""Data sets from Python: made, checked, read by pyarrow, and refused."""

import hashlib
import io
import json
import pathlib
import subprocess
import sys
import tarfile

import numpy as np
import pytest

import dermis
from dermis import dataset

SPEC = """
name = "small"
format = "{format}"
seed = 4
count = 10
shard = 4
sensor = [{{ preset = "gelsight", resolution = 0.125, skin.cell = "0.5 mm", skin.mu = 0.0 }}]
object = [{{ indenters = ["sphere", "moon"] }}]
pose.x = {{ uniform = ["-1 mm", "1 mm"] }}
pose.depth = {{ values = ["0 mm", "0.5 mm", "1 mm"] }}
scenario = {{ kind = "press", frames = 2 }}
randomise = [{{ key = "camera.exposure", value = {{ uniform = [0.9, 1.1] }} }}]
"""


@pytest.fixture
def spec(tmp_path):
    def written(form="lerobot"):
        path = tmp_path / f"{form}.toml"
        path.write_text(SPEC.format(format=form))
        return path

    return written


def digest(folder):
    files = sorted(path for path in pathlib.Path(folder).rglob("*") if path.is_file())
    return hashlib.sha256(b"".join(str(path.relative_to(folder)).encode() + path.read_bytes() for path in files)).hexdigest()


def test_the_same_rows_in_both_formats_and_with_any_number_of_threads(spec, tmp_path):
    told = []
    dataset.make(spec(), tmp_path / "a", threads=1, progress=lambda made, wanted: told.append((made, wanted)))
    dataset.make(spec(), tmp_path / "b", threads=3)
    assert digest(tmp_path / "a") == digest(tmp_path / "b") and told[-1] == (10, 10)
    dataset.make(spec("parquet"), tmp_path / "c")
    assert dataset.check(tmp_path / "c") > 10 * 2 * 2
    inside, beside = dataset.Touches(tmp_path / "a"), dataset.Touches(tmp_path / "c")
    assert len(inside) == len(beside) == 20 and inside.labels == ["sphere", "moon"]
    for row in range(20):
        ours, theirs = inside[row], beside[row]
        assert ours.keys() == theirs.keys()
        # LeRobot's masks have three equal channels.
        ours["observation.images.contact"] = ours["observation.images.contact"][..., :1]
        assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    last = inside[-1]
    assert last["observation.images.tactile"].shape == (60, 80, 3) and last["observation.images.contact"].shape == (60, 80, 3)
    assert last["observation.force"].shape == (400, 3) and last["observation.tactile"].dtype == np.float32
    assert (int(last["episode_index"]), int(last["frame_index"]), int(last["label"])) == (9, 1, 1)
    with pytest.raises(IndexError):
        inside[20]


def test_labels_tell_what_was_done(spec, tmp_path):
    """Depths of the grid come in turn, both objects at each; nothing is touched at depth 0; deeper is more force and more contact."""
    dataset.make(spec(), tmp_path / "a")
    touches = dataset.Touches(tmp_path / "a", columns=["observation.depth", "observation.wrench", "observation.images.contact", "label"])
    at_rest, half, whole = (touches[1 + 2 * 2 * step] for step in range(3))
    assert np.all(at_rest["observation.wrench"] == 0) and not at_rest["observation.images.contact"].any()
    assert 0 < -half["observation.wrench"][2] < -whole["observation.wrench"][2]
    assert 0 < half["observation.images.contact"].sum() < whole["observation.images.contact"].sum()
    assert np.array_equal(touches.column("label"), np.arange(20) // 2 % 2)


def test_a_webdataset_is_a_tar_of_samples(spec, tmp_path):
    dataset.make(spec("webdataset"), tmp_path / "w")
    with tarfile.open(tmp_path / "w" / "shard-000002.tar") as tar:
        names = tar.getnames()
        assert len(names) == 2 * 2 * 5 and names[0].startswith("00000008-0000.")
        about = json.load(tar.extractfile("00000009-0001.json"))
        force = np.load(io.BytesIO(tar.extractfile("00000009-0001.force.npy").read()))
    assert about["name"] == "moon" and force.shape == (400, 3)
    with pytest.raises(dermis.Error, match="webdataset"):
        dataset.Touches(tmp_path / "w")


@pytest.mark.parametrize("codec", ["av1", "h264"])
def test_videos_show_the_images_of_a_lerobot_set(spec, tmp_path, codec):
    """Layout and metadata of LeRobot v3.0; rows as before, images within the loss of the codec, masks exact after a threshold."""
    pytest.importorskip("av")
    parquet = pytest.importorskip("pyarrow.parquet")
    dataset.make(spec(), tmp_path / "images")
    dataset.encode_videos(tmp_path / "images", tmp_path / "videos", codec=codec)
    images, videos = dataset.Touches(tmp_path / "images"), dataset.Touches(tmp_path / "videos")
    seen = {name for name in images.columns if name.startswith("observation.images.")}
    for row in (0, 1, 7, 19, -1):
        ours, theirs = images[row], videos[row]
        assert ours.keys() == theirs.keys()
        assert all(np.array_equal(ours[name], theirs[name]) for name in ours.keys() - seen)
        tactile = np.abs(ours["observation.images.tactile"].astype(int) - theirs["observation.images.tactile"])
        assert tactile.shape == (60, 80, 3) and tactile.mean() < 3.0, tactile.mean()
        assert np.array_equal(ours["observation.images.contact"] > 127, theirs["observation.images.contact"] > 127)
    assert np.array_equal(videos.column("observation.images.tactile")[7], videos[7]["observation.images.tactile"])

    info = json.loads((tmp_path / "videos/meta/info.json").read_text())
    about = info["features"]["observation.images.tactile"]
    assert about["dtype"] == "video" and about["info"]["video.codec"] == codec and about["info"]["video.fps"] == info["fps"]
    rows = parquet.read_table(tmp_path / "videos/meta/episodes/chunk-000/file-000.parquet").to_pylist()
    for row in rows:
        key = "videos/observation.images.tactile/"
        name = info["video_path"].format(video_key="observation.images.tactile", chunk_index=row[key + "chunk_index"], file_index=row[key + "file_index"])
        assert (tmp_path / "videos" / name).is_file()
        assert row[key + "from_timestamp"] == pytest.approx(row["dataset_from_index"] / info["fps"], abs=1e-9)
        assert row[key + "to_timestamp"] == pytest.approx(row["dataset_to_index"] / info["fps"], abs=1e-9)
    assert dataset.check(tmp_path / "videos") == sum(path.is_file() for path in (tmp_path / "videos").rglob("*")) - 1
    assert not (tmp_path / "videos.part").exists()


def test_long_videos_are_split_between_episodes(spec, tmp_path, monkeypatch):
    """LeRobot compares times in 32 bits: a file holds only so many seconds."""
    pytest.importorskip("av")
    from dermis import _video

    monkeypatch.setattr(_video, "_SECONDS_PER_FILE", 0.21)  # 3 episodes of 2 frames at 30 Hz
    dataset.make(spec(), tmp_path / "images")
    dataset.encode_videos(tmp_path / "images", tmp_path / "videos", columns=["observation.images.contact"])
    files = sorted(path.relative_to(tmp_path / "videos").as_posix() for path in (tmp_path / "videos/videos").rglob("*.mp4"))
    assert files == [f"videos/observation.images.contact/chunk-000/file-00{file}.mp4" for file in range(4)]
    images, videos = (dataset.Touches(tmp_path / name).column("observation.images.contact") for name in ("images", "videos"))
    assert np.array_equal(images > 127, videos > 127) and images.any()


def test_videos_are_made_from_the_command_line(spec, tmp_path):
    pytest.importorskip("av")
    dataset.make(spec(), tmp_path / "images")
    command = [sys.executable, "-m", "dermis", "videos", tmp_path / "images", "--out", tmp_path / "videos", "--codec", "h264"]
    first = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "MB" in first.stdout and dataset.check(tmp_path / "videos") > 0
    again = subprocess.run(command, check=False, capture_output=True, text=True)
    assert again.returncode == 1 and again.stderr.startswith("dermis: ") and "is not empty" in again.stderr


def test_sets_that_cannot_become_videos_are_refused(spec, tmp_path):
    dataset.make(spec("parquet"), tmp_path / "table")
    dataset.make(spec(), tmp_path / "images")
    encode, images = dataset.encode_videos, tmp_path / "images"
    with pytest.raises(dermis.Error, match="format 'parquet'"):
        encode(tmp_path / "table", tmp_path / "x")
    with pytest.raises(dermis.Error, match="exists and is not empty"):
        encode(images, tmp_path / "table")
    with pytest.raises(dermis.Error, match="codec must be one of av1, h264"):
        encode(images, tmp_path / "x", codec="vp9")
    with pytest.raises(dermis.Error, match="crf must be 0 to 51"):
        encode(images, tmp_path / "x", codec="h264", crf=60)
    with pytest.raises(dermis.Error, match="no images 'observation.images.depth'; there are"):
        encode(images, tmp_path / "x", columns=["observation.images.depth"])
    with pytest.raises(FileNotFoundError, match="finished"):
        encode(tmp_path, tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_what_cannot_be_is_told(spec, tmp_path):
    path = spec()
    assert dataset.describe(path)["shards"] == 3
    path.write_text(path.read_text().replace("count = 10", "count = 0"))
    with pytest.raises(dermis.Error, match="`count` must be at least 1"):
        dataset.make(path, tmp_path / "x")
    with pytest.raises(FileNotFoundError):
        dataset.make(tmp_path / "none.toml", tmp_path / "x")
    with pytest.raises(FileNotFoundError, match="finished"):
        dataset.Touches(tmp_path)
