"""Writes the Python reference with pdoc, from docstrings and the types of the stub: `python docs/site/api.py --out dist/guide/python`."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import pathlib
import pkgutil
import re
import sys
import tempfile
import types

import dermis
import pdoc
import pdoc.doc_pyi
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


#: numpy's names for types, which Python would otherwise print as what they stand for, over several lines.
NUMPY_TYPES = """
ArrayLike = type("ArrayLike", (), {"__module__": "numpy.typing"})
class NDArray(Generic[TypeVar("_T")]): __module__ = "numpy.typing"
"""


def executable(stub: str) -> str:
    """A stub that Python can run, as pdoc does: annotations are not evaluated, and names for types come after the classes they are made of."""
    stub = stub.replace("NDArray[_R]", "NDArray[np.floating]").replace("_DType[_R]", "np.dtype")
    stub = re.sub(r"\b(?!Generic)(\w+)\[_R\]", r"\1", stub)
    # Of overloads, the last takes all arguments.
    stub = re.sub(r"from numpy.typing import ArrayLike, NDArray\n|^ *@overload\n", "", stub, flags=re.M)
    classes = re.findall(r"^class (\w+)", stub, re.M)
    lines = stub.splitlines()
    late = [line for line in lines if re.match(r"_\w+ = ", line) and re.search(rf"\b({'|'.join(classes)})\b", line)]
    early = [line for line in lines if line not in late]
    after_imports = 1 + max(at for at, line in enumerate(early) if re.match("import |from ", line))
    return "\n".join(["from __future__ import annotations", *early[:after_imports], NUMPY_TYPES, *early[after_imports:], *late])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    out = parser.parse_args().out
    with tempfile.TemporaryDirectory() as folder:
        # The classes of `dermis` are those of its compiled module, and so are their types.
        stub = pathlib.Path(folder) / "dermis.pyi"
        stub.write_text(executable((pathlib.Path(dermis.__file__).parent / "_native.pyi").read_text()))
        find = pdoc.doc_pyi.find_stub_file
        pdoc.doc_pyi.find_stub_file = lambda name: stub if name == "dermis" else find(name)
        write(out)


def write(out: pathlib.Path) -> None:
    # A module that lists its names in `__all__` hides its submodules from pdoc.
    public = [f"dermis.{module.name}" for module in pkgutil.iter_modules(dermis.__path__) if not module.name.startswith("_")]
    # Imported here: pdoc keeps modules from starting programs, and other packages look for PyTorch.
    for name in public:
        if name not in ("dermis.torch", "dermis.jax", "dermis.mjx"):
            importlib.import_module(name)
    torch = {name: named(f"torch.{name}") for name in ("Tensor", "utils.data.Dataset", "autograd.Function")}
    stand_in("torch", {**torch, "autograd.function.once_differentiable": lambda function: function})
    jax = {name: named(f"jax.{name}") for name in ("Array", "numpy.ndarray", "experimental.buffer_callback.buffer_callback")}
    stand_in("jax", jax)
    pdoc.render.configure(docformat="google", search=True)
    pdoc.pdoc("dermis", *public, output_directory=out)


if __name__ == "__main__":
    main()
