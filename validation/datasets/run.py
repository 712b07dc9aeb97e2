"""Generates data sets and reads them with third-party programs; kills and resumes runs, fills a disk, measures; writes a dated log."""

import argparse
import datetime
import importlib.metadata
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
IMAGES = """
name = "images"
format = "{format}"
seed = 2
count = 42
shard = 10
sensor = [{{ preset = "gelsight", resolution = 0.25, skin.mu = 0.0 }}]
object = [{{ indenters = ["all"] }}]
pose.x = {{ uniform = ["-1 mm", "1 mm"] }}
pose.depth = {{ uniform = ["0.3 mm", "1 mm"] }}
scenario = {{ kind = "press", frames = 2 }}
randomise = [{{ key = "camera.exposure", value = {{ uniform = [0.9, 1.1] }} }}]
"""


class Report:
    def __init__(self):
        self.lines, self.failed = [], []

    def say(self, line):
        print(line, flush=True)
        self.lines.append(line)

    def judge(self, what, holds, figure=""):
        self.say(f"- {'holds' if holds else '**does not hold**'}: {what}{f' ({figure})' if figure else ''}")
        if not holds:
            self.failed.append(what)


def make(dermis, spec, out, *more):
    run = subprocess.run([dermis, "dataset", "make", spec, "--out", out, "--json", *more], check=True, capture_output=True)
    return json.loads(run.stdout)


def write(path, text):
    path.write_text(text)
    return path


