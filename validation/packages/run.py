"""Checks the packages of crates and Python: `cargo xtask validate packages`; see README.md."""

from __future__ import annotations

import argparse
import datetime
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import tomllib

from public_api import PublicApi, breaks

ROOT = pathlib.Path(__file__).parents[2]
SYSTEMS = ["x86_64-pc-windows-gnu", "aarch64-apple-darwin", "x86_64-apple-darwin"]
WHEELS = {"x86_64": "x86_64-unknown-linux-gnu", "aarch64": "aarch64-unknown-linux-gnu"}
GLIBC = "2.28"
PRESS = 'import dermis; print(dermis.Sensor.preset("gelsight").press(dermis.Object.sphere(radius=4e-3), depth=0.4e-3).force)'
#: The modules that an extra is for, and the page of the guide whose blocks are then run.
EXTRAS = {
    "datasets": ("dermis.dataset, pyarrow, PIL", None),
    "gym": ("dermis.gym", "gym"),
    "jax": ("dermis.jax", "gradients"),
    "mujoco": ("dermis.mujoco", "mujoco"),
    "progress": ("tqdm", None),
    "rerun": ("dermis.rerun", "record"),
    "ros": ("dermis.ros, cyclonedds", None),
    "show": ("matplotlib", "tour"),
    "torch": ("dermis.torch", "gradients"),
    # The page makes videos too; its other blocks are those of `datasets`.
    "video": ("av, dermis.dataset", "datasets"),
}


