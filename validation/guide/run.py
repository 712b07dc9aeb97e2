"""Runs what CI leaves out of the guide and the docstrings: `cargo xtask validate guide`; see README.md."""

from __future__ import annotations

import argparse
import atexit
import datetime
import os
import pathlib
import platform
import re
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))
EXAMPLES = "bindings/python/tests/test_package.py"
#: What CI does not have; its other blocks nothing here can run.
NEEDS = re.compile(r"^```\w+ .*\bneeds=(cuda|torch|ray|newton|mjx|rerun|ros|time)\b", re.M)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dermis", type=pathlib.Path, help="not used")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--log", type=pathlib.Path, required=True, help="folder of the log")
    parser.add_argument("--page", action="append", help="one page, such as gradients; default: all with a block that CI leaves out, and the docstrings")
    parser.add_argument("--wheel", type=pathlib.Path, help="a wheel that is there already, in place of one that is built")
    options = parser.parse_args()
    if options.wheel is None:
        subprocess.run(["cargo", "xtask", "wheel"], cwd=ROOT, check=True)
    wheel = options.wheel or next((ROOT / "dist").glob("dermis-*.whl"))
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", str(wheel)], check=True)
    import blocks
    import render

    here = os.environ | {"DERMIS_TIME": "1", "MPLBACKEND": "agg", "PYTHONDONTWRITEBYTECODE": "1"}
    today = datetime.datetime.now(datetime.timezone.utc).date()
    lines = [f"# Guide, {today}\n", f"{wheel.name}, Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores.\n"]
    packages = [name for name in ("torch", "jax", "ray", "rerun", "mujoco_warp", "newton", "cyclonedds", "rclpy") if blocks.has(name)]
    lines.append(f"Packages: {', '.join(packages)}.\n")
    pages = options.page or [page.path.removesuffix(".md") for page in render.contents() if NEEDS.search(page.source.read_text())]
    if blocks.has("ray") and any("needs=ray" in (ROOT / f"docs/{page}.md").read_text() for page in pages):
        # On a machine with other programs it takes longer than Ray waits.
        os.environ["RAY_raylet_start_wait_time_s"] = "300"
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
        atexit.register(cluster.shutdown)
        here["RAY_ADDRESS"] = cluster.address
    commands = {f"docs/{page}.md": [sys.executable, "docs/site/build.py", "--out", str(options.work / "site"), "--only", page] for page in pages}
    if not options.page:
        commands["docstrings"] = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", "--durations=0", EXAMPLES, "-k", "texts_show"]
    failed = []
    for name, command in commands.items():
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, cwd=ROOT, env=here, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime
        print(done.stdout, flush=True)
        lines.append(f"## {name}: {'passed' if done.returncode == 0 else 'FAILED'}, {seconds:.0f} s of CPU\n\n```text\n{done.stdout.strip()}\n```\n")
        failed += [name] if done.returncode else []
        # After each page, so that a run that is ended leaves what it has found.
        (options.log / f"log-{today}.md").write_text("\n".join(lines))
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
