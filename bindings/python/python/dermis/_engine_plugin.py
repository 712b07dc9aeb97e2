"""The MuJoCo engine plugin in the wheel: sensors from MJCF alone, without Python."""

import pathlib


def path() -> pathlib.Path:
    """Path of the library. Raises FileNotFoundError if the package was installed without it."""
    library = pathlib.Path(__file__).parent / "_plugin" / "libdermis_mujoco.so"
    if not library.is_file():
        raise FileNotFoundError(
            f"{library}: this installation of dermis has no engine plugin; install a wheel made by `cargo xtask wheel`"
        )
    return library


def load() -> None:
    """Registers ``dermis.sensor`` with MuJoCo. MuJoCo 4.0 and later do this automatically."""
    from mujoco import mj_loadPluginLibrary

    library = path()
    mj_loadPluginLibrary(str(library))
    try:
        from dermis import _mujoco_layout

        _mujoco_layout.provide(library)
    except (ImportError, LookupError):
        # A model with a dermis.sensor is refused with the reason.
        pass
