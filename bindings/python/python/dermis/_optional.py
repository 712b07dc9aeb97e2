"""Packages that dermis needs for some of its parts."""

from __future__ import annotations

import importlib

_INSTALLED_BY = {
    "PIL": "dermis[datasets]",
    "av": "dermis[video]",
    "cyclonedds": "dermis[ros]",
    "gymnasium": "dermis[gym]",
    "jax": "dermis[jax]",
    "matplotlib": "dermis[show]",
    "mujoco": "dermis[mujoco]",
    "mujoco.mjx": "mujoco-mjx",
    "newton": "newton",
    "pyarrow": "dermis[datasets]",
    "ray": "ray",
    "rclpy": "dermis[ros]",
    "rerun": "dermis[rerun]",
    "torch": "dermis[torch]",
    "tqdm": "dermis[progress]",
    "warp": "warp-lang",
}
"""What pip installs for each package."""


def require(user: str, *modules: str) -> None:
    """Imports modules of optional packages for a part of dermis, ``user``.

    Raises ModuleNotFoundError with the command that installs a missing package, and ImportError with the cause if one is installed and
    cannot be imported.
    """
    for module in modules:
        package = module if module in _INSTALLED_BY else module.partition(".")[0]
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{module}.".startswith(f"{error.name}."):
                raise _broken(user, package, error) from error
            told = f"{user} needs {package}, which is not installed: pip install '{_INSTALLED_BY[package]}'"
            raise ModuleNotFoundError(told, name=error.name) from error
        # Libraries of the system that are missing or too old are errors of many classes.
        except Exception as error:
            raise _broken(user, package, error) from error


def _broken(user: str, package: str, cause: Exception) -> ImportError:
    reason = f"{type(cause).__name__}: {cause}"
    return ImportError(f"{user} needs {package}, which is installed but cannot be imported ({reason})", name=package)
