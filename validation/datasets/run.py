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

import before
import readers
import training
from report import Report, example, make, write

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAMS = ["lerobot", "datasets", "webdataset", "pyarrow", "polars", "duckdb", "h5py", "robomimic", "av", "torch"]
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


def read_lerobot(report, dermis, work):
    """Compares every column that LeRobot returns with the plain table."""
    import numpy
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    from dermis.dataset import Touches

    slides = re.sub(r"count = \d+", "count = 8", example(dermis, "slides")).replace('"webdataset"', '"{format}"').replace("frames = 12", "frames = 4")
    grasps = re.sub(r"count = \d+", "count = 2", example(dermis, "grasps")).replace('"lerobot"', '"{format}"').replace("frames = 45", "frames = 20")
    arrays = re.sub(r"count = \d+", "count = 64", example(dermis, "array")).replace('format = "lerobot"', 'format = "{format}"')
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
        column = next(column for column in ours.columns if column.endswith("state"))
        alike &= bool(numpy.allclose(theirs.meta.stats[column]["mean"], ours.column(column).mean(axis=0), atol=1e-6))
        kinds = f"{theirs.num_episodes} episodes, {len(theirs)} frames, {len(theirs.features)} features"
        report.judge(f"LeRobot reads `{name}` as it was written", alike, kinds)


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
    from robomimic.envs.env_base import EnvType

    rows = readers.by_robomimic(work / "images-hdf5")
    alike = len(rows["actions"]) == len(ours) and set(rows["env_type"]) == {EnvType.GYM_TYPE}
    for ours_name, name in (("images.tactile", "image"), ("images.contact", "contact_image"), ("force", "force"), ("state", "state")):
        column = ours.column(f"observation.{ours_name}")
        alike &= bool(numpy.array_equal(rows[f"obs/{name}"], column))
        # The next frame of the episode of two frames; the last one repeats itself.
        alike &= bool(numpy.array_equal(rows[f"next_obs/{name}"], numpy.repeat(column[1::2], 2, axis=0)))
    alike &= bool(numpy.array_equal(rows["actions"], ours.column("action")))
    parts = [len(readers.by_robomimic(work / "images-hdf5", mask)["actions"]) for mask in ("train", "valid")]
    figure = f"{parts[0]} frames for training, {parts[1]} for validation"
    report.judge("robomimic's own loader reads the same observations, next observations and masks", alike and parts == [76, 8], figure)
    more = make(dermis, write(work / "memory.toml", IMAGES.format(format="robomimic").replace("0.25", "1.0").replace("= 10", "= 42")), work / "memory")
    size = max(path.stat().st_size for path in (work / "memory").glob("*.hdf5"))
    peak = more["peak_memory_bytes"]
    report.judge("a shard of robomimic is written with less memory than its size", peak < size, f"{peak / 1e6:.0f} MB for {size / 1e6:.0f} MB")


def read_parquet(report, work):
    """Three readers of Parquet and ours."""
    import numpy

    from dermis.dataset import Touches

    for name in ("arrays-parquet", "images-parquet", "grasps-lerobot"):
        ours = Touches(work / name)
        tables = [read(work / name) for read in (readers.by_pyarrow, readers.by_polars, readers.by_duckdb)]
        alike = all(numpy.array_equal(table[column].reshape(ours.column(column).shape), ours.column(column)) for table in tables for column in ours.columns)
        report.judge(f"pyarrow, polars and duckdb read the same table of `{name}`", alike, f"{len(ours.columns)} columns, {len(ours)} rows")


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
    # An incomplete file without an owner is removed once it is two seconds old.
    time.sleep(2.5)
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
        spec = write(work / f"{name}.toml", example(dermis, name))
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


def compare(report, options, work):
    if options.before is None:
        report.say("- not tried: sets of an older program, because none was given with --before")
    else:
        before.compare(report, options.dermis, options.before, work / "before")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for flag in ("--dermis", "--work", "--log"):
        parser.add_argument(flag, type=pathlib.Path, required=True)
    parser.add_argument("--only", action="append", help="one of the parts: read, videos, train, before, stop, speed, learn")
    parser.add_argument("--wheel", type=pathlib.Path, help="the wheel of dermis; by default it is built")
    parser.add_argument("--before", type=pathlib.Path, help="an older program, for the part `before`")
    options = parser.parse_args()
    if options.wheel is None:
        subprocess.run(["cargo", "xtask", "wheel"], cwd=ROOT, check=True)
    wheel = options.wheel or next((ROOT / "dist").glob("dermis-*.whl"))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--force-reinstall", str(wheel)], check=True)
    # Without its requirements: one of them is a renderer that has to be compiled.
    subprocess.run([*pip, "robomimic"], check=True)
    work = options.work / "sets"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    os.environ["HF_HOME"] = str(work / "huggingface")
    os.environ["HF_HUB_OFFLINE"] = "1"
    report = Report()
    today = datetime.date.today().isoformat()
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PROGRAMS)
    report.say(f"# Data sets, {today}\n\n{versions}\n")
    parts = {
        "read": lambda: (read_lerobot(report, options.dermis, work), read_webdataset(report, options.dermis, work), read_hdf5(report, options.dermis, work), read_parquet(report, work)),
        "videos": lambda: training.videos(report, options.dermis, work),
        "train": lambda: training.train(report, options.dermis, work),
        "before": lambda: compare(report, options, work),
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
