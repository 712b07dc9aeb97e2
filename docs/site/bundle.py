"""The playground in one file, which also opens from a folder: browsers let pages of a folder load neither modules nor data."""

from __future__ import annotations

import base64
import pathlib
import re

IMPORT = re.compile(r'^import (?P<names>.*?) from "\./(?P<file>[a-z]+\.js)";\n', re.M)


def data_url(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def bundle(web: pathlib.Path, module: pathlib.Path) -> str:
    """`index.html` with its style, modules, worker and WebAssembly in it."""
    scripts = {path.name: path.read_text() for path in sorted(web.glob("*.js"))}
    engine = scripts.pop("engine.js").replace("export ", "")
    worker = replaced(IMPORT.sub("", scripts.pop("worker.js")), '"dermis.wasm.gz"', f'"{data_url("application/gzip", module.read_bytes())}"')
    start = replaced(scripts["client.js"], '"worker.js"', 'URL.createObjectURL(new Blob([document.getElementById("worker").textContent]))')
    scripts["client.js"] = replaced(start, ', { type: "module" }', "")
    # Modules name each other by names of a map, because a module in a data URL has no folder.
    imports = {f"dermis/{name}": text for name, text in scripts.items()}
    imports = {name: IMPORT.sub(r'import \g<names> from "dermis/\g<file>";\n', text) for name, text in imports.items()}
    addresses = ", ".join(f'"{name}": "{data_url("text/javascript", text.encode())}"' for name, text in imports.items())
    page = (web / "index.html").read_text()
    page = replaced(page, '<link rel="stylesheet" href="style.css">', f"<style>{(web / 'style.css').read_text()}</style>")
    page = page.replace('"icon.svg"', f'"{data_url("image/svg+xml", (web / "icon.svg").read_bytes())}"')
    code = (
        f'<script type="importmap">{{"imports": {{{addresses}}}}}</script>\n'
        f'<script type="text/plain" id="worker">{engine}\n{worker}</script>\n'
        '<script type="module">import "dermis/main.js";</script>'
    )
    return replaced(page, '<script type="module" src="main.js"></script>', code)


def replaced(text: str, old: str, new: str) -> str:
    """The text with its one `old` replaced."""
    if text.count(old) != 1:
        raise ValueError(f"the playground has {text.count(old)} times {old!r}, and one is expected")
    return text.replace(old, new)
