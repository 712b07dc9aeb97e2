"""Sets of an older dermis and of this one, read by the same programs: the formats changed hands, the contents must not.

The sets press a mesh into a sensor described in full, because presets, generated shapes and defaults have changed since.
"""

import math
import subprocess

import numpy
import readers
from report import make, write

SET = """
name = "before"
format = "{format}"
seed = 4
count = 12
shard = 5
sensor = [{{ file = "sensor.toml", resolution = 0.25, skin.mu = 0.0 }}]
object = [{{ folder = "parts", unit = "mm" }}]
pose.x = {{ uniform = ["-1 mm", "1 mm"] }}
pose.depth = {{ uniform = ["0.2 mm", "0.5 mm"] }}
scenario = {{ kind = "press", frames = 2 }}
randomise = [{{ key = "camera.exposure", value = {{ uniform = [0.9, 1.1] }} }}]
"""
READERS = {
    "parquet": [readers.by_pyarrow, readers.by_polars, readers.by_duckdb],
    "lerobot": [readers.by_pyarrow, readers.by_polars, readers.by_duckdb, readers.by_lerobot],
    "webdataset": [readers.by_webdataset],
    "robomimic": [readers.by_h5py, lambda folder: readers.by_robomimic(folder, load_next_obs=False)],
}
NAMES = ["pyarrow", "polars", "duckdb", "LeRobot"]
NAMES_OF = {"webdataset": ["webdataset"], "robomimic": ["h5py", "robomimic's SequenceDataset"]}
MEANT = {
    "lerobot": "contacts are numbers instead of booleans, masks have three equal channels, sets without a camera have `observation.environment_state`",
    "robomimic": "`env_args.type` is valid; `next_obs` and `mask` are new",
}
"""Differences that are meant."""


def _ball(radius_mm, rings, sectors):
    """A sphere of triangles, as OBJ."""
    lines = []
    for ring in range(1, rings):
        for sector in range(sectors):
            polar, around = math.pi * ring / rings, 2 * math.pi * sector / sectors
            place = math.sin(polar) * math.cos(around), math.sin(polar) * math.sin(around), math.cos(polar)
            lines.append("v {:.9f} {:.9f} {:.9f}".format(*(radius_mm * side for side in place)))
    top, bottom = len(lines) + 1, len(lines) + 2
    lines += [f"v 0 0 {radius_mm}", f"v 0 0 {-radius_mm}"]
    for sector in range(sectors):
        follower = (sector + 1) % sectors
        for ring in range(rings - 2):
            a, b = ring * sectors + sector + 1, ring * sectors + follower + 1
            lines += [f"f {a} {a + sectors} {b + sectors}", f"f {a} {b + sectors} {b}"]
        last = (rings - 2) * sectors + 1
        lines += [f"f {top} {sector + 1} {follower + 1}", f"f {bottom} {last + follower} {last + sector}"]
    return "\n".join(lines) + "\n"


def _alike(name, old, new):
    if name.startswith("observation.images.contact"):
        new = new[..., : old.shape[-1]]
    if name.endswith("@env_args"):
        return True
    return old.shape == new.shape and bool(numpy.array_equal(old, new))


def compare(report, dermis, older, work):
    """Makes the same set with both programs in every format and compares what each reader finds."""
    (work / "parts").mkdir(parents=True)
    write(work / "parts" / "ball.obj", _ball(12.0, 24, 48))
    write(work / "sensor.toml", subprocess.run([older, "sensors", "gelsight"], check=True, capture_output=True, text=True).stdout)
    for form, all_readers in READERS.items():
        spec = write(work / f"{form}.toml", SET.format(format=form))
        make(older, spec, work / f"{form}-old")
        make(dermis, spec, work / f"{form}-new")
        for name, read in zip(NAMES_OF.get(form, NAMES), all_readers, strict=False):
            old, new = read(work / f"{form}-old"), read(work / f"{form}-new")
            if "env_type" in old:
                del old["env_type"], new["env_type"]
            different = [column for column in old if column not in new or not _alike(column, old[column], new[column])]
            more = sorted({column for column in new if column not in old and "next_obs" not in column})
            figure = f"{len(old)} columns" + (f"; different: {', '.join(different)}" if different else "") + (f"; new: {', '.join(more)}" if more else "")
            report.judge(f"`{form}`: {name} reads the same contents before and after", not different, figure)
        if form in MEANT:
            report.say(f"- `{form}`, meant to differ: {MEANT[form]}")
