"""Runs the code blocks of a page, in order and in one folder, as a reader would.

    ```sh              commands of a shell; `cargo run --release --` is the installed program
    ```sh fails        every command fails, and its message is the next block, ```text
    ```python          Python, in one namespace a page; with `warns` it may issue warnings
    ```python fails    raises an exception whose message is the next block, ```text
    ```toml file=a.toml
                       a file that later blocks use; the same for other languages
    ```sh needs=cuda   run only where it can be; elsewhere Python is compiled and commands are looked up

Blocks of the languages in `SHOWN` are texts. Rust blocks are run by rustdoc (`crates/dermis/src/guide.rs`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib
import types
import warnings
from collections.abc import Iterator
from typing import Any

SHOWN = {"text", "json", "mermaid"}
FENCE = re.compile(r"^```(?P<info>[^`\n]*)\n(?P<text>.*?)^```[ \t]*$", re.M | re.S)
#: What a block may need, and how to find out whether it is here.
NEEDS = {
    "cuda": lambda: shutil.which("nvidia-smi") is not None and has("torch"),
    "torch": lambda: has("torch"),
    "ray": lambda: has("ray"),
    "newton": lambda: has("newton"),
    "mjx": lambda: has("jax") and has("mujoco.mjx"),
    "rerun": lambda: has("rerun"),
    "ros": lambda: has("rclpy") or has("cyclonedds"),
    "slurm": lambda: shutil.which("sbatch") is not None,
    # A window or a server: the tests of the page and of the package start them.
    "screen": lambda: False,
    # A package registry: `cargo xtask validate packages` installs the wheel and runs these commands.
    "network": lambda: False,
    # Minutes: `cargo xtask validate experiments` runs the experiments, and `guide` all of these.
    "time": lambda: "DERMIS_TIME" in os.environ,
    # Images or measurements of the reader's own sensor.
    "images": lambda: False,
    # A clone of the repository, its compiler and minutes: `cargo xtask test` runs these commands itself.
    "sources": lambda: False,
}


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


class Wrong(Exception):
    """A block that does not do what the page says."""


@dataclasses.dataclass
class Block:
    """One fenced block of a page."""

    page: str
    line: int
    language: str
    options: dict[str, str]
    text: str

    def wrong(self, why: str) -> Wrong:
        return Wrong(f"{self.page}:{self.line}: {why}")


def blocks(page: str, text: str) -> Iterator[Block]:
    """The blocks of a page."""
    for found in FENCE.finditer(text):
        language, *options = found["info"].split() or [""]
        pairs = dict((option.split("=", 1) if "=" in option else (option, "")) for option in options)
        line = text.count("\n", 0, found.start()) + 1
        block = Block(page, line, language, pairs, found["text"])
        if not language:
            raise block.wrong("a block names its language; `text` is not run")
        yield block


def run(page: str, text: str, folder: pathlib.Path) -> tuple[int, list[str]]:
    """Runs the blocks of a page in a folder; returns the number of those run, and what those left out need."""
    names: dict[str, Any] = {"__name__": "__main__"}
    found = list(blocks(page, text))
    ran, left_out = 0, []
    for block, after in zip(found, [*found[1:], None]):
        needs = block.options.get("needs", "")
        if needs and needs not in NEEDS:
            raise block.wrong(f"needs={needs}: known are {', '.join(NEEDS)}")
        here = not needs or NEEDS[needs]()
        if block.language in SHOWN or block.language == "rust":
            continue
        if "file" in block.options:
            (folder / block.options["file"]).write_text(block.text)
        elif block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "python" and "fails" in block.options:
            run_raising(block, after, names, folder)
        elif block.language == "python":
            run_python(block, names, folder, here)
        elif block.language == "sh" and "fails" in block.options:
            run_failing(block, after, folder)
        elif block.language == "sh":
            run_shell(block, folder, here)
        else:
            raise block.wrong(f"```{block.language} without file=: nobody runs it")
        ran, left_out = ran + here, left_out + ([] if here else [needs])
    return ran, left_out


def run_python(block: Block, names: dict[str, Any], folder: pathlib.Path, here: bool) -> None:
    code = compile("\n" * block.line + block.text, block.page, "exec")
    if not here:
        return
    try:
        execute(block, code, names, folder)
    except Exception as error:
        raise block.wrong(f"{type(error).__name__}: {error}") from error


def execute(block: Block, code: types.CodeType, names: dict[str, Any], folder: pathlib.Path) -> None:
    """Executes Python in a folder, without printing."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), contextlib.chdir(folder):
        # An example lies in the range of its sensor, unless the page says why not.
        warnings.simplefilter("ignore" if "warns" in block.options else "error", RuntimeWarning)
        exec(code, names)


def run_raising(block: Block, after: Block | None, names: dict[str, Any], folder: pathlib.Path) -> None:
    expected = message(block, after)
    try:
        execute(block, compile("\n" * block.line + block.text, block.page, "exec"), names, folder)
    except Exception as error:
        told = f"{type(error).__name__}: {' '.join(str(error).split())}"
        if expected not in told:
            raise block.wrong(f"it raises {told!r}") from error
        return
    raise block.wrong("it does not raise")


def message(block: Block, after: Block | None) -> str:
    """The message that a page shows after a block that fails, in one line."""
    shown = " ".join(after.text.split()) if after is not None and after.language == "text" else ""
    if not shown:
        raise block.wrong("after a block that fails, a ```text block has its message")
    return shown


def commands(block: Block) -> list[str]:
    """The commands of a block, without comments; a line that ends in a backslash goes on."""
    joined = block.text.replace("\\\n", " ")
    lines = [re.sub(r"\s+#.*$", "", line).strip() for line in joined.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def shell(line: str, folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
    """Runs one command with the programs of this Python first on the path."""
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    line = line.replace("cargo run --release --", "dermis")
    environment = os.environ | {"PATH": path, "MPLBACKEND": "agg", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(["bash", "-euo", "pipefail", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def run_shell(block: Block, folder: pathlib.Path, here: bool) -> None:
    for line in commands(block):
        if here:
            done = shell(line, folder)
            if done.returncode:
                raise block.wrong(f"`{line}` exits with {done.returncode}: {(done.stderr or done.stdout).strip()[-800:]}")
        else:
            look_up(block, line, folder)


def look_up(block: Block, line: str, folder: pathlib.Path) -> None:
    """A command that cannot be run here: its subcommand and flags must be there."""
    words = line.replace("cargo run --release --", "dermis").split()
    if words[:1] == ["dermis"] and len(words) > 1 and not words[1].startswith("-"):
        told = shell(f"dermis {words[1]} --help", folder)
        if told.returncode:
            raise block.wrong(f"there is no `dermis {words[1]}`")
        for flag in [word.split("=")[0] for word in words if word.startswith("--")]:
            known = told.stdout + shell(f"dermis {words[1]} {words[2]} --help", folder).stdout
            if flag not in known:
                raise block.wrong(f"`dermis {words[1]}` has no flag {flag}")
    elif words[:2] == ["cargo", "xtask"]:
        tasks = (pathlib.Path(__file__).parents[2] / "xtask/src/main.rs").read_text()
        if f'"{words[2]}"' not in tasks:
            raise block.wrong(f"there is no `cargo xtask {words[2]}`")


def run_failing(block: Block, after: Block | None, folder: pathlib.Path) -> None:
    expected = message(block, after)
    for line in commands(block):
        done = shell(line, folder)
        told = " ".join(done.stderr.split())
        if done.returncode == 0:
            raise block.wrong(f"`{line}` does not fail")
        if expected not in told:
            raise block.wrong(f"`{line}` says {told!r}")
