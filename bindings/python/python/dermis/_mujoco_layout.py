"""Field offsets of MuJoCo's structs, computed from the declarations that the mujoco package contains.

dermis holds a table for every version of MuJoCo that was released before it; this serves later versions.
"""

from __future__ import annotations

import ctypes
import pathlib
from collections.abc import Sequence
from typing import Any

from dermis import _optional
from dermis._native import mujoco_layouts, set_mujoco_layout

_NUMBERS: dict[str, Any] = {
    "char": ctypes.c_char,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "mjtNum": ctypes.c_double,
    "int": ctypes.c_int,
    "unsigned int": ctypes.c_uint,
    "size_t": ctypes.c_size_t,
    "uintptr_t": ctypes.c_size_t,
    "uint64_t": ctypes.c_uint64,
    "int64_t": ctypes.c_int64,
    "mjtSize": ctypes.c_int64,
    "mjtByte": ctypes.c_ubyte,
    "mjtBool": ctypes.c_ubyte,
}
# Fields that are not named as in the struct where they are.
_OPTIONS = ("timestep", "integrator", "disableflags")
_FLAGS = {"disable_contact": "mjDSBL_CONTACT", "disable_filterparent": "mjDSBL_FILTERPARENT", "disable_eulerdamp": "mjDSBL_EULERDAMP"}


class _Types:
    """C types of declarations."""

    def __init__(self, structs: dict[str, Any], enums: dict[str, Any]) -> None:
        self.structs, self.enums = structs, enums
        self.known: dict[str, Any] = {}

    def named(self, name: str) -> Any:
        if name in _NUMBERS:
            return _NUMBERS[name]
        if name in self.enums:
            return ctypes.c_int
        if name not in self.known:
            if name not in self.structs:
                raise LookupError(f"the C type {name} is unknown")
            self.known[name] = self.record(self.structs[name].fields, ctypes.Structure)
        return self.known[name]

    def record(self, fields: Sequence[Any], base: Any) -> Any:
        members, unnamed = [], []
        for i, field in enumerate(fields):
            name = getattr(field, "name", "") or f"_unnamed{i}"
            if name.startswith("_unnamed"):
                unnamed.append(name)
            members.append((name, self.of(field.type if hasattr(field, "type") else field)))
        return type("Record", (base,), {"_anonymous_": unnamed, "_fields_": members})

    def of(self, declared: Any) -> Any:
        kind = type(declared).__name__
        if kind == "PointerType":
            return ctypes.c_void_p
        if kind == "ArrayType":
            inner = self.of(declared.inner_type)
            for extent in reversed(declared.extents):
                inner = inner * extent
            return inner
        if kind in ("AnonymousStructDecl", "AnonymousUnionDecl"):
            return self.record(declared.fields, ctypes.Union if "Union" in kind else ctypes.Structure)
        return self.named(declared.name)


def offsets(fields: Sequence[str]) -> dict[str, int]:
    """Offsets (bytes) of the fields, and the other numbers of dermis' table of versions. Raises LookupError if the package lacks one."""
    _optional.require("dermis.mujoco", "mujoco.introspect")
    from mujoco.introspect import enums, structs

    types = _Types(structs.STRUCTS, enums.ENUMS)
    model, data, contact, option = (types.named(name) for name in ("mjModel", "mjData", "mjContact", "mjOption"))
    bits = enums.ENUMS["mjtDisableBit"].values
    out = {}
    for field in fields:
        name = field.removeprefix("contact_")
        if field == "count_bytes":
            out[field] = model.ngeom.size
        elif field == "contact_bytes":
            out[field] = ctypes.sizeof(contact)
        elif field in _FLAGS:
            out[field] = bits[_FLAGS[field]]
        elif field in _OPTIONS:
            out[field] = model.opt.offset + getattr(option, field).offset
        elif field.startswith("contact_") and hasattr(contact, name):
            out[field] = getattr(contact, name).offset
        elif hasattr(model, field):
            out[field] = getattr(model, field).offset
        elif hasattr(data, field):
            out[field] = getattr(data, field).offset
        else:
            raise LookupError(f"MuJoCo's structs have no field {field}")
    return out


def provide(library: pathlib.Path | None = None, *, always: bool = False) -> None:
    """Hands the offsets of a version that dermis does not know to the module and, if given, to the engine plugin."""
    _optional.require("dermis.mujoco", "mujoco")
    import mujoco

    versions, fields = mujoco_layouts()
    if mujoco.mj_versionString() in versions and not always:
        return
    numbers = list(offsets(fields).values())
    set_mujoco_layout(numbers)
    if library is not None:
        plugin = ctypes.CDLL(str(library))
        plugin.dermis_mujoco_set_layout((ctypes.c_size_t * len(numbers))(*numbers), ctypes.c_size_t(len(numbers)))