class Log:
    """The lines of the log; a part that fails does not keep the next from running."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.failed: list[str] = []

    def say(self, line: str) -> None:
        print(line, flush=True)
        self.lines.append(line)

    def run(self, what: str, command: list[str], **environment: str) -> str | None:
        """Runs a command; logs its time and, if it fails, the end of what it says."""
        start = time.monotonic()
        done = subprocess.run(command, cwd=ROOT, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        took = time.monotonic() - start
        if done.returncode:
            self.failed.append(what)
            self.say(f"- {what}: **failed** after {took:.0f} s\n\n```text\n{done.stdout.strip()[-1500:]}\n```\n")
            return None
        self.say(f"- {what}: passed, {took:.0f} s")
        return done.stdout


def crates(log: Log, work: pathlib.Path) -> None:
    target = str(work / "package")
    done = log.run("cargo publish --workspace --dry-run", ["cargo", "publish", "--workspace", "--dry-run", "--no-verify", "--allow-dirty", "--target-dir", target])
    if done is not None:
        packed = sorted((work / "package/package/tmp-registry").glob("*.crate"))
        log.say("  " + ", ".join(f"{path.stem} ({path.stat().st_size // 1024} KiB)" for path in packed))


def api(log: Log, work: pathlib.Path) -> None:
    """Compares the public API with that of the last release, or of `main` before the first."""
    baseline, packages, old = last_version(), published(), work / "api/sources"
    shutil.rmtree(work / "api", ignore_errors=True)
    old.mkdir(parents=True)
    subprocess.run(f"git archive {baseline} | tar -x -C '{old}'", cwd=ROOT, shell=True, check=True)
    for name, root in {"old": old, "new": ROOT}.items():
        # One target folder, so that dependencies are read once; cargo does not notice that the other version has replaced the JSON.
        for mark in (work / "api-target/debug/.fingerprint").glob("dermis*"):
            shutil.rmtree(mark)
        document = ["cargo", "doc", "--no-deps", "--lib", *(word for package in packages for word in ("-p", package)), "--manifest-path", str(root / "Cargo.toml"), "--target-dir", str(work / "api-target")]
        if log.run(f"rustdoc of the {name} API", document, RUSTC_BOOTSTRAP="1", RUSTDOCFLAGS="-Z unstable-options --output-format json") is None:
            return
        shutil.copytree(work / "api-target/doc", work / "api" / name)
    compare_api(log, work / "api", packages, baseline, version(old) != version(ROOT))


def compare_api(log: Log, work: pathlib.Path, packages: list[str], baseline: str, is_release: bool) -> None:
    """Before 1.0 the second number of a version says that users may have to change their code; the third never does."""
    is_patch = is_release and version(work / "sources").split(".")[:2] == version(ROOT).split(".")[:2]
    for package in packages:
        before, now = (work / name / f"{package.replace('-', '_')}.json" for name in ("old", "new"))
        if not before.exists():
            log.say(f"- {package}: new")
            continue
        old, new = PublicApi(before), PublicApi(now)
        broken, added = breaks(old, new), len(new.signatures.keys() - old.signatures.keys())
        log.say(f"- {package} since {baseline[:8]}: {len(old.signatures)} public paths, {added} new, {len(broken)} gone or changed")
        for line in broken:
            log.say(f"  - {line}")
        if broken and is_patch:
            log.failed.append(f"{package} breaks users and has only a new third number")


def version(root: pathlib.Path) -> str:
    return tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def printed(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def last_version() -> str:
    """The commit of the last release, or before the first that of `main` on which the present one is based."""
    for command in ("git describe --tags --abbrev=0 --match v* HEAD^", "git merge-base HEAD^ main", "git merge-base HEAD^ origin/main"):
        found = subprocess.run(command.split(), cwd=ROOT, capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.strip()
    return printed("git", "rev-parse", "HEAD^")


def published() -> list[str]:
    """The libraries that are published; a crate with `publish = false` has an empty list of registries."""
    packages = json.loads(printed("cargo", "metadata", "--no-deps", "--format-version", "1"))["packages"]
    return sorted(package["name"] for package in packages if package["publish"] != [])


def systems(log: Log, work: pathlib.Path) -> None:
    for target in SYSTEMS:
        subprocess.run(["rustup", "target", "add", target], check=True, capture_output=True)
        exclude = ["--exclude", "dermis-mujoco", "--exclude", "dermis-fuzz"]
        log.run(f"cargo check for {target}", ["cargo-zigbuild", "check", "--release", "--workspace", *exclude, "--target", target])


def wheels(log: Log, work: pathlib.Path, only: list[str] | None = None) -> None:
    out, plugin = work / "wheels", ROOT / "bindings/python/python/dermis/_plugin"
    target_folder = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    for arch, target in WHEELS.items():
        if only and arch not in only:
            continue
        for old in out.glob(f"*{arch}*.whl"):
            old.unlink()
        subprocess.run(["rustup", "target", "add", target], check=True, capture_output=True)
        build = ["cargo-zigbuild", "zigbuild", "--release", "-p", "dermis-mujoco", "-p", "dermis-python", "--target", f"{target}.{GLIBC}"]
        if log.run(f"libraries for {arch}", build) is None:
            continue
        plugin.mkdir(exist_ok=True)
        built, placed = target_folder / target / "release/libdermis_mujoco.so", plugin / "libdermis_mujoco.so"
        # `strip` of this machine knows only its own architecture.
        stripped = subprocess.run(["strip", "--strip-unneeded", "-o", placed, built], capture_output=True)
        if stripped.returncode:
            shutil.copy(built, placed)
        tag = GLIBC.replace(".", "_")
        maturin = ["maturin", "build", "--release", "--zig", "--target", target, "--compatibility", f"manylinux_{tag}", "--manifest-path", "bindings/python/Cargo.toml", "--out", str(out)]
        log.run(f"wheel for {arch}", maturin)
    for wheel in [found for arch in only or WHEELS for found in sorted(out.glob(f"*{arch}*.whl"))]:
        log.say(f"- {wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        log.run("  twine check", ["twine", "check", "--strict", str(wheel)])
        shown = log.run("  auditwheel show", ["auditwheel", "show", str(wheel)])
        if shown is not None:
            log.say("  " + " ".join(re.sub(r"\s+", " ", shown).split('"')[-2:-1]))
        log.say(f"  newest symbols: {newest_symbols(wheel, work / 'unpacked')}")
        if os.uname().machine in wheel.name:
            try_wheel(log, wheel, work / "clean")


def newest_symbols(wheel: pathlib.Path, folder: pathlib.Path) -> str:
    """The newest version of glibc whose symbols the libraries of a wheel ask for."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.unpack_archive(wheel, folder, "zip")
    told = []
    for library in sorted(folder.rglob("*.so")):
        versions = {tuple(map(int, found.split(b"."))) for found in re.findall(rb"GLIBC_(\d+\.\d+(?:\.\d+)?)\0", library.read_bytes())}
        told.append(f"{library.name} {'.'.join(map(str, max(versions, default=())))}")
    return ", ".join(told)


