"""Builds the guide: runs every block of every page and of the READMEs, takes figures from what they write, checks links.

    python docs/site/build.py --out dist/guide [--playground dist/playground] [--only tour]
"""

from __future__ import annotations

import argparse
import concurrent.futures
import pathlib
import sys
import tempfile
import time

import blocks
import bundle
import render

#: Texts outside of the guide whose blocks are run too.
READMES = ["README.md", "bindings/python/README.md", "bindings/mujoco/README.md", "apps/playground/README.md", "CONTRIBUTING.md"]


def run_page(name: str, path: str, folder: str) -> tuple[str, int, list[str], float, str]:
    """Runs the blocks of a page; the last entry is what is wrong."""
    start, place = time.monotonic(), pathlib.Path(folder) / name
    place.mkdir(parents=True)
    try:
        ran, left_out = blocks.run(path, (render.ROOT / path).read_text(), place)
        return name, ran, left_out, time.monotonic() - start, ""
    except blocks.Wrong as wrong:
        return name, 0, [], time.monotonic() - start, str(wrong)


def main() -> None:
    parser = argparse.ArgumentParser(description="Builds the guide and runs its blocks.")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the site")
    parser.add_argument("--playground", type=pathlib.Path, help="folder of the built playground, for the first page")
    parser.add_argument("--only", help="run the blocks of one page and write nothing")
    parser.add_argument("--blocks", action="store_true", help="run the blocks of all pages and write nothing")
    options = parser.parse_args()
    pages = {page.path.removesuffix(".md").replace("/", "-"): f"docs/{page.path}" for page in render.contents()}
    texts = pages | {path.removesuffix(".md").replace("/", "-"): path for path in READMES}
    if options.only:
        texts, options.blocks = {options.only: texts[options.only]}, True
    with tempfile.TemporaryDirectory(prefix="dermis-guide-") as figures:
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            done = list(pool.map(run_page, texts, texts.values(), [figures] * len(texts)))
        wrong = [told for *_, told in done if told]
        for name, ran, left_out, took, told in done:
            needs = f", {len(left_out)} left out (need {', '.join(sorted(set(left_out)))})" if left_out else ""
            print(f"{name:32} {ran:3} blocks run {took:6.1f} s{needs}" + ("  FAILED" if told else ""))
        if not wrong and not options.blocks:
            options.out.mkdir(parents=True, exist_ok=True)
            if options.playground:
                (options.out / "playground.html").write_text(bundle.bundle(render.ROOT / "apps/playground/web", options.playground / "dermis.wasm.gz"))
            wrong = render.Site(options.out, pathlib.Path(figures)).write()
    for told in wrong:
        print(f"error: {told}")
    if wrong:
        sys.exit(f"the guide has {len(wrong)} errors")
    print(f"{sum(ran for _, ran, *_ in done)} passed, 0 failed")
    if not options.blocks:
        print(f"{options.out}: open index.html in a browser")


if __name__ == "__main__":
    main()
