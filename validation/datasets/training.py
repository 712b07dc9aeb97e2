"""Ten steps of LeRobot's own training script on every example set, and on a set with videos."""

import json
import pathlib
import re
import subprocess
import sys
import time

import numpy
import readers
from report import example, make, write

EXAMPLES = {"array": "taxels", "indenters": "images", "slides": "taxels in motion", "grasps": "two sensors"}
POLICIES = {"act": [], "diffusion": ["--policy.drop_n_last_frames=0"]}


def _made(dermis, work, name, count):
    """The example set of a name with few episodes, in LeRobot's format."""
    text = re.sub(r"^count = .*$", f"count = {count}", example(dermis, name), flags=re.M)
    text = re.sub(r'^format = "[a-z]+"', 'format = "lerobot"', text, flags=re.M)
    folder = work / f"train-{name}"
    make(dermis, write(work / f"train-{name}.toml", text), folder)
    return folder


def _train(report, work, name, folder, policy):
    command = [pathlib.Path(sys.executable).parent / "lerobot-train", f"--dataset.repo_id=dermis/{name}", f"--dataset.root={folder}"]
    command += ["--dataset.video_backend=pyav", f"--policy.type={policy}", "--policy.device=cpu", "--policy.push_to_hub=false"]
    command += ["--policy.pretrained_backbone_weights=null"]  # they would be downloaded
    command += ["--steps=10", "--batch_size=2", "--num_workers=0", "--log_freq=10", "--save_checkpoint=false", "--wandb.enable=false"]
    start = time.time()
    run = subprocess.run(
        [*command, *POLICIES[policy], f"--output_dir={work / f'trained-{name}-{policy}'}"], check=False, capture_output=True, text=True
    )
    loss = re.findall(r"loss:([0-9.e+-]+)", run.stdout + run.stderr)
    why = f"loss {loss[-1]}" if loss else (run.stderr.strip().splitlines() or ["no output"])[-1][:300]
    holds = run.returncode == 0 and bool(loss)
    report.judge(f"`lerobot-train` runs 10 steps of `{policy}` on `{name}`", holds, f"{why}, {time.time() - start:.0f} s")


def train(report, dermis, work):
    """Trains two policies on every example set, and loads the sets with `datasets`."""
    import datasets

    for name, kind in EXAMPLES.items():
        folder = _made(dermis, work, name, 6)
        rows = datasets.load_dataset(str(folder), split="train")
        info = json.loads((folder / "meta" / "info.json").read_text())
        report.judge(f"`datasets.load_dataset` reads `{name}` ({kind})", len(rows) == info["total_frames"], f"{len(rows)} rows")
        for policy in POLICIES:
            _train(report, work, name, folder, policy)


def videos(report, dermis, work):
    """Compares the frames of videos, as LeRobot reads them, with the images from which they were encoded; trains on them."""
    from dermis.dataset import check, encode_videos

    (work / "video").mkdir()
    folder = _made(dermis, work / "video", "indenters", 42)
    images = readers.by_lerobot(folder)
    size = sum(len(row["bytes"]) for row in _png(folder, "observation.images.tactile"))
    for codec, mean_levels in (("av1", 2.5), ("h264", 2.5)):
        out = work / "video" / codec
        encode_videos(folder, out, codec=codec)
        found = readers.by_lerobot(out)
        same = images.keys() == found.keys() and check(out) > 0
        same &= all(numpy.array_equal(images[name], found[name]) for name in images if not name.startswith("observation.images."))
        report.judge(f"LeRobot reads a set with {codec} videos: all other columns as before", same, f"{len(found['index'])} frames")
        error = numpy.abs(images["observation.images.tactile"].astype(int) - found["observation.images.tactile"])
        smaller = size / sum(path.stat().st_size for path in (out / "videos" / "observation.images.tactile").rglob("*.mp4"))
        figure = f"mean {error.mean():.2f} levels, 99 % within {numpy.percentile(error, 99):.0f}; {smaller:.0f} times smaller than PNG"
        report.judge(f"frames of {codec} videos are the images within {mean_levels} levels on average", error.mean() < mean_levels, figure)
        exact = numpy.array_equal(images["observation.images.contact"] > 127, found["observation.images.contact"] > 127)
        report.judge(f"masks of {codec} videos are exact after a threshold", exact)
        _train(report, work / "video", codec, out, "act")


def _png(folder, column):
    from pyarrow import parquet

    return [row for path in sorted((folder / "data").glob("**/*.parquet")) for row in parquet.read_table(path)[column].to_pylist()]
