"""The package itself: what an import costs, what help says, and what is left behind."""

import ast
import doctest
import gc
import importlib
import importlib.metadata
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.request
import warnings

import pytest

import dermis
from dermis import _engine_plugin


def test_an_import_is_light():
    """The best of five in fresh interpreters: seconds for the import alone, and nothing heavy comes with it."""
    code = (
        "import sys, time; start = time.process_time(); import dermis; took = time.process_time() - start;"
        "print(took, *sorted({'matplotlib', 'mujoco', 'gymnasium'} & set(sys.modules)))"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5)]
    told = [run.stdout.split() for run in runs]
    assert all(len(words) == 1 for words in told), told
    assert min(float(words[0]) for words in told) < 0.3, told


def test_help_tells_a_stranger_all_he_needs():
    text = inspect.getdoc(dermis.Sensor.press)
    for word in ["depth", "force", "at", "tilt", "yaw", "(m)", "(N)", "(rad)", "Returns", "Raises", "shape (2,)"]:
        assert word in text, word
    assert "depth=None" in str(inspect.signature(dermis.Sensor.press))


@pytest.mark.parametrize("name", dermis.__all__)
def test_everything_public_has_a_text_and_a_stub(name):
    thing = getattr(dermis, name)
    stub = pathlib.Path(dermis.__file__).with_name("_native.pyi").read_text()
    if inspect.isclass(thing):
        assert thing.__doc__ and thing.__module__ == "dermis"
        for member in vars(thing):
            if not member.startswith("_"):
                assert inspect.getdoc(getattr(thing, member)), f"{name}.{member}"
                assert f"def {member}(" in stub or f"{member}:" in stub, f"{name}.{member}"
    assert name in stub
    assert pathlib.Path(dermis.__file__).with_name("py.typed").exists()


def test_the_stub_has_the_docstrings_of_the_module():
    """`python bindings/python/stub_docs.py` writes them."""
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
    import stub_docs

    text = pathlib.Path(dermis.__file__).with_name("_native.pyi").read_text(encoding="utf-8")
    assert stub_docs.with_docs(text) == text
    documented = {name: inspect.cleandoc(doc) for name, doc in docs_in(text) if doc}
    for name in dermis.__all__:
        public = getattr(dermis, name)
        for member in [m for m in vars(public) if not m.startswith("_")] if inspect.isclass(public) else []:
            assert documented[f"{name}.{member}"] == inspect.getdoc(getattr(public, member)), f"{name}.{member}"


def docs_in(stub):
    """Name and docstring of the classes, methods and attributes of a stub."""
    for owner in ast.parse(stub).body:
        if not isinstance(owner, ast.ClassDef):
            continue
        yield owner.name, ast.get_docstring(owner)
        for node, after in zip(owner.body, [*owner.body[1:], None]):
            if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
                yield f"{owner.name}.{node.name}", ast.get_docstring(node)
            elif isinstance(node, ast.AnnAssign) and isinstance(after, ast.Expr):
                yield f"{owner.name}.{node.target.id}", after.value.value


def test_words_to_choose_from_are_literals_in_the_stub():
    """A parameter with few valid texts is completed and checked by editors."""
    package = pathlib.Path(dermis.__file__).parent
    words = {"mode", "motion", "format", "device", "unit", "skin", "window", "codec"}
    files = [package / name for name in ("_native.pyi", "metrics.py", "experiments.py", "_video.py", "mujoco/_attach.py", "mujoco/_urdf.py")]
    found = set()
    for file in files:
        functions = [node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)]
        public = [node for node in functions if not node.name.startswith("_") or node.name == "__new__"]
        for node in [argument for function in public for argument in (*function.args.args, *function.args.kwonlyargs)]:
            if node.arg in words and node.annotation is not None:
                found.add(node.arg)
                assert ast.unparse(node.annotation) not in ("str", "str | None"), f"{file.name}:{node.lineno}: {node.arg}"
    assert found == words


