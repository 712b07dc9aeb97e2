"""Generates one data set with the command line and on a Ray cluster of two nodes, kills a node and the driver during runs, and compares the files."""

import argparse
import datetime
import hashlib
import importlib.metadata
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SPEC = """
name = "ray"
format = "lerobot"
seed = 3
count = 960
shard = 20
sensor = [{ preset = "gelsight", resolution = 0.25, skin.mu = 0.0, camera.noise = { read_levels = 1.0 } }]
object = [{ indenters = ["all"] }]
pose.x = { uniform = ["-2 mm", "2 mm"] }
pose.y = { uniform = ["-1 mm", "1 mm"] }
pose.yaw = { uniform = ["-180 deg", "180 deg"] }
pose.depth = { uniform = ["0.3 mm", "1 mm"] }
scenario = { kind = "press", frames = 2 }
randomise = [{ key = "camera.exposure", value = { uniform = [0.9, 1.1] } }]
"""
# The driver runs as a process of its own, so that it can be killed.
DRIVER = "import sys; from dermis import dataset; dataset.make(sys.argv[1], sys.argv[2], ray=sys.argv[3])"


def digest(folder):
    """One hash of all files with their names."""
    whole = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        whole.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()


def shards(folder):
    """The number of finished shards."""
    return len(list((folder / ".shards").glob("*.json")))


def wait_for(folder, count):
    while shards(folder) < count:
        time.sleep(0.02)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for flag in ("--dermis", "--work", "--log"):
        parser.add_argument(flag, type=pathlib.Path, required=True)
    options = parser.parse_args()
    subprocess.run(["cargo", "xtask", "wheel"], cwd=ROOT, check=True)
    wheel = next((ROOT / "dist").glob("dermis-*.whl"))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", str(wheel)]
    subprocess.run(pip, check=True)
    import ray
    from ray.cluster_utils import Cluster

    from dermis import dataset

    work = options.work / "sets"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    spec = work / "spec.toml"
    spec.write_text(SPEC)
    results = []

    def note(what, folder, start):
        results.append((what, digest(folder), time.time() - start))
        print(f"{what}: {results[-1][1][:16]} in {results[-1][2]:.1f} s", flush=True)

    start = time.time()
    subprocess.run([options.dermis, "dataset", "make", spec, "--out", work / "cli"], check=True)
    note("command line", work / "cli", start)
    total = shards(work / "cli")

    start = time.time()
    for share in ("3/4", "1/4", "4/4", "2/4"):
        subprocess.run([options.dermis, "dataset", "make", spec, "--out", work / "shares", "--shard", share], check=True)
    note("four shares", work / "shares", start)

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    second = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    ray.init(address=cluster.address, log_to_driver=False)
    nodes = sum(node["Alive"] for node in ray.nodes())

    start = time.time()
    dataset.make(spec, work / "ray", ray=cluster.address)
    note(f"Ray, {nodes} nodes", work / "ray", start)

    killed = {}

    def kill_node():
        wait_for(work / "node-lost", total // 4)
        killed["at"] = shards(work / "node-lost")
        cluster.remove_node(second, allow_graceful=False)

    start = time.time()
    killer = threading.Thread(target=kill_node)
    killer.start()
    dataset.make(spec, work / "node-lost", ray=cluster.address)
    killer.join()
    note(f"Ray, a node killed after {killed['at']} of {total} shards", work / "node-lost", start)
    alive = sum(node["Alive"] for node in ray.nodes())

    cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    start = time.time()
    driver = [sys.executable, "-c", DRIVER, str(spec), str(work / "driver-lost"), cluster.address]
    first = subprocess.Popen(driver)
    wait_for(work / "driver-lost", total // 3)
    first.send_signal(signal.SIGKILL)
    first.wait()
    at = shards(work / "driver-lost")
    subprocess.run(driver, check=True)
    note(f"Ray, the driver killed after {at} of {total} shards and started again", work / "driver-lost", start)
    ray.shutdown()
    cluster.shutdown()

    equal = len({found for _, found, _ in results}) == 1
    today = datetime.date.today().isoformat()
    lines = [
        f"# Ray {importlib.metadata.version('ray')}, {today}",
        "",
        f"960 episodes of two images (160 × 120) in {total} shards; a hash of all files with their names. {nodes} nodes of one core each, {alive} after one was",
        "killed. Seconds are those of a machine that was also doing other things.",
        "",
        "| how it was made | SHA-256 of all files | s |",
        "|---|---|---|",
        *(f"| {what} | `{found[:32]}…` | {seconds:.1f} |" for what, found, seconds in results),
        "",
        "All the same." if equal else "**They differ.**",
    ]
    (options.log / f"log-{today}.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    if not equal or nodes != 2 or alive != 1:
        sys.exit("the data sets differ, or there were not two nodes of which one was lost")


if __name__ == "__main__":
    main()
