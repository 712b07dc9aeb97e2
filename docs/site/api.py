"""Writes the Python reference with pdoc, from docstrings and the types of the stub: `python docs/site/api.py --out dist/guide/python`."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import pathlib
import pkgutil
import sys
import types

import dermis
import pdoc
import pdoc.render


def stand_in(name: str, parts: dict[str, object]) -> None:
    """Only names and types of a large package are needed: where it is missing, an empty module stands for it, with the given parts."""
    if importlib.util.find_spec(name) is not None:
        return
    root = sys.modules[name] = types.ModuleType(name)
    for path, part in parts.items():
        module = root
        for word in path.split(".")[:-1]:
            full = f"{module.__name__}.{word}"
            sys.modules.setdefault(full, types.ModuleType(full))
            setattr(module, word, sys.modules[full])
            module = sys.modules[full]
        setattr(module, path.split(".")[-1], part)


def named(name: str) -> type:
    """A class with the name of one of another package."""
    module, _, own = name.rpartition(".")
    return type(own, (), {"__module__": module, "__class_getitem__": classmethod(lambda cls, _: cls)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    out = parser.parse_args().out
    # A module that lists its names in `__all__` hides its submodules from pdoc.
    public = [f"dermis.{module.name}" for module in pkgutil.iter_modules(dermis.__path__) if not module.name.startswith("_")]
    # Imported here: pdoc keeps modules from starting programs, and other packages look for PyTorch.
    for name in public:
        if name not in ("dermis.torch", "dermis.jax"):
            importlib.import_module(name)
    torch = {name: named(f"torch.{name}") for name in ("Tensor", "utils.data.Dataset", "autograd.Function")}
    stand_in("torch", {**torch, "autograd.function.once_differentiable": lambda function: function})
    stand_in("jax", {"Array": named("jax.Array"), "numpy.ndarray": named("jax.numpy.ndarray")})
    pdoc.render.configure(docformat="google", search=True)
    pdoc.pdoc("dermis", *public, output_directory=out)


if __name__ == "__main__":
    main()
