"""Logs a world, a reading and a recording with Rerun's own SDK, opens an MCAP file with Rerun's reader, and writes a dated log."""

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


def columns(chunks, entity, part, timeline="time"):
    """Times (s) and values of a component of an entity, in the order of time."""
    rows = []
    for chunk in chunks:
        if chunk.entity_path != entity or chunk.is_static:
            continue
        batch = chunk.to_record_batch()
        (name,) = [name for name in batch.schema.names if name.endswith(part)]
        times = batch.column(timeline).cast("int64").to_numpy(zero_copy_only=False) * 1e-9
        rows += zip(times, batch.column(name).to_pylist())
    return sorted(rows, key=lambda row: row[0])


def messages(path):
    """Topic and content of every message of an MCAP file, decoded by the packages `mcap` and `mcap-protobuf-support`."""
    from mcap.reader import make_reader
    from mcap_protobuf.decoder import DecoderFactory

    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()], validate_crcs=True)
        return [(channel.topic, message) for _, channel, _, message in reader.iter_decoded_messages()]


def check_mcap(options, check):
    """Rerun's reader of MCAP shows the images and transforms of a recording for Foxglove."""
    import rerun as rr

    (options.work / "scene.toml").write_text(SCENE)
    recorded, file = options.work / "run.mcap", options.work / "mcap.rrd"
    record = [options.dermis, "run", options.work / "scene.toml", "--record", recorded, "--overwrite", "--image-every", "20 ms"]
    subprocess.run(record, check=True, capture_output=True)
    rerun = [sys.executable, "-m", "rerun", "mcap"]
    found = subprocess.run([*rerun, "check", recorded], capture_output=True, text=True, check=False)
    said = (found.stdout + found.stderr).strip().splitlines()
    check("`rerun mcap check` of a recording", found.returncode == 0, said[-1] if said else "no complaint")
    subprocess.run([*rerun, "convert", recorded, "-o", file], check=True, capture_output=True)
    chunks = list(rr.chunk.RrdReader(file).stream())
    truth = messages(recorded)
    images = [message.data for topic, message in truth if topic == "/left_pad/tactile"]
    rows = columns(chunks, "/left_pad/tactile", "EncodedImage:blob", "message_log_time")
    shown = [bytes(np.array(row[1][0], np.uint8)) for row in rows]
    check("images of MCAP", len(images) > 5 and shown == images, f"{len(shown)} PNG files, the same bytes")
    frames = [frame for topic, message in truth if topic == "/tf" for frame in message.transforms]
    moved = {}
    for part, key in (("child_frame", "names"), ("translation", "places")):
        moved[key] = [value for row in columns(chunks, "/tf", f"Transform3D:{part}", "message_log_time") for value in row[1]]
    wanted = [(frame.child_frame_id, frame.translation.z) for frame in frames]
    well = sorted(wanted) == sorted((name, place[2]) for name, place in zip(moved["names"], moved["places"]))
    check("transforms of MCAP", well and len(wanted) > 20, f"{len(wanted)}, of {', '.join(sorted(set(moved['names'])))}")
    taxels = [message for topic, message in truth if topic == "/left_pad/taxels"]
    wrench = [message for topic, message in truth if topic == "/left_pad/wrench"][-1]
    well = len(taxels[-1].values_newton) == 84 and abs(sum(taxels[-1].values_newton) + wrench.force.z) < 1e-3
    check("taxels and wrench of MCAP", well, f"84 taxels, sum {taxels[-1].sum_newton:.4f} N, force {wrench.force.z:.4f} N")
    seen = {chunk.entity_path for chunk in chunks if not chunk.is_static}
    wanted = {"/left_pad/wrench", "/left_pad/taxels"}
    check("other messages, as Rerun shows any protobuf", wanted <= seen, ", ".join(sorted(wanted & seen)))


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
    check_mcap(options, check)
    today = datetime.date.today().isoformat()
    head = [f"# In Rerun, {today}", "", f"{wheel}; rerun-sdk {importlib.metadata.version('rerun-sdk')}", ""]
    (options.log / f"log-{today}.md").write_text("\n".join([*head, *lines]) + "\n")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