def read_lerobot(report, dermis, work):
    """Compares every column that LeRobot returns with the plain table."""
    import numpy
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    from dermis.dataset import Touches

    example = lambda name: subprocess.run([dermis, "dataset", "example", name], check=True, capture_output=True, text=True).stdout
    slides = re.sub(r"count = \d+", "count = 8", example("slides")).replace('"webdataset"', '"{format}"').replace("frames = 12", "frames = 4")
    grasps = re.sub(r"count = \d+", "count = 4", example("grasps")).replace('"lerobot"', '"{format}"').replace("frames = 45", "frames = 20")
    arrays = re.sub(r"count = \d+", "count = 64", example("array")).replace('format = "lerobot"', 'format = "{format}"')
    bare = lambda text: text.replace("{{", "{").replace("}}", "}")
    for name, text in (("images", bare(IMAGES)), ("slides", slides), ("grasps", grasps), ("arrays", arrays)):
        for form in ("lerobot", "parquet"):
            make(dermis, write(work / f"{name}-{form}.toml", text.replace("{format}", form)), work / f"{name}-{form}")
        theirs = LeRobotDataset(f"dermis/{name}", root=work / f"{name}-lerobot")
        ours = Touches(work / f"{name}-parquet")
        alike = len(theirs) == len(ours)
        for row in range(0, len(ours), max(1, len(ours) // 12)):
            for column, value in ours[row].items():
                read = theirs[row][column].numpy()
                if column.startswith("observation.images."):
                    # LeRobot's masks have three equal channels.
                    read = numpy.rint(read.transpose(1, 2, 0) * 255).astype(numpy.uint8)[..., : value.shape[-1]]
                alike &= bool(numpy.array_equal(read.reshape(value.shape), value))
            alike &= theirs[row]["task"].endswith(ours.labels[int(ours[row]["label"])])
        stats = theirs.meta.stats["observation.state"]["mean"] if "observation.state" in theirs.meta.stats else None
        if stats is not None:
            alike &= bool(numpy.allclose(stats, ours.column("observation.state").mean(axis=0), atol=1e-6))
        kinds = f"{theirs.num_episodes} episodes, {len(theirs)} frames, {len(theirs.features)} features"
        report.judge(f"LeRobot reads `{name}` as it was written", alike, kinds)


def train(report, dermis, work):
    """Runs ten steps of LeRobot's own training script for two policies on every example set, and loads the sets with `datasets`."""
    import datasets

    kinds_of_sets = {"array": "taxels", "indenters": "images", "slides": "taxels in motion", "grasps": "two sensors"}
    for name, kind in kinds_of_sets.items():
        text = subprocess.run([dermis, "dataset", "example", name], check=True, capture_output=True, text=True).stdout
        text = re.sub(r"^count = .*$", "count = 6", text, flags=re.M)
        text = re.sub(r'^format = "[a-z]+"', 'format = "lerobot"', text, flags=re.M)
        folder = work / f"train-{name}"
        make(dermis, write(work / f"train-{name}.toml", text), folder)
        rows = datasets.load_dataset(str(folder), split="train")
        info = json.loads((folder / "meta" / "info.json").read_text())
        report.judge(f"`datasets.load_dataset` reads `{name}` ({kind})", len(rows) == info["total_frames"], f"{len(rows)} rows")
        for policy, flags in (
            ("act", ["--policy.pretrained_backbone_weights=null"]),
            ("diffusion", ["--policy.drop_n_last_frames=0"]),
        ):
            command = [pathlib.Path(sys.executable).parent / "lerobot-train", f"--dataset.repo_id=dermis/{name}", f"--dataset.root={folder}"]
            command += [f"--policy.type={policy}", "--policy.device=cpu", "--policy.push_to_hub=false", *flags]
            command += ["--steps=10", "--batch_size=2", "--num_workers=0", "--log_freq=10", "--save_checkpoint=false", "--wandb.enable=false"]
            run = subprocess.run([*command, f"--output_dir={work / f'trained-{name}-{policy}'}"], check=False, capture_output=True, text=True)
            loss = re.findall(r"loss:([0-9.e+-]+)", run.stdout + run.stderr)
            why = f"loss {loss[-1]}" if loss else (run.stderr.strip().splitlines() or ["no output"])[-1][:300]
            report.judge(f"`lerobot-train` runs 10 steps of `{policy}` on `{name}`", run.returncode == 0 and bool(loss), why)


def read_webdataset(report, dermis, work):
    import numpy
    import webdataset

    from dermis.dataset import Touches

    spec = write(work / "images-web.toml", IMAGES.format(format="webdataset"))
    make(dermis, spec, work / "images-web")
    shards = sorted(str(path) for path in (work / "images-web").glob("*.tar"))
    rows = list(webdataset.WebDataset(shards, shardshuffle=False).decode("rgb8"))
    ours = Touches(work / "images-parquet")
    alike = len(rows) == len(ours)
    for theirs, row in zip(rows, (ours[i] for i in range(len(ours)))):
        alike &= bool(numpy.array_equal(theirs["png"], row["observation.images.tactile"]))
        alike &= bool(numpy.array_equal(theirs["tactile.npy"], row["observation.tactile"]))
        alike &= theirs["json"]["label"] == int(row["label"]) and theirs["json"]["seed"] == int(row["seed"])
    report.judge("webdataset reads the same images, arrays and labels", alike, f"{len(rows)} samples in {len(shards)} shards")


def read_hdf5(report, dermis, work):
    import h5py
    import numpy

    from dermis.dataset import Touches

    make(dermis, write(work / "images-hdf5.toml", IMAGES.format(format="robomimic")), work / "images-hdf5")
    ours = Touches(work / "images-parquet")
    alike, demos = True, 0
    for path in sorted((work / "images-hdf5").glob("*.hdf5")):
        with h5py.File(path) as file:
            alike &= json.loads(file["data"].attrs["env_args"])["env_name"] == "images"
            for name, demo in file["data"].items():
                rows = [ours[2 * int(name.removeprefix("demo_")) + frame] for frame in range(2)]
                stacked = lambda column: numpy.stack([row[column] for row in rows])
                alike &= demo.attrs["num_samples"] == 2 and demo.attrs["seed"] == rows[0]["seed"]
                alike &= bool(numpy.array_equal(demo["obs/image"], stacked("observation.images.tactile")))
                alike &= bool(numpy.array_equal(demo["obs/force"], stacked("observation.force")))
                alike &= bool(numpy.array_equal(demo["actions"], stacked("action")))
                demos += 1
    report.judge("h5py reads the same demonstrations in robomimic's layout", alike and demos == 42, f"{demos} of them")


def read_parquet(report, work):
    import polars
    import pyarrow.dataset

    folder = work / "arrays-parquet" / "data"
    arrow = pyarrow.dataset.dataset(folder).to_table()
    frame = polars.read_parquet(folder / "*.parquet")
    alike = arrow.num_rows == len(frame) == 64 and arrow.column("seed").to_pylist() == frame["seed"].to_list()
    alike &= arrow.column("observation.tactile").to_pylist() == frame["observation.tactile"].to_list()
    report.judge("pyarrow and polars read the same table", alike, f"{arrow.num_columns} columns")


def interrupt(report, dermis, work):
    """Stops and resumes a run 20 times at random times."""
    spec = write(work / "stops.toml", IMAGES.format(format="lerobot").replace("count = 42", "count = 420"))
    whole = make(dermis, spec, work / "stops-once")["wall_s"]
    chance = random.Random(4)
    stops, runs = 0, 0
    folder = work / "stops"
    while stops < 20:
        runs += 1
        shutil.rmtree(folder, ignore_errors=True) if (folder / "SHA256SUMS").exists() else None
        child = subprocess.Popen([dermis, "dataset", "make", spec, "--out", folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.02, 0.5) * whole)
        child.send_signal(signal.SIGINT if stops % 2 else signal.SIGKILL)
        stops += child.wait() != 0
    make(dermis, spec, folder)
    same = (folder / "SHA256SUMS").read_bytes() == (work / "stops-once" / "SHA256SUMS").read_bytes()
    names = lambda where: sorted(str(path.relative_to(where)) for path in where.rglob("*"))
    checked = subprocess.run([dermis, "dataset", "check", folder], check=False).returncode == 0
    same &= checked and names(folder) == names(work / "stops-once")
    report.judge("stopped 20 times at random times (SIGINT, SIGKILL) and resumed: the same files", same, f"{runs} runs")


def fill(report, dermis, work):
    """Fills a file system of 8 MB during a run."""
    place = work / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", place], check=False, capture_output=True)
    if mounted.returncode:
        report.say("- not tried: a file system of 8 MB could not be mounted here")
        return
    try:
        run = subprocess.run(
            [dermis, "dataset", "make", work / "stops.toml", "--out", place / "set"], check=False, capture_output=True, text=True
        )
        lines = run.stderr.strip().splitlines()
        kept = len(list((place / "set" / ".shards").glob("*.json")))
        report.judge("a full disk stops it with one sentence", run.returncode != 0 and len(lines) == 1 and "the disk is full" in lines[0], lines[-1].replace(str(work), ""))
        shutil.copytree(place / "set", work / "moved")
        resumed = make(dermis, work / "stops.toml", work / "moved")
        same = (work / "moved" / "SHA256SUMS").read_bytes() == (work / "stops-once" / "SHA256SUMS").read_bytes()
        report.judge("nothing finished is lost: resumed where there is room, the same hashes", same and resumed["found"] == 10 * kept and kept > 0, f"{kept} shards were kept")
    finally:
        subprocess.run(["umount", place], check=True)


def measure(report, dermis, work):
    report.say(f"- load of the machine before measuring: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for name, limit in (("array", 60.0), ("indenters", 120.0)):
        text = subprocess.run([dermis, "dataset", "example", name], check=True, capture_output=True, text=True).stdout
        spec = write(work / f"{name}.toml", text)
        found = {}
        for threads in (2, 1):
            shutil.rmtree(work / f"speed-{name}", ignore_errors=True)
            found[threads] = make(dermis, spec, work / f"speed-{name}", "--threads", str(threads))
        two, one = found[2], found[1]
        memory = max(one["peak_memory_bytes"], two["peak_memory_bytes"]) / 1e6
        report.judge(f"`{name}`: {two['episodes']} episodes in at most {limit:.0f} s on two cores", two["wall_s"] <= limit, f"{two['wall_s']:.1f} s, {two['cpu_s']:.1f} s of CPU")
        report.judge(f"`{name}`: two cores are at least 1.8 times as fast as one", one["wall_s"] / two["wall_s"] >= 1.8, f"{one['wall_s'] / two['wall_s']:.2f} times; {one['wall_s']:.1f} s on one")
        report.judge(f"`{name}`: memory under 1 GB", memory < 1000, f"{memory:.0f} MB")


def classify(report, work):
    start = time.time()
    example = ROOT / "bindings" / "python" / "examples" / "classify_indenters.py"
    run = subprocess.run([sys.executable, example, work / "indenters"], check=False, capture_output=True, text=True)
    for line in run.stdout.splitlines():
        report.say(f"- {line}")
    report.judge("the example ends well", run.returncode == 0, f"{time.time() - start:.0f} s with the making of its images{run.stderr[-300:] if run.returncode else ''}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for flag in ("--dermis", "--work", "--log"):
        parser.add_argument(flag, type=pathlib.Path, required=True)
    parser.add_argument("--only", action="append", help="one of the parts: read, train, stop, speed, learn")
    options = parser.parse_args()
    subprocess.run(["cargo", "xtask", "wheel"], cwd=ROOT, check=True)
    wheel = next((ROOT / "dist").glob("dermis-*.whl"))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", str(wheel)]
    subprocess.run(pip, check=True)
    work = options.work / "sets"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    os.environ["HF_HOME"] = str(work / "huggingface")
    os.environ["HF_HUB_OFFLINE"] = "1"
    report = Report()
    today = datetime.date.today().isoformat()
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("lerobot", "datasets", "webdataset", "pyarrow", "polars", "torch"))
    report.say(f"# Data sets, {today}\n\n{versions}\n")
    parts = {
        "read": lambda: (read_lerobot(report, options.dermis, work), read_webdataset(report, options.dermis, work), read_hdf5(report, options.dermis, work), read_parquet(report, work)),
        "train": lambda: train(report, options.dermis, work),
        "stop": lambda: (interrupt(report, options.dermis, work), fill(report, options.dermis, work)),
        "speed": lambda: measure(report, options.dermis, work),
        "learn": lambda: classify(report, work),
    }
    for name, part in parts.items():
        if not options.only or name in options.only:
            part()
    (options.log / f"log-{today}.md").write_text("\n".join(report.lines) + "\n")
    if report.failed:
        sys.exit(f"{len(report.failed)} lines do not hold: {'; '.join(report.failed)}")


if __name__ == "__main__":
    main()
