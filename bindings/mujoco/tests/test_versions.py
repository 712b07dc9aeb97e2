"""How the plugin gets into a process, and which versions it takes."""

import os
import pathlib
import subprocess
import sys
import textwrap

import mujoco
import pytest
from conftest import EXAMPLES, plugin_path

TABLE = pathlib.Path(__file__).parents[3] / "crates" / "mujoco-coupling" / "src" / "layout" / "table.rs"


def python(code, **env):
    """Runs code in a fresh process."""
    run = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(run, capture_output=True, text=True, check=False, env={**os.environ, **env})


LOAD_AND_STEP = """
import mujoco
{load}
model = mujoco.MjModel.from_xml_path({example!r})
data = mujoco.MjData(model)
for _ in range(2000):
    mujoco.mj_step(model, data)
print(round(data.sensordata.sum(), 3))
"""


def code(load):
    return LOAD_AND_STEP.format(load=load, example=str(EXAMPLES / "weights.xml"))


def test_an_unknown_version_is_refused_in_one_sentence():
    if f'"{mujoco.__version__}"' in TABLE.read_text():
        pytest.skip("this version is known; one that is not is tested in its own environment")
    done = python(code(f"mujoco.mj_loadPluginLibrary({str(plugin_path())!r})"))
    said = done.stderr.strip().splitlines()[-1]
    print(done.stderr)
    assert done.returncode == 1, "an exception, not a crash"
    assert f'MuJoCo "{mujoco.__version__}" is not one of the versions' in said


def test_the_library_loads_in_a_plain_process():
    if f'"{mujoco.__version__}"' not in TABLE.read_text():
        pytest.skip("this version is not known")
    done = python(code(f"mujoco.mj_loadPluginLibrary({str(plugin_path())!r})"))
    assert done.stdout.strip() == "9.8", done.stderr


def test_an_entry_point_loads_it_by_itself(tmp_path):
    """From 4.0 on MuJoCo calls the entry points of the group `mujoco.plugins` when it is imported."""
    if int(mujoco.__version__.split(".")[0]) < 4:
        pytest.skip("entry points come with 4.0")
    info = tmp_path / "someone-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: someone\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[mujoco.plugins]\nsomeone = someone:load\n")
    (tmp_path / "someone.py").write_text(f"import ctypes\ndef load():\n    ctypes.CDLL({str(plugin_path())!r})\n")
    done = python(code(""), PYTHONPATH=str(tmp_path))
    assert done.stdout.strip() == "9.8", done.stderr


def test_loading_twice_is_harmless():
    if f'"{mujoco.__version__}"' not in TABLE.read_text():
        pytest.skip("this version is not known")
    load = f"mujoco.mj_loadPluginLibrary({str(plugin_path())!r})"
    assert python(code(f"{load}\n{load}")).stdout.strip() == "9.8"


def test_without_mujoco_the_library_does_nothing():
    done = python(f"import ctypes; ctypes.CDLL({str(plugin_path())!r}); print('fine')")
    assert done.stdout.strip() == "fine", done.stderr
