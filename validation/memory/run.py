#!/usr/bin/env python3
"""Miri over the pure crates, and Valgrind's memcheck over tests of the Python extension and of the MuJoCo plugin: writes a dated log."""

import argparse
import collections
import datetime
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
#: Crates, words of the tests that run (all without), and of those that do not: thousands of random cases take minutes in the interpreter, and
#: it has no fsync of a folder and no processes.
MIRI = {
    "dermis-geometry": (
        [],
        [
            "balls::tests::the_nearest", "bvh", "agrees_with_all_pairs", "a_ray_meets", "the_nearest_point", "a_box_in_another", "mass_is_the_limit",
            "support_points", "halfway", "triangle_bounds", "triangle_set", "random", "memory_that_no_machine", "shapes",
        ],
    ),
    "dermis-record": (
        ["histogram", "layout", "lerobot", "log::", "protobuf", "ros2::definitions"],
        ["absent_fields", "standard_messages"],
    ),
}
#: Test files of memcheck and words of tests that are left out: bounds of time, and minutes under memcheck.
MEMCHECK = {
    "python": (
        ["test_refusals.py", "test_objects.py", "test_sensor.py", "test_environments.py"],
        ["every_preset", "copies_and_pickles", "goes_on_while", "every_skin", "spreads_contact", "shapes_are_closed", "exact_shapes", "forked"],
    ),
    "plugin": (
        ["test_panics.py", "test_data.py", "test_refusals.py", "test_warnings.py"],
        ["step_invalidates", "leaks_nothing", "other_integrators", "threads_give"],
    ),
}
LIBRARIES = ("_native.abi3.so", "libdermis_mujoco.so")


def target():
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def miri(work):
    """One row per crate: tests that ran, and those that failed."""
    rows = []
    environment = {**os.environ, "MIRIFLAGS": "-Zmiri-disable-isolation", "CARGO_TARGET_DIR": str(work / "miri")}
    for crate, (chosen, skipped) in MIRI.items():
        command = ["cargo", "+nightly", "miri", "test", "--package", crate, "--lib", "--", *chosen]
        command += [word for name in skipped for word in ("--skip", name)]
        start = time.time()
        ran = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        (work / f"miri-{crate}.txt").write_text(ran.stdout)
        result = re.search(r"test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored; \d+ measured; (\d+) filtered out", ran.stdout)
        passed, failed, ignored, left_out = map(int, result.groups()) if result else (0, 0, 0, 0)
        wrong = ran.returncode != 0
        said = next((line.strip() for line in ran.stdout.splitlines() if "Undefined Behavior" in line or line.startswith("error")), "")
        rows.append((f"| {crate} | {passed} | {failed} | {ignored + left_out} | {said if wrong else 'none'} | {time.time() - start:.0f} |", wrong))
    head = "| crate | tests that passed | failed | left out | found | time (s) |\n|---|---|---|---|---|---|\n"
    return "## Miri\n\n" + head + "\n".join(row for row, _ in rows) + "\n", any(wrong for _, wrong in rows)


def package(work):
    """A copy of the Python package with the libraries of the workspace."""
    subprocess.run(["cargo", "build", "--release", "--workspace", "--lib", "--test", "plugin_library"], cwd=ROOT, check=True)
    made = work / "package"
    shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(ROOT / "bindings/python/python/dermis", made / "dermis", ignore=shutil.ignore_patterns("__pycache__", "_plugin", "*.so"))
    (made / "dermis/_plugin").mkdir()
    shutil.copy(target() / "release/libdermis_python.so", made / "dermis" / LIBRARIES[0])
    shutil.copy(target() / "release/deps/libdermis_mujoco.so", made / "dermis/_plugin" / LIBRARIES[1])
    return made


def errors(folder):
    """Errors of memcheck with one of our libraries in the stack, and the number of all others."""
    ours, others = [], 0
    for path in folder.glob("memcheck-*.xml"):
        text = path.read_text(errors="replace")
        if "</valgrindoutput>" not in text:
            text += "</valgrindoutput>"
        for error in ElementTree.fromstring(text).iter("error"):
            # A host that ends holds its models; what a model leaves behind is counted by tests of the plugin and the extension.
            if error.findtext("kind", "").startswith("Leak_"):
                continue
            frames = error.findall("./stack/frame")
            objects = [frame.findtext("obj", "") for frame in frames]
            if any(library in place for place in objects for library in LIBRARIES):
                ours.append((error.findtext("kind"), frames[0].findtext("fn", "?"), [frame.findtext("fn", "?") for frame in frames[:8]]))
            else:
                others += 1
    return ours, others


def memcheck(part, made, work):
    files, left_out = MEMCHECK[part]
    folder = work / part
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tests = ROOT / "bindings" / ("mujoco" if part == "plugin" else "python") / "tests"
    words = " and ".join(f"not {word}" for word in left_out)
    command = ["valgrind", "--tool=memcheck", "--leak-check=no", "--show-leak-kinds=none", "--track-origins=no", "--num-callers=30", "--xml=yes"]
    command += [f"--xml-file={folder}/memcheck-%p.xml", sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "--durations=5"]
    command += (["-k", words] if words else []) + [str(tests / name) for name in files]
    # The system's allocator instead of Python's pools, so that each object has its own block; one thread for each pool.
    environment = {**os.environ, "PYTHONMALLOC": "malloc", "PYTHONPATH": str(made), "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment["DERMIS_MUJOCO_PLUGIN"] = str(made / "dermis/_plugin" / LIBRARIES[1])
    start = time.time()
    ran = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    (folder / "pytest.txt").write_text(ran.stdout)
    result = next((line for line in reversed(ran.stdout.splitlines()) if " passed" in line or " failed" in line or " error" in line), "nothing ran")
    ours, others = errors(folder)
    kinds = collections.Counter(f"{kind} in {place}" for kind, place, _ in ours)
    found = "; ".join(f"{count} × {kind}" for kind, count in kinds.most_common()) or "none"
    for kind, _, frames in ours:
        print(part, kind, " < ".join(frames), file=sys.stderr)
    row = f"| {part} | {', '.join(files)} | {result.strip('= ')} | {found} | {others} | {time.time() - start:.0f} |\n"
    return row, bool(ours) or ran.returncode != 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dermis", help="not used")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--log", type=pathlib.Path, required=True)
    parser.add_argument("parts", nargs="*", help="miri, python, plugin; all without names")
    arguments = parser.parse_args()
    parts = arguments.parts or ["miri", "python", "plugin"]
    arguments.work.mkdir(parents=True, exist_ok=True)
    text, failed = "# Memory errors\n\n", False
    if "miri" in parts:
        table, failed = miri(arguments.work)
        text += table + "\n"
    checked = [part for part in parts if part in MEMCHECK]
    if checked:
        made = package(arguments.work)
        text += "## Memcheck\n\n| part | files | tests | errors with our libraries in the stack | other errors | time (s) |\n|---|---|---|---|---|---|\n"
        for part in checked:
            row, wrong = memcheck(part, made, arguments.work)
            text, failed = text + row, failed or wrong
        for part in checked:
            if MEMCHECK[part][1]:
                text += f"\nLeft out of {part}: tests with {', '.join(MEMCHECK[part][1])} in their names.\n"
        version = subprocess.run(["valgrind", "--version"], capture_output=True, text=True, check=True).stdout.strip()
        text += f"\n{version}.\n"
    print(text)
    (arguments.log / f"log-{datetime.date.today()}.md").write_text(text)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
