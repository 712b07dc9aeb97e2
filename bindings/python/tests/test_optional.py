"""Optional packages: one that is missing is named with what installs it, one that is broken with its cause."""

import ast
import pathlib
import subprocess
import sys

import pytest

import dermis
from dermis import _optional

PACKAGE = pathlib.Path(dermis.__file__).parent
OURS = {"dermis", "numpy", *sys.stdlib_module_names}


def imports(body, known):
    """Packages that are imported without a check before, in a list of statements; ``known`` are those that were checked."""
    known = set(known)
    for node in body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        checks = [call for call in ast.walk(node) if isinstance(call, ast.Call) and ast.unparse(call.func) == "_optional.require"]
        if isinstance(node, (ast.Expr, ast.Try)):
            known |= {argument.value.partition(".")[0] for call in checks for argument in call.args[1:]}
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            if not getattr(node, "level", 0):
                yield from ({name.partition(".")[0] for name in names} - OURS - known)
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(node, field, [])
            yield from imports(inner if isinstance(inner, list) else [], known)
        for handler in getattr(node, "handlers", []):
            yield from imports(handler.body, known)


def test_every_optional_import_is_checked_first():
    for path in PACKAGE.rglob("*.py"):
        above = [path.with_name("__init__.py")] if path.parent != PACKAGE and path.name not in ("__init__.py", "_edge_follow_vector.py") else []
        known = set()
        for file in above:
            known |= {constant.value for constant in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(constant, ast.Constant) and isinstance(constant.value, str)}
        found = sorted(imports(ast.parse(path.read_text(encoding="utf-8")).body, known))
        if path.name == "_edge_follow_vector.py":
            found = [name for name in found if name not in ("gymnasium",)]
        assert not found, f"{path.name}: {found} without _optional.require"


# The packages that a part of dermis needs, and code that uses it.
USES = {
    "torch": ("torch", "import dermis.torch", "dermis.torch needs torch"),
    "jax": ("jax", "import dermis.jax", "dermis.jax needs jax"),
    "mjx": ("jax", "import dermis.mjx", "dermis.mjx needs jax"),
    "mujoco": ("mujoco", "import dermis.mujoco", "dermis.mujoco needs mujoco"),
    "gymnasium": ("gymnasium", "import dermis.gym", "dermis.gym needs gymnasium"),
    "vector": ("torch", "import dermis.gym; dermis.gym.EdgeFollowVector(2)", "dermis.gym.EdgeFollowVector needs torch"),
    "pyarrow": ("pyarrow", "import dermis.dataset; dermis.dataset.Touches('.')", "dermis.dataset.Touches needs pyarrow"),
    "ray": ("ray", "from dermis import dataset; dataset._make_with_ray('', '', None, None, '', None)", "needs ray"),
    "av": ("av", "from dermis import _video; _video._av()", "needs av"),
    "matplotlib": ("matplotlib", "sensor.press(ball, depth=1e-3).show()", "Reading.show() needs matplotlib"),
    "rerun": ("rerun", "import dermis.rerun; dermis.rerun.log(dermis.World())", "dermis.rerun needs rerun"),
    "newton": ("newton", "from dermis import newton; newton._Shapes.shape(type('', (), {})())", "dermis.newton needs newton"),
    "warp": ("warp", "from dermis import newton; newton._exclude(None, None, None)", "dermis.newton needs warp"),
    "cyclonedds": ("cyclonedds", "from dermis.ros import _transport; _transport.transport('x', dds=True)", "needs cyclonedds"),
}
START = "import sys, dermis; sensor, ball = dermis.Sensor.preset('wts0614'), dermis.Object.sphere(radius=5e-3);"


def said(code, path=""):
    done = subprocess.run([sys.executable, "-c", f"{START} sys.path.insert(0, {str(path)!r});\n{code}"], capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("use", USES)
def test_a_missing_package_is_named_with_what_installs_it(use):
    """``dermis.torch`` said "No module named 'torch'"."""
    package, code, words = USES[use]
    if use in ("vector",):
        pytest.importorskip("mujoco")
        pytest.importorskip("gymnasium")
    text = said(f"sys.modules[{package!r}] = None\n{code}")
    assert text.startswith("ModuleNotFoundError: ") and f"{words}, which is not installed: pip install '{_optional._INSTALLED_BY[package]}'" in text


@pytest.mark.parametrize("use", USES)
def test_a_package_that_cannot_be_imported_is_shown_with_its_cause(use, tmp_path):
    """A pyarrow with a missing library "is not installed"."""
    package, code, words = USES[use]
    if use in ("vector",):
        pytest.importorskip("mujoco")
        pytest.importorskip("gymnasium")
    for cause in ("ImportError('libthing.so.3: cannot open shared object file')", "OSError('libthing.so.3: no such file')", "ModuleNotFoundError(\"No module named 'thing'\", name='thing')"):
        (tmp_path / package).mkdir(exist_ok=True)
        (tmp_path / package / "__init__.py").write_text(f"raise {cause}\n")
        text = said(code, tmp_path)
        assert text.startswith("ImportError: ") and f"{words}, which is installed but cannot be imported ({cause.split('(')[0]}: " in text and "thing" in text


def test_every_package_in_the_list_has_an_extra_or_is_no_part_of_one():
    import importlib.metadata

    try:
        extras = set(importlib.metadata.metadata("dermis").get_all("Provides-Extra"))
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("dermis is not installed")
    named = {what.removeprefix("dermis[").removesuffix("]") for what in _optional._INSTALLED_BY.values() if what.startswith("dermis[")}
    assert named <= extras


def test_an_import_of_dermis_needs_none_of_them():
    blocked = " ".join(f"sys.modules[{package!r}] = None;" for package in _optional._INSTALLED_BY)
    done = subprocess.run([sys.executable, "-c", f"import sys; {blocked} import dermis, dermis.dataset, dermis.estimate, dermis.calibration"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
