"""The MuJoCo engine plugin that the wheel brings along: sensors from MJCF alone, without any Python."""

import pathlib


def path() -> pathlib.Path:
    """Where the library is. Raises FileNotFoundError where the package was installed without it."""
    library = pathlib.Path(__file__).parent / "_plugin" / "libdermis_mujoco.so"
    if not library.is_file():
        raise FileNotFoundError(
            f"{library}: this installation of dermis has no engine plugin; install a wheel made by `cargo xtask wheel`"
        )
    return library


def load() -> None:
    """Registers ``dermis.sensor`` with MuJoCo. MuJoCo 4.0 and later do it by themselves."""
    from mujoco import mj_loadPluginLibrary

    mj_loadPluginLibrary(str(path()))
