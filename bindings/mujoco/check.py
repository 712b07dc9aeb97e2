#!/usr/bin/env python3
"""Runs the tests of the plugin in several versions of MuJoCo, each in its own virtual environment.

    python3 check.py --library libdermis_mujoco.so --envs FOLDER [--bench] VERSION...

Missing environments are created (mujoco and pytest, with pip). Unsupported versions run only the test that they are refused.
"""

import argparse
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def environment(folder, version):
    """The Python interpreter of an environment with this version, created if missing."""
    venv = folder / f"mujoco-{version}"
    python = venv / "bin" / "python"
    done = venv / "complete"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], check=True)
        subprocess.run([str(python), "-m", "pip", "-q", "install", f"mujoco=={version}", "pytest"], check=True)
        done.touch()
    return python


def supported_versions():
    """The versions in the table of offsets."""
    table = (HERE.parents[1] / "crates" / "mujoco-coupling" / "src" / "layout" / "table.rs").read_text()
    line = next(line for line in table.splitlines() if '"' in line and ";" in line and "layout" not in line)
    return line.strip().rstrip(";").replace('"', "").split()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--envs", type=pathlib.Path, required=True)
    parser.add_argument("--bench", action="store_true", help="also measure the cost of a step")
    parser.add_argument("versions", nargs="+")
    options = parser.parse_args()
    library = options.library.resolve()
    failed = []
    for version in options.versions:
        python = environment(options.envs, version)
        test = "tests" if version in supported_versions() else "tests/test_versions.py"
        env = {**os.environ, "DERMIS_MUJOCO_PLUGIN": str(library), "PYTHONDONTWRITEBYTECODE": "1"}
        print(f"== MuJoCo {version}", flush=True)
        command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
        if subprocess.run(command, cwd=HERE, env=env, check=False).returncode:
            failed.append(version)
        if options.bench and version in supported_versions():
            subprocess.run([str(python), str(HERE / "bench.py"), str(library)], check=True)
    if failed:
        sys.exit(f"the plugin fails in MuJoCo {', '.join(failed)}")


if __name__ == "__main__":
    main()
