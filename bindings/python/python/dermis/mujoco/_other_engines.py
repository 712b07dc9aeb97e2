"""Refuses to hand a model with coupled skins to MJX and MuJoCo Warp.

A coupled skin acts in the steps of MuJoCo itself, and MuJoCo's own contact with it is disabled in the model. Another engine would take the
disabled contact and not the skin: the object would fall through.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.util
import sys
from typing import Any

from dermis._native import Error, has_coupled_skins

# Modules whose put_model copies a model, with the ones that have their own sensors.
_ENGINES = {"mujoco.mjx": ("MJX", "dermis.mjx"), "mujoco_warp": ("MuJoCo Warp", "dermis.mjwarp")}


def _guard(module: Any) -> None:
    """Wraps put_model of an engine."""
    put_model = module.put_model
    if hasattr(put_model, "__dermis__"):
        return
    name, own = _ENGINES[module.__name__]

    @functools.wraps(put_model)
    def guarded(model: Any, *args: Any, **kwargs: Any) -> Any:
        if type(model).__name__ == "MjModel" and has_coupled_skins(model):
            raise Error(
                f'the model has a sensor attached in mode "couple", which {name} does not run: the object would fall through the skin; '
                f"`detach` it first, and attach with {own} for {name}"
            )
        return put_model(model, *args, **kwargs)

    guarded.__dermis__ = True  # type: ignore[attr-defined]
    module.put_model = guarded


class _Finder(importlib.abc.MetaPathFinder):
    """Wraps put_model of the engines that are imported later."""

    def __init__(self) -> None:
        self._searching: set[str] = set()

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name not in _ENGINES or name in self._searching:
            return None
        self._searching.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._searching.discard(name)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            run(module)
            _guard(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def guard() -> None:
    """From now on, put_model of MJX and MuJoCo Warp refuses models with coupled skins."""
    for name in _ENGINES:
        if name in sys.modules:
            _guard(sys.modules[name])
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
