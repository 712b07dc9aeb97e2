"""NVIDIA's run-time compiler, where pip has put it."""

from __future__ import annotations

import ctypes
import importlib.util
import pathlib

_looked = False


def preload() -> None:
    """Loads the libnvrtc that a package of NVIDIA's carries (``nvidia-cuda-nvrtc``; PyTorch brings it along), if there is one.

    The loader does not know the folders of Python packages; a library that is loaded already is found by its name.
    """
    global _looked
    if _looked:
        return
    _looked = True
    found = importlib.util.find_spec("nvidia")
    for root in (found.submodule_search_locations or []) if found else []:
        # The newest first: a driver runs the code of older compilers as well, and ours asks for what is new.
        for path in sorted(pathlib.Path(root).glob("*/lib/libnvrtc.so.*"), reverse=True):
            try:
                ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
            except OSError:
                continue
            return
