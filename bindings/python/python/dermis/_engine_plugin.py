"""The MuJoCo engine plugin in the wheel: sensors from MJCF alone, without Python."""

import pathlib
import sys

from dermis import _optional

_NAMES = {"win32": "dermis_mujoco.dll", "darwin": "libdermis_mujoco.dylib"}


def place() -> pathlib.Path:
    """Where the library is in a package that has it."""
    return pathlib.Path(__file__).parent / "_plugin" / _NAMES.get(sys.platform, "libdermis_mujoco.so")


def path() -> pathlib.Path:
    """Path of the library. Raises FileNotFoundError if the package was installed without it."""
    library = place()
    if not library.is_file():
        raise FileNotFoundError(
            f"{library}: this installation of dermis has no engine plugin, which wheels for Linux contain; from sources, "
            "`cargo xtask wheel` makes such a wheel"
        )
    return library


def load_if_installed() -> None:
    """As ``load``; does nothing in an installation without the plugin. MuJoCo 4.0 and later call it when they are imported."""
    if place().is_file():
        load()


def load() -> None:
    """Registers ``dermis.sensor`` with MuJoCo. MuJoCo 4.0 and later do this automatically."""
    _optional.require("dermis.mujoco", "mujoco")
    from mujoco import mj_loadPluginLibrary

    library = path()
    mj_loadPluginLibrary(str(library))
    try:
        from dermis import _mujoco_layout

        _mujoco_layout.provide(library)
    except (ImportError, LookupError):
        # A model with a dermis.sensor is refused with the reason.
        pass
