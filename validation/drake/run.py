"""Compares dermis with Drake in results and speed, with the same bodies and meshes on one thread.

    cargo xtask validate drake

Drake makes the meshes; they and its results go into a file that `dermis validate hydroelastic FILE --time --json` reads. Both
move one body a little at every call (the same motion), so nothing of the last call can be used again. Times are the best of many
short batches on both sides, which leaves out what other programs take. Drake's time through Python with the bodies apart is
taken off each of its figures: it is what Python, the setting of the pose and the broad phase cost.
"""

import argparse
import datetime
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from importlib.metadata import version

from bodies import Pair, nudge, read_golden, write_case
from cases import FINE_BLOCK, MORE, write_block

BATCH_S, BATCHES = 4e-3, 40


def seconds_per_call(call):
    """Best average over a batch of about BATCH_S."""
    start = time.perf_counter()
    call(0)
    count = max(1, int(BATCH_S / max(time.perf_counter() - start, 1e-7)))
    best, i = math.inf, 0
    for _ in range(BATCHES if count > 1 else 12):
        start = time.perf_counter()
        for _ in range(count):
            i += 1
            call(i)
        best = min(best, (time.perf_counter() - start) / count)
    return best


def apart_seconds(case, folder):
    """Time of the same call with B a metre away: the overhead without the contact surface."""
    far = json.loads(json.dumps(case))
    far["B"]["p"][2] -= 1.0
    pair = Pair(far, folder)
    assert not pair.surfaces(nudge(1))
    return seconds_per_call(lambda i: pair.surfaces(nudge(i)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dermis", required=True, help="the dermis program")
    parser.add_argument("--work", required=True, help="folder for meshes and cases")
    parser.add_argument("--golden", required=True, help="golden.json with its meshes")
    parser.add_argument("--log", required=True, help="folder for the dated log")
    parser.add_argument("--only", help="run only cases whose name holds this, and write no log")
    arguments = parser.parse_args()

    work = Path(arguments.work) / "cases"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    meshes = Path(arguments.golden).parent / "meshes"
    for mesh in [*meshes.glob("*.vtk"), *meshes.glob("*.obj")]:
        shutil.copy(mesh, work)
    write_block(work / "fine_block.vtk", **FINE_BLOCK)

    cases = read_golden(arguments.golden) + MORE
    if arguments.only:
        cases = [case for case in cases if arguments.only in case["id"]]
    written, drake_s = [], {}
    for case in cases:
        pair = Pair(case, work)
        written.append(write_case(case, work, pair))
        drake_s[case["id"]] = seconds_per_call(lambda i: pair.surfaces(nudge(i)))
        print(f"drake {case['id']:32} {1e6 * drake_s[case['id']]:10.1f} us", flush=True)
    overhead_s = min(apart_seconds(case, work) for case in cases[:3])
    print(f"drake, bodies apart: {1e6 * overhead_s:.1f} us")
    file = work / "cases.json"
    file.write_text(json.dumps({"mesh_dir": ".", "cases": written}))
    command = [arguments.dermis, "validate", "hydroelastic", str(file), "--time", "--json"]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    text, fine = table(report, written, drake_s, overhead_s)
    print(text)
    if not arguments.only:
        day = datetime.date.today().isoformat()
        (Path(arguments.log) / f"log-{day}.md").write_text(text)
    sys.exit(0 if fine else 1)


def table(report, written, drake_s, overhead_s):
    rows, ratios, slower = [], [], []
    for case, result in zip(written, report["cases"]):
        ours = result["seconds_per_call"]
        counts = "/".join(str((case[b]["drake_mesh"] or {}).get("num_elements", "–")) for b in "AB")
        faces = case["polygon"]["num_faces"] if case["polygon"] else 0
        head = f"| {case['id']} | {counts} | {faces} | {result['force_rel']:.0e} | {result['area_rel']:.0e}"
        if not faces:
            rows.append(f"{head} | – | {1e6 * ours:.1f} | – |")
            continue
        theirs = drake_s[case["id"]] - overhead_s
        ratio = theirs / ours
        ratios.append(ratio)
        if ratio < 1:
            slower.append(case["id"])
        rows.append(f"{head} | {1e6 * theirs:.1f} | {1e6 * ours:.1f} | {ratio:.1f} |")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    worst = report["worst"]
    fine = mean >= 5 and not slower and max(worst["force_rel"], worst["area_rel"]) <= 1e-9
    lines = [
        f"# dermis against Drake {version('drake')}",
        "",
        "    cargo xtask validate drake",
        "",
        f"{datetime.date.today().isoformat()}, {platform.machine()}, {os.cpu_count()} cores, one thread each; Python {platform.python_version()}, numpy {np.__version__}.",
        f"Drake's time with the bodies apart, {1e6 * overhead_s:.1f} µs, is taken off its figures. Times in µs a call.",
        "",
        f"**Geometric mean of the speed ratio {mean:.1f} (asked: 5), least {min(ratios):.1f}, slower than Drake: {', '.join(slower) or 'none'}.** "
        f"Worst relative error of force {worst['force_rel']:.1e}, torque {worst['torque_rel']:.1e}, area {worst['area_rel']:.1e}, centroids {worst['centroid_rel']:.1e} (asked: 1e-9).",
        "",
        "| case | elements A/B | polygons | force error | area error | Drake | dermis | ratio |",
        "|---|---|---|---|---|---|---|---|",
        *rows,
        "",
    ]
    return "\n".join(lines), fine


if __name__ == "__main__":
    main()
