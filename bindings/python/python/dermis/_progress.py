"""Progress of long calls on stderr: tqdm's bar if tqdm is installed, else a line."""

from __future__ import annotations

import sys
import time
from typing import Any

from dermis import _optional


class Line:
    """A line that is written again at most twice a second."""

    def __init__(self, total: int, what: str) -> None:
        self._total, self._what, self._shown, self._done = total, what, time.monotonic(), 0

    def show(self, done: int) -> None:
        """Writes the number of finished parts."""
        self._done = done
        if time.monotonic() > self._shown + 0.5:
            self._write()

    def close(self) -> None:
        """Writes the last number and ends the line."""
        self._write()
        print(file=sys.stderr, flush=True)

    def _write(self) -> None:
        self._shown = time.monotonic()
        print(f"\r{self._done} of {self._total} {self._what}", end="", file=sys.stderr, flush=True)


class Bar:
    """A bar of tqdm."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def show(self, done: int) -> None:
        """Moves the bar to the number of finished parts."""
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Ends the bar."""
        self._bar.close()


def start(total: int, what: str) -> Line | Bar:
    """Shows the progress of a call with `total` parts, named by a plural."""
    try:
        _optional.require("a bar of progress", "tqdm.auto")
    except ImportError:
        return Line(total, what)
    from tqdm.auto import tqdm

    return Bar(tqdm(total=total, desc=what, unit=""))
