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


def stand_in_for_torch() -> None:
    """Only names and types of PyTorch are needed, and it is large: where it is missing, an empty module stands for it."""
    torch, utils, data = (types.ModuleType(name) for name in ("torch", "torch.utils", "torch.utils.data"))
    torch.Tensor = type("Tensor", (), {"__module__": "torch"})
    data.Dataset = type("Dataset", (), {"__module__": "torch.utils.data", "__class_getitem__": classmethod(lambda cls, _: cls)})
    sys.modules |= {"torch": torch, "torch.utils": utils, "torch.utils.data": data}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    out = parser.parse_args().out
    # A module that lists its names in `__all__` hides its submodules from pdoc.
    public = [f"dermis.{module.name}" for module in pkgutil.iter_modules(dermis.__path__) if not module.name.startswith("_")]
    # Imported here: pdoc keeps modules from starting programs, and other packages look for PyTorch.
    for name in public:
        if name != "dermis.torch":
            importlib.import_module(name)
    if importlib.util.find_spec("torch") is None:
        stand_in_for_torch()
    pdoc.render.configure(docformat="google", search=True)
    pdoc.pdoc("dermis", *public, output_directory=out)


if __name__ == "__main__":
    main()
