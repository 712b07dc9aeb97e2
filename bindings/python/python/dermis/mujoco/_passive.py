"""The place in a step where skins push: MuJoCo's callback for passive forces.

There is one for the whole process. It is shared with whatever was there before, asks only the attachments of the mjData that is being
stepped, and goes when the last of them does. It is a C function, because MuJoCo cannot compile a model while a Python function is its
callback: that step's mjData has no Python object.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from typing import Any, Protocol

import mujoco


class Pushes(Protocol):
    """Something that adds to data.qfrc_passive, and raises nothing."""

    def push(self) -> None: ...


_asked: dict[int, list[weakref.ref[Pushes]]] = {}
_before: list[Any] = []
_C_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


def _push(address: int) -> None:
    for ref in _asked.get(address, ()):
        owner = ref()
        if owner is not None:
            owner.push()


def _called_from_c(model: int, data: int) -> None:
    if _before and _before[0] is not None:
        _before[0](model, data)
    _push(data)


_from_c = _C_FUNCTION(_called_from_c)


def _from_python(model: Any, data: Any) -> None:
    _before[0](model, data)
    _push(data._address)


def join(owner: Pushes, address: int) -> Callable[[], object]:
    """Lets the owner push in every step of the mjData at an address, until it is gone or what is returned is called."""
    ref = weakref.ref(owner)
    _asked.setdefault(address, []).append(ref)
    current = mujoco.get_mjcb_passive()
    if not _ours(current):
        _before[:] = [current]
        in_c = current is None or isinstance(current, _C_FUNCTION.__mro__[1])
        mujoco.set_mjcb_passive(_from_c if in_c else _from_python)
    end = weakref.finalize(owner, _leave, address, ref)
    end.atexit = False
    return end


def _ours(callback: Any) -> bool:
    return callback is _from_c or callback is _from_python


def _leave(address: int, ref: weakref.ref[Pushes]) -> None:
    left = [other for other in _asked.get(address, []) if other is not ref]
    _asked[address] = left
    if not left:
        del _asked[address]
    if not _asked and _ours(mujoco.get_mjcb_passive()):
        mujoco.set_mjcb_passive(_before[0])
        _before.clear()
