"""MuJoCo's own contact between pairs of geoms, switched off while a skin stands in for it.

Two geoms touch when a bit of one's contype is in the other's conaffinity. A geom that shall no longer touch some objects gets contype 0
and a bit of its own as conaffinity; that bit is added to the contype of everything else that it used to touch. Nothing else changes.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import mujoco

from dermis import Error
from dermis.mujoco._geoms import name, related, weld

BITS = [1 << bit for bit in range(30, -1, -1)]


def touch(model: Any, a: int, b: int) -> bool:
    """Whether MuJoCo would let two geoms touch, if no skin had switched that off."""
    kinds, affinities = Silence.original_bits(model)
    if model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONTACT:
        return False
    if paired(model, a, b):
        return True
    if not (kinds[a] & affinities[b] or kinds[b] & affinities[a]):
        return False
    bodies = int(model.geom_bodyid[a]), int(model.geom_bodyid[b])
    if weld(model, bodies[0]) == weld(model, bodies[1]) or related(model, *bodies):
        return False
    excluded = {(bodies[0] << 16) + bodies[1], (bodies[1] << 16) + bodies[0]}
    return not excluded.intersection(int(signature) for signature in model.exclude_signature)


def paired(model: Any, a: int, b: int) -> bool:
    """Whether the model has a <pair> of these geoms."""
    return any({int(one), int(other)} == {a, b} for one, other in zip(model.pair_geom1, model.pair_geom2))


class Silence:
    """Which contacts of a model are off, and how to bring them back."""

    _of_models: dict[int, Silence] = {}

    def __init__(self, model: Any) -> None:
        self.model = model
        self.original = model.geom_contype.copy(), model.geom_conaffinity.copy()
        self.pairs: list[tuple[list[int], list[int]]] = []

    @classmethod
    def original_bits(cls, model: Any) -> tuple[Any, Any]:
        """contype and conaffinity as the model had them."""
        silence = cls._of_models.get(model._address)
        return silence.original if silence else (model.geom_contype, model.geom_conaffinity)

    @classmethod
    def off(cls, owner: object, model: Any, own: list[int], objects: list[int]) -> Callable[[], object]:
        """Switches off the contact between own geoms and objects, until the owner is gone or what is returned is called."""
        for geom in own:
            for other in objects:
                if paired(model, geom, other):
                    raise Error(
                        f"the model has a <pair> of {name(model, geom)} and {name(model, other)}, which would press beside the skin; remove it"
                    )
        if model._address not in cls._of_models:
            cls._of_models[model._address] = cls(model)
        silence = cls._of_models[model._address]
        pair = (own, objects)
        silence.pairs.append(pair)
        try:
            silence.write()
        except Error:
            silence.on(pair)
            raise
        end = weakref.finalize(owner, silence.on, pair)
        end.atexit = False
        return end

    def on(self, pair: tuple[list[int], list[int]]) -> None:
        """Gives MuJoCo a contact back."""
        self.pairs = [other for other in self.pairs if other is not pair]
        self.write()
        if not self.pairs:
            self._of_models.pop(self.model._address, None)

    def write(self) -> None:
        """Writes the bits from the original ones."""
        model = self.model
        model.geom_contype[:], model.geom_conaffinity[:] = self.original
        for own, objects in self.pairs:
            for geom in own:
                others = [other for other in range(model.ngeom) if other not in objects and self._meet(geom, other)]
                model.geom_contype[geom] = model.geom_conaffinity[geom] = 0
                if others:
                    bit = self._free_bit(geom)
                    model.geom_conaffinity[geom] = bit
                    model.geom_contype[others] |= bit

    def _meet(self, a: int, b: int) -> bool:
        kinds, affinities = self.model.geom_contype, self.model.geom_conaffinity
        return a != b and bool(kinds[a] & affinities[b] or kinds[b] & affinities[a])

    def _free_bit(self, geom: int) -> int:
        used = 0
        for bits in (*self.model.geom_contype, *self.model.geom_conaffinity):
            used |= int(bits)
        for bit in BITS:
            if not used & bit:
                return bit
        raise Error(
            f"the model has no bit of contype left to switch the contact of {name(self.model, geom)} off; use "
            '<contact><exclude body1="…" body2="…"/></contact> in its place'
        )
