"""The files of the repository that checks read: those of xtask/own-files.txt, and not the results of commands beside them."""

import os
import pathlib

ROOT = pathlib.Path(__file__).parents[3]
LIST = [line for line in (ROOT / "xtask/own-files.txt").read_text().splitlines() if line and not line.startswith("#")]
SKIPPED = {line[1:-1] for line in LIST if line.startswith("!")}


def own_files(suffix, root=ROOT):
    """The files below root whose names end with suffix, sorted."""
    found = []
    for entry in LIST:
        if entry.startswith("!"):
            continue
        if not entry.endswith("/"):
            found += [root / entry] if (root / entry).is_file() else []
            continue
        for folder, folders, names in os.walk(root / entry):
            folders[:] = [name for name in folders if name not in SKIPPED and not name.startswith(".")]
            found += [pathlib.Path(folder, name) for name in names]
    return sorted(path for path in found if path.name.endswith(suffix))
