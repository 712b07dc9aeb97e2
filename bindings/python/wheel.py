#!/usr/bin/env python3
"""Packs what Cargo has built into a wheel.

    python3 wheel.py --native libdermis_python.so [--plugin libdermis_mujoco.so] --out FOLDER

maturin would do it too (`pip install bindings/python` lets it), but it builds the package by itself, with other features than the
workspace, and compiles everything a second time. What the wheel says of itself comes from pyproject.toml.
"""

import argparse
import base64
import hashlib
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE / "python" / "dermis"
# The earliest time that a zip file can store, so that the same input gives the same bytes.
MOMENT = (1980, 1, 1, 0, 0, 0)


def stripped(library):
    """The bytes of a library without its symbols."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / library.name
        copy.write_bytes(library.read_bytes())
        try:
            subprocess.run(["strip", "--strip-unneeded", str(copy)], check=True)
        except FileNotFoundError:
            print("wheel.py: `strip` is not there, so the wheel is larger than it need be", file=sys.stderr)
        return copy.read_bytes()


def platform_tag(libraries):
    """The oldest glibc that has all symbols, as manylinux says it; elsewhere what the system is called."""
    if sys.platform != "linux":
        import sysconfig

        return re.sub(r"[-.]", "_", sysconfig.get_platform())
    minors = [int(minor) for library in libraries for minor in re.findall(rb"GLIBC_2\.(\d+)", library)]
    return f"manylinux_2_{max([17, *minors])}_{platform.machine()}"


def metadata(project, version):
    """What pip reads."""
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {version}",
        f"Summary: {project['description']}",
        f"Author: {', '.join(author['name'] for author in project['authors'])}",
        f"License-Expression: {project['license']}",
        f"Keywords: {','.join(project['keywords'])}",
        *(f"Classifier: {classifier}" for classifier in project["classifiers"]),
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {needed}" for needed in project["dependencies"]),
    ]
    for extra, needs in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {needed} ; extra == "{extra}"' for needed in needs)]
    lines += ["Description-Content-Type: text/markdown", "", (HERE / project["readme"]).read_text()]
    return "\n".join(lines)


def entry_points(project):
    """What other packages find by name."""
    lines = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {target}" for name, target in entries.items()), ""]
    return "\n".join(lines)


def contents(native, plugin):
    """Everything in the wheel: its name, and the bytes under each path."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    version = tomllib.loads((HERE.parent.parent / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    libraries = {"dermis/_native.abi3.so": stripped(native)}
    if plugin:
        libraries[f"dermis/_plugin/{plugin.name}"] = stripped(plugin)
    tag = f"cp310-abi3-{platform_tag(libraries.values())}"
    files = dict(libraries)
    for path in sorted(PACKAGE.rglob("*")):
        inside = path.relative_to(PACKAGE)
        if path.is_file() and path.suffix in (".py", ".pyi", ".typed", ".xml", ".toml") and "_plugin" not in inside.parts:
            files[f"dermis/{inside.as_posix()}"] = path.read_bytes()
    files["dermis/py.typed"] = b""
    info = f"dermis-{version}.dist-info"
    files[f"{info}/METADATA"] = metadata(project, version).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: dermis\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/entry_points.txt"] = entry_points(project).encode()
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        files[f"{info}/licenses/{licence}"] = (HERE.parent.parent / licence).read_bytes()
    rows = []
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(data)}\n")
    files[f"{info}/RECORD"] = "".join([*rows, f"{info}/RECORD,,\n"]).encode()
    return f"dermis-{version}-{tag}.whl", files


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--native", type=pathlib.Path, required=True)
    parser.add_argument("--plugin", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    name, files = contents(options.native, options.plugin)
    options.out.mkdir(parents=True, exist_ok=True)
    for old in options.out.glob("dermis-*.whl"):
        old.unlink()
    with zipfile.ZipFile(options.out / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, MOMENT)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if path.endswith(".so") else 0o644) << 16
            wheel.writestr(entry, data)
    print(options.out / name)


if __name__ == "__main__":
    main()
