"""Runs the ignored tests of all crates that need no GPU, and writes a dated log."""

import argparse
import datetime
import pathlib
import platform
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).parents[2]
COMMAND = ["cargo", "test", "--workspace", "--release", "--exclude", "dermis-gpu", "--no-fail-fast", "--", "--ignored"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dermis", help="not used: cargo compiles the tests")
    parser.add_argument("--work", help="not used")
    parser.add_argument("--log", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    start = time.monotonic()
    run = subprocess.run(COMMAND, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    seconds = time.monotonic() - start
    results = re.findall(r"^test (\S+) \.\.\. (ok|FAILED)$", run.stdout, re.MULTILINE)
    date = datetime.date.today().isoformat()
    lines = [f"# {date}", "", f"{platform.machine()}, {seconds:.0f} s with compilation: `{' '.join(COMMAND)}`.", "", "| test | passed |", "|---|---|"]
    lines += [f"| {name} | {'yes' if outcome == 'ok' else 'no'} |" for name, outcome in sorted(results)]
    failed = [name for name, outcome in results if outcome != "ok"]
    lines += ["", f"{len(results)} tests, {len(failed)} failed."]
    (arguments.log / f"log-{date}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    if failed or run.returncode != 0 or not results:
        print(run.stdout[-4000:])
        sys.exit(1)


if __name__ == "__main__":
    main()
