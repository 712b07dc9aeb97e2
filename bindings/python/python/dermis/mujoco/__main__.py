"""``python -m dermis.mujoco``: installs the engine plugin, so that every program that imports MuJoCo loads it.

MuJoCo 4.0 and later find it automatically. For older versions it is linked into MuJoCo's plugin folder, so that ``python -m
mujoco.viewer`` opens models with a dermis.sensor.
"""

import pathlib
import sys

import mujoco
from dermis._engine_plugin import path


def main() -> None:
    library = path()
    if int(mujoco.__version__.split(".")[0]) >= 4:
        print(f"{library}: MuJoCo {mujoco.__version__} loads it automatically")
        return
    link = pathlib.Path(mujoco.PLUGINS_DIR) / library.name
    if link.is_symlink():
        link.unlink()
    try:
        link.symlink_to(library)
    except OSError as error:
        sys.exit(f"{link}: the engine plugin cannot be linked there: {error.strerror}; call dermis.mujoco.load_plugin() in programs instead")
    print(f"{link}: MuJoCo {mujoco.__version__} will load it")


if __name__ == "__main__":
    main()
