"""Finds NVIDIA's run-time compiler in Python packages."""

from __future__ import annotations

import ctypes
import importlib.util
import pathlib

_searched = False


def preload() -> None:
    """Loads libnvrtc from the package ``nvidia-cuda-nvrtc``, which PyTorch installs, if it is installed.

    The dynamic loader does not search Python packages, but it finds a loaded library by its name.
    """
    global _searched
    if _searched:
        return
    _searched = True
    found = importlib.util.find_spec("nvidia")
    for root in (found.submodule_search_locations or []) if found else []:
        # Newest first: a driver also runs code from older compilers.
        for path in sorted(pathlib.Path(root).glob("*/lib/libnvrtc.so.*"), reverse=True):
            try:
                ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
            except OSError:
                continue
            return