def environment(folder: pathlib.Path, *packages: str) -> list[str]:
    """Commands that make an empty environment with packages in it."""
    return ["bash", "-euc", f"python3 -m venv --clear '{folder}' && '{folder}/bin/pip' install --quiet " + " ".join(f"'{package}'" for package in packages)]


def try_wheel(log: Log, wheel: pathlib.Path, folder: pathlib.Path) -> None:
    if log.run("  installed into an empty environment", environment(folder, str(wheel))) is None:
        return
    log.run("  dermis --version", [str(folder / "bin/dermis"), "--version"])
    pressed = log.run("  a GelSight pressed", [str(folder / "bin/python"), "-c", PRESS])
    log.say(f"  {pressed and pressed.strip()}")


def extras(log: Log, work: pathlib.Path, only: list[str] | None = None) -> None:
    found = sorted((work / "wheels").glob(f"*{os.uname().machine}*.whl"))
    if not found:
        log.say("- extras: no wheel for this machine; run `--only wheels` first")
        return
    project = tomllib.loads((ROOT / "bindings/python/pyproject.toml").read_text())["project"]
    for extra, needs in project["optional-dependencies"].items():
        if only and extra not in only:
            continue
        modules, page = EXTRAS[extra]
        folder = work / "extra"
        python = folder / "bin/python"
        subprocess.run(["uv", "venv", "--quiet", "--clear", str(folder)], check=True)
        install = ["uv", "pip", "install", "--quiet", "--python", str(python), "--resolution", "lowest-direct", str(found[0]), *project["dependencies"], *needs, "markdown-it-py>=3", "pygments>=2.17"]
        if log.run(f"dermis[{extra}]", install) is None:
            continue
        names = [re.split(r"[\[>]", need)[0] for need in project["dependencies"] + needs]
        told = subprocess.run(["uv", "pip", "list", "--python", str(python), "--format", "freeze"], capture_output=True, text=True, check=True).stdout.split()
        log.say("  " + ", ".join(line for line in told if line.split("==")[0] in names))
        log.run(f"  import {modules}", [str(python), "-c", f"import dermis, {modules}"])
        if page:
            log.run(f"  blocks of docs/{page}.md", [str(python), "docs/site/build.py", "--only", page, "--out", str(work / "unused")], MPLBACKEND="agg", PYTHONDONTWRITEBYTECODE="1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dermis", type=pathlib.Path, help="not used")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--log", type=pathlib.Path, required=True, help="folder of the log")
    parts = {"crates": crates, "api": api, "systems": systems, "wheels": wheels, "extras": extras}
    parser.add_argument("--only", choices=parts, action="append", help="a part; default: all")
    parser.add_argument("--arch", choices=WHEELS, action="append", help="a machine, with `--only wheels`; default: all")
    parser.add_argument("--extra", choices=EXTRAS, action="append", help="an extra, with `--only extras`; default: all")
    options = parser.parse_args()
    parts["wheels"] = functools.partial(wheels, only=options.arch)
    parts["extras"] = functools.partial(extras, only=options.extra)
    # The tools of this environment: maturin, zig, uv.
    os.environ["PATH"] = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    log, today = Log(), datetime.datetime.now(datetime.timezone.utc).date()
    path = options.log / f"log-{today}.md"
    if not (path.exists() and options.only):
        rust = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.split(" (")[0]
        path.write_text(f"# Packages, {today}\n\n{rust}, Python {sys.version.split()[0]}, {os.uname().sysname} {os.uname().machine}.\n")
    for name in options.only or parts:
        log.say(f"\n## {name}\n")
        parts[name](log, options.work)
    with path.open("a") as file:
        file.write("\n".join(log.lines) + "\n")
    if log.failed:
        sys.exit(f"failed: {', '.join(part.strip() for part in log.failed)}")


if __name__ == "__main__":
    main()
