"""Logs a world, a reading and a recording with Rerun's own SDK, reads the file back, and writes a dated log."""

import argparse
import datetime
import importlib.metadata
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENE = """
[world]
duration = "0.2 s"
time_step = "0.5 ms"

[[body]]
name = "cube"
motion = "free"
mass = "100 g"
shape.cuboid.size = ["20 mm", "40 mm", "20 mm"]
at = ["0 mm", "0 mm", "30 mm"]

[[sensor]]
name = "Left pad"
preset = "uji-foam-14x6"
skin.damping = "2 N s/m"
at = ["0 mm", "0 mm", "20 mm"]
"""


def install():
    """Installs the wheel of this repository into the current environment."""
    subprocess.run(["cargo", "xtask", "wheel"], cwd=ROOT, check=True)
    (wheel,) = (ROOT / "dist").glob("dermis-*.whl")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"]
    subprocess.run([*pip, wheel], check=True)
    return wheel.name


def columns(chunks, entity, part):
    """Times (s) and values of a component of an entity, in the order of time."""
    rows = []
    for chunk in chunks:
        if chunk.entity_path != entity or chunk.is_static:
            continue
        batch = chunk.to_record_batch()
        (name,) = [name for name in batch.schema.names if name.endswith(part)]
        times = batch.column("time").cast("int64").to_numpy(zero_copy_only=False) * 1e-9
        rows += zip(times, batch.column(name).to_pylist())
    return sorted(rows, key=lambda row: row[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for flag in ("--dermis", "--work", "--log"):
        parser.add_argument(flag, type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    wheel = install()
    import rerun as rr

    import dermis
    import dermis.rerun

    file = options.work / "touch.rrd"
    stream = rr.RecordingStream("touch")
    stream.save(file)
    world = dermis.World.parse(SCENE)
    forces, heights, times = [], [], []
    for _ in range(20):
        world.step(20)
        dermis.rerun.log(world, recording=stream)
        forces.append(world.reading("Left pad").force)
        heights.append(world.pose("cube")[2, 3])
        times.append(world.time)
    recording = dermis.World.parse(SCENE).run()
    dermis.rerun.log(recording, "whole", recording=stream)
    seen = dermis.Sensor.preset("gelsight").press(dermis.Object.sphere(radius=4e-3), depth=0.5e-3)
    dermis.rerun.log(seen, "press", recording=stream, time=1.0)
    stream.flush()
    stream.disconnect()

    chunks = list(rr.chunk.RrdReader(file).stream())
    entities = {chunk.entity_path for chunk in chunks}
    lines, failed = [], []

    def check(what, well, shown):
        line = f"- {what}: {shown}" + ("" if well else " FAILED")
        print(line, flush=True)
        lines.append(line)
        if not well:
            failed.append(what)

    wanted = {
        *(f"/dermis/readings/left_pad/{what}" for what in ("force", "torque", "sum", "tactile", "taxels")),
        *("/dermis/sensors/left_pad", "/dermis/sensors/left_pad/mesh", "/dermis/bodies/cube", "/dermis/bodies/cube/mesh"),
        *("/whole/readings/left_pad/force", "/whole/bodies/cube", "/press/camera", "/press/tactile"),
    }
    check("entities", wanted <= entities, f"{len(wanted & entities)} of {len(wanted)}")
    two = SCENE + SCENE[SCENE.index("[[sensor]]"):].replace("Left", "Right").replace('"0 mm", "20 mm"]', '"50 mm", "20 mm"]')
    scene, *pads = dermis.rerun.blueprint(dermis.World.parse(two)).root_container.contents
    origins = [[str(view.origin) for view in pad.contents] for pad in pads]
    apart = [[f"dermis/readings/{name}_pad/{what}" for what in ("tactile", "force")] for name in ("left", "right")]
    check("two sensors in columns of their own", origins == apart, str(origins))
    static = {chunk.entity_path for chunk in chunks if chunk.is_static}
    check("meshes, once for all times", {"/dermis/bodies/cube/mesh", "/dermis/sensors/left_pad/mesh"} <= static, "static")
    rows = columns(chunks, "/dermis/readings/left_pad/force", "scalars")
    well = np.allclose([row[1] for row in rows], forces, atol=0) and np.allclose([row[0] for row in rows], times)
    check("forces of a world that runs", well, f"{len(rows)} times, the last {rows[-1][1][2]:.4f} N at {rows[-1][0]:.3f} s")
    rows = columns(chunks, "/dermis/bodies/cube", "translation")
    check("where the cube was", np.allclose([row[1][0][2] for row in rows], heights, atol=1e-7), f"{len(rows)} times")
    rows = columns(chunks, "/whole/readings/left_pad/taxels", "scalars")
    well = np.array_equal([row[1] for row in rows], recording.taxels("Left pad"))
    check("taxels of a recording", well, f"{len(rows)} times, {len(rows[0][1])} values")
    ((_, image),) = columns(chunks, "/press/camera", "buffer")
    check("an image", bytes(np.array(image[0], np.uint8)) == seen.image.tobytes(), f"{seen.image.shape}, the same bytes")
    today = datetime.date.today().isoformat()
    head = [f"# In Rerun, {today}", "", f"{wheel}; rerun-sdk {importlib.metadata.version('rerun-sdk')}", ""]
    (options.log / f"log-{today}.md").write_text("\n".join([*head, *lines]) + "\n")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
