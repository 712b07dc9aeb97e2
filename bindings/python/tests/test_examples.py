"""Every example runs; each ends in an assertion of its own."""

import os
import pathlib
import runpy

import pytest

EXAMPLES = sorted((pathlib.Path(__file__).parent.parent / "examples").glob("*.py"))
# Packages that an example needs besides dermis; `cargo xtask validate` runs the examples whose packages are missing here.
NEEDS = {
    "classify_indenters": ["torch", "pyarrow", "PIL"],
    "panda_lift": ["robosuite"],
    "pybullet_contacts": ["pybullet"],
    "shadow_touch": ["gymnasium_robotics"],
    "train_on_gpu": ["gymnasium", "mujoco", "torch"],
    "train_policy": ["gymnasium", "mujoco"],
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example, tmp_path, monkeypatch):
    for needed in NEEDS.get(example.stem, []):
        pytest.importorskip(needed)
    monkeypatch.setenv("DERMIS_OUT", str(tmp_path))
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setattr("sys.argv", [str(example)])
    runpy.run_path(str(example), run_name="__main__")
    most = 80 if example.stem == "train_on_gpu" else 60  # a whole training loop
    assert len(example.read_text().splitlines()) <= most, "an example fits on one screen"
    assert "assert " in example.read_text()
    assert os.listdir(tmp_path) or example.stem not in ("press_and_show", "gelsight_press", "panda_lift", "shadow_touch")
