"""The public API of a crate from rustdoc's JSON, and what of it breaks users in a later version."""

from __future__ import annotations

import json
import pathlib
from typing import Any


class PublicApi:
    """Every public path of a crate with its signature: types as paths, without documentation and names of arguments."""

    def __init__(self, path: pathlib.Path) -> None:
        text = json.loads(path.read_text())
        self._index, self._paths = text["index"], text["paths"]
        self.signatures: dict[str, str] = {}
        self._walk(text["root"], self._index[str(text["root"])]["name"], set())

    def _walk(self, module: int, path: str, seen: set[int]) -> None:
        """Adds the public items of a module."""
        if module in seen:
            return
        for number in self._index[str(module)]["inner"]["module"]["items"]:
            item = self._index.get(str(number))
            if item is None or item["visibility"] != "public":
                continue
            [(kind, inner)] = item["inner"].items()
            if kind == "use":
                self._reexport(inner, path, seen | {module})
            elif kind == "module":
                self._walk(number, f"{path}::{item['name']}", seen | {module})
            else:
                self._add(number, f"{path}::{item['name']}")

    def _reexport(self, use: dict[str, Any], path: str, seen: set[int]) -> None:
        target = self._index.get(str(use["id"]))
        if target is None:
            self.signatures[f"{path}::{'*' if use['is_glob'] else use['name']}"] = f"use {use['source']}"
        elif "module" in target["inner"]:
            self._walk(use["id"], path if use["is_glob"] else f"{path}::{use['name']}", seen)
        elif not use["is_glob"]:
            self._add(use["id"], f"{path}::{use['name']}")

    def _add(self, number: int, path: str) -> None:
        """Adds an item, its public fields, variants and methods, and the traits that it implements."""
        item = self._index[str(number)]
        [(kind, inner)] = item["inner"].items()
        body = dict(inner) if isinstance(inner, dict) else {"is": inner}
        numbers = []
        if kind in ("struct", "variant"):
            shape = body["kind"]
            named = shape.get("plain", shape.get("struct")) if isinstance(shape, dict) else None
            if named:
                numbers = named["fields"]
                # Whoever makes a value without private fields names all of them.
                body["kind"] = "with private fields" if named["has_stripped_fields"] else [self._name(n) for n in numbers]
            elif isinstance(shape, dict):
                body["kind"] = [self._index[str(n)]["inner"]["struct_field"] if str(n) in self._index else "private" for n in shape["tuple"]]
        elif kind == "enum":
            numbers = body.pop("variants")
            # Every variant of an exhaustive enum is named in a match.
            body["variants"] = "open" if "non_exhaustive" in json.dumps(item["attrs"]) else [self._name(n) for n in numbers]
        elif kind == "trait":
            numbers = body.pop("items")
            body["required"] = [self._name(n) for n in numbers if not self._is_provided(n)]
            body.pop("implementations", None)
        for impl in (self._index[str(n)]["inner"]["impl"] for n in body.pop("impls", []) if str(n) in self._index):
            if impl["is_synthetic"] or impl["blanket_impl"] is not None:
                continue
            if impl["trait"] is None:
                numbers = numbers + [n for n in impl["items"] if self._index[str(n)]["visibility"] == "public"]
            else:
                self.signatures[f"{path}: {self._plain(impl['trait'])}"] = "implemented"
        self.signatures[path] = f"{kind} {json.dumps(self._plain(body), sort_keys=True)}"
        for child in numbers:
            if str(child) in self._index:
                self._add(child, f"{path}::{self._name(child)}")

    def _name(self, number: int) -> str:
        return self._index[str(number)]["name"]

    def _is_provided(self, number: int) -> bool:
        [(kind, inner)] = self._index[str(number)]["inner"].items()
        return bool(inner.get("has_body")) if kind == "function" else False

    def _plain(self, value: Any) -> Any:
        """A signature without numbers of items and names of arguments."""
        if isinstance(value, list):
            return [self._plain(part) for part in value]
        if not isinstance(value, dict):
            return value
        if "id" in value and ("path" in value or "name" in value):
            known = self._paths.get(str(value["id"]))
            name = "::".join(known["path"]) if known else value.get("path", value.get("name"))
            arguments = value.get("args")
            return f"{name}{json.dumps(self._plain(arguments), sort_keys=True) if arguments else ''}"
        if "inputs" in value and "is_c_variadic" in value:
            return [[self._plain(kind) for _, kind in value["inputs"]], self._plain(value["output"])]
        return {key: self._plain(part) for key, part in value.items() if key not in ("id", "impls")}


def breaks(old: PublicApi, new: PublicApi) -> list[str]:
    """What a user of the old version cannot rely on."""
    gone = [f"{path} is gone" for path in old.signatures if path not in new.signatures]
    changed = [f"{path} has changed" for path, signature in old.signatures.items() if new.signatures.get(path, signature) != signature]
    return sorted(gone + changed)
