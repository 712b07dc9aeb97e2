"""Copies the docstrings of the compiled module into its stub: ``python bindings/python/stub_docs.py``, with the wheel installed.

The stub has the types, the Rust sources have the texts. ``tests/test_package.py`` compares them.
"""

from __future__ import annotations

import ast
import inspect
import pathlib
from typing import Any

import dermis._native

STUB = pathlib.Path(__file__).parent / "python/dermis/_native.pyi"
Edit = tuple[int, int, list[str]]  # first line, line after the last, new lines


def doc_of(owner: Any, name: str) -> str | None:
    """The docstring of a member at run time; None for special methods and private members."""
    if name.startswith("_"):
        return None
    found = getattr(owner, name, None)
    return inspect.getdoc(found) if found is not None else None


def written(doc: str, indent: str) -> list[str]:
    """A docstring as lines of source."""
    lines = doc.replace("\\", "\\\\").replace('"""', '\\"""').splitlines()
    if lines[-1].endswith('"'):
        lines[-1] = lines[-1][:-1] + '\\"'
    end = [f'{indent}"""'] if len(lines) > 1 else []
    body = [f'{indent}"""{lines[0]}', *(f"{indent}{line}" if line else "" for line in lines[1:])]
    return [*body, *end] if end else [body[0] + '"""']


def is_doc(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_empty(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...


def edits_of(body: list[ast.stmt], owner: Any, indent: str) -> list[Edit]:
    """The changes to the members of a module or a class."""
    edits: list[Edit] = []
    seen: set[str] = set()
    for place, node in enumerate(body):
        after = body[place + 1] if place + 1 < len(body) else None
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            doc = doc_of(owner, node.target.id) if indent else None
            old = (after.lineno - 1, after.end_lineno or 0) if after is not None and is_doc(after) else (node.end_lineno or 0,) * 2
            if doc is not None or old[0] != old[1]:
                edits.append((*old, written(doc, indent) if doc else []))
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            first, inner = node.body[0], indent + "    "
            doc = None if node.name in seen else doc_of(owner, node.name)
            seen.add(node.name)
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                edits += edits_of(node.body, getattr(owner, node.name), inner)
            if is_doc(first):
                edits.append((first.lineno - 1, first.end_lineno or 0, written(doc, inner) if doc else [f"{inner}..."]))
            elif doc is not None and is_empty(first):
                # `def f() -> None: ...` on one line becomes a body of its own.
                edits.append((-first.lineno, first.col_offset, written(doc, inner)))
            elif doc is not None:
                edits.append((first.lineno - 1, first.lineno - 1, written(doc, inner)))
    return edits


def with_docs(stub: str) -> str:
    """The text of a stub with the docstrings of the compiled module."""
    lines = stub.splitlines()
    edits = edits_of(ast.parse(stub).body, dermis._native, "")
    # From the end; a function in one line before what is inserted above it.
    for first, last, new in sorted(edits, key=lambda edit: (edit[0], False) if edit[0] >= 0 else (-edit[0] - 1, True), reverse=True):
        if first < 0:
            head = lines[-first - 1][:last].rstrip()
            lines[-first - 1 : -first] = [head, *new] if head else new
        else:
            lines[first:last] = new
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    STUB.write_text(with_docs(STUB.read_text(encoding="utf-8")), encoding="utf-8")
