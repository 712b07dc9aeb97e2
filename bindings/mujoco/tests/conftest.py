"""Loads the plugin once. Where it is: the environment variable DERMIS_MUJOCO_PLUGIN, else the installed package dermis."""

import os
import pathlib

import mujoco
import pytest

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"


def plugin_path():
    given = os.environ.get("DERMIS_MUJOCO_PLUGIN")
    if given:
        return pathlib.Path(given)
    from dermis import _engine_plugin

    return _engine_plugin.path()


mujoco.mj_loadPluginLibrary(str(plugin_path()))


@pytest.fixture
def example():
    """The text of an example, with replacements that must be found."""

    def text(name, *replacements):
        written = (EXAMPLES / f"{name}.xml").read_text()
        for old, new in replacements:
            assert old in written, old
            written = written.replace(old, new)
        return written

    return text


@pytest.fixture
def load():
    """A model and its data from a text."""

    def made(text):
        model = mujoco.MjModel.from_xml_string(text)
        return model, mujoco.MjData(model)

    return made