def test_the_package_installs_the_command(tmp_path):
    command = str(pathlib.Path(sys.executable).with_name("dermis"))
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert said.startswith(f"dermis {dermis.__version__}")
    press = ["press", "--sensor", "wts0614", "--object", "sphere:radius=5mm", "--depth", "0.5mm", "--json"]
    done = subprocess.run([command, *press], capture_output=True, text=True, check=True, cwd=tmp_path)
    found = json.loads(done.stdout)
    reading = dermis.Sensor.preset("wts0614").press(dermis.Object.sphere(radius=5e-3), depth=0.5e-3)
    assert found["sum_n"] == pytest.approx(reading.sum, rel=1e-9), sorted(found)
    wrong = subprocess.run([sys.executable, "-m", "dermis", "press", "--sensr", "x"], capture_output=True, text=True)
    assert wrong.returncode == 2 and wrong.stderr.startswith("dermis: ") and wrong.stderr.count("\n") == 1
    missing = subprocess.run([command, "sensors", "no-such"], capture_output=True, text=True)
    assert missing.returncode == 1 and "no-such" in missing.stderr
    assert "--crf" in subprocess.run([command, "videos", "--help"], capture_output=True, text=True, check=True).stdout


def test_the_readme_is_true(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    text = (pathlib.Path(__file__).parent.parent / "README.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # a first example lies in the range of its sensor
        exec(compile(code, "README.md", "exec"), {})
        image = tmp_path / "press.png"
        assert image.stat().st_size > 10_000
        image.unlink()
        text = (pathlib.Path(__file__).parents[3] / "README.md").read_text()
        exec(compile(text.split("```python\n")[1].split("```")[0], "README.md of the project", "exec"), {})
        assert image.stat().st_size > 10_000


# What an example of a module needs; `cargo xtask validate guide` runs those whose packages are missing here.
EXAMPLES = {
    "dermis": [],
    "dermis.calibration": [],
    "dermis.dataset": ["pyarrow"],
    "dermis.estimate": [],
    "dermis.experiments": [],
    "dermis.gym": ["gymnasium", "mujoco"],
    "dermis.jax": ["jax"],
    "dermis.mjwarp": ["mujoco_warp"],
    "dermis.mjx": ["jax", "mujoco.mjx"],
    "dermis.mujoco": ["mujoco"],
    "dermis.newton": ["newton"],
    "dermis.rerun": ["rerun"],
    "dermis.torch": ["torch", "pyarrow"],
}


def test_every_text_with_an_example_is_tested():
    package = pathlib.Path(dermis.__file__).parent
    shown = {path for path in package.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8")}
    known = {name.replace("dermis", "", 1).replace(".", "/").strip("/") for name in EXAMPLES}
    assert {path.relative_to(package).with_suffix("").as_posix().removesuffix("__init__").strip("/") for path in shown} == known
    texts = [path.read_text(encoding="utf-8") for path in (*shown, package / "_native.pyi")]
    assert not [text for text in texts if "doctest: +SKIP" in text]


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_texts_show_is_what_comes_out(name, tmp_path, monkeypatch):
    for needed in EXAMPLES[name]:
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    docs = pathlib.Path(__file__).parents[3] / "docs"
    if name in ("dermis.gym", "dermis.mujoco"):
        (tmp_path / "gripper.xml").write_text((docs / "mujoco.md").read_text().split("```xml file=gripper.xml\n")[1].split("```")[0])
    if name in ("dermis.mjwarp", "dermis.newton"):
        import warp

        warp.config.log_level = warp.LOG_WARNING  # else it prints what it compiles
    if name == "dermis.mjwarp":
        (tmp_path / "plate.xml").write_text(PLATE)
    if name == "dermis.rerun":
        (tmp_path / "scene.toml").write_text((docs / "tour.md").read_text().split("```toml file=weigh.toml\n")[1].split("```")[0])
    if name in ("dermis.dataset", "dermis.torch"):
        example = subprocess.run([sys.executable, "-m", "dermis", "dataset", "example", "array"], capture_output=True, text=True, check=True)
        (tmp_path / "array.toml").write_text(re.sub(r"(?m)^count = .*", "count = 20", example.stdout))
    if name == "dermis.torch":
        from dermis import dataset

        dataset.make("array.toml", "out/array")
    done = doctest.testmod(importlib.import_module(name))
    assert done.failed == 0 and done.attempted > 1


PLATE = """
<mujoco>
  <worldbody>
    <body name="plate"><geom type="box" size=".05 .05 .01" pos="0 0 -.01"/><site name="pad"/></body>
    <body pos="0 0 .0099"><freejoint/><geom name="ball" type="sphere" size=".01" mass=".1"/></body>
  </worldbody>
</mujoco>
"""


def resident_bytes():
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not pathlib.Path("/proc/self/statm").exists(), reason="reads /proc")
def test_a_thousand_lives_leave_nothing_behind():
    ball = dermis.Object.sphere(radius=10e-3)

    def live(count):
        for _ in range(count):
            sensor = dermis.Sensor.preset("uji-foam-14x6")
            thing = dermis.Object.box(size=[5e-3, 5e-3, 5e-3])
            sensor.press(ball, depth=1e-3)
            reading = sensor.step([(ball, (0, 0, 9e-3)), (thing, (5e-3, 5e-3, 2e-3))], dt=1e-3)
            assert reading.taxels.size == 84 and sensor.state
            with pytest.raises(dermis.Error):
                sensor.step(ball, pose=(0, 0, float("nan")), dt=1e-3)
        gc.collect()

    live(200)
    before = resident_bytes()
    live(1000)
    assert resident_bytes() - before < 5e6


def test_the_package_shows_the_page(tmp_path):
    """`python -m dermis view` in any folder: the page and its module, on the loopback address."""
    command = [sys.executable, "-m", "dermis", "view", "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as server:
        try:
            url = server.stdout.readline().split()[0]
            assert url.startswith("http://127.0.0.1:")
            for name, least in [("", 1000), ("main.js", 1000), ("dermis.wasm.gz", 100_000)]:
                with urllib.request.urlopen(url + name) as reply:
                    assert len(reply.read()) > least, name
        finally:
            server.kill()


def test_the_wheel_has_the_engine_plugin_and_its_licence():
    files = {str(path) for path in importlib.metadata.files("dermis")}
    assert str(_engine_plugin.path().relative_to(pathlib.Path(dermis.__file__).parent.parent)) in files
    assert importlib.metadata.metadata("dermis")["License-Expression"] == "MIT OR Apache-2.0"
    assert any("LICENSE" in name for name in files), sorted(files)


def test_an_installation_without_the_engine_plugin_is_silent_until_it_is_asked_for(monkeypatch, tmp_path):
    """MuJoCo calls the entry point at every import and prints a warning if it raises."""
    monkeypatch.setattr(_engine_plugin, "place", lambda: tmp_path / "missing.so")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (entry,) = importlib.metadata.entry_points(group="mujoco.plugins", name="dermis")
        assert entry.load()() is None
    with pytest.raises(FileNotFoundError, match="cargo xtask wheel"):
        _engine_plugin.load()


@pytest.mark.parametrize(("system", "name"), [("linux", "libdermis_mujoco.so"), ("darwin", "libdermis_mujoco.dylib"), ("win32", "dermis_mujoco.dll")])
def test_the_engine_plugin_has_the_name_of_the_system(monkeypatch, system, name):
    monkeypatch.setattr(sys, "platform", system)
    assert _engine_plugin.place().name == name


def test_a_package_page_tells_what_a_stranger_looks_for():
    told = importlib.metadata.metadata("dermis")
    assert {"Homepage", "Documentation", "Changelog", "Issues"} == {url.split(",")[0] for url in told.get_all("Project-URL")}
    assert {"mujoco", "gym", "ros", "rerun", "torch", "datasets"} <= set(told.get_all("Provides-Extra"))
    versions = [line.rsplit(" ", 1)[1] for line in told.get_all("Classifier") if "Python :: 3." in line]
    assert told["Requires-Python"] == f">={versions[0]}", versions
    assert any(line.startswith("Development Status") for line in told.get_all("Classifier"))
    # Relative links of a README are broken on a package page.
    links = re.findall(r"\]\(([^)]+)\)", told.get_payload())
    assert links and not [link for link in links if not link.startswith("https://") and not link.startswith("#")]
