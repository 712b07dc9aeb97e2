"""Runs the experiments of the papers and logs which hold."""

import argparse
import datetime
import json
import pathlib
import platform
import subprocess
import time

parser = argparse.ArgumentParser()
parser.add_argument("--dermis", required=True)
parser.add_argument("--work", type=pathlib.Path, required=True)
parser.add_argument("--log", type=pathlib.Path, required=True)
parser.add_argument("names", nargs="*", help="experiments; by default all")
arguments = parser.parse_args()

start = time.monotonic()
done = subprocess.run(
    [arguments.dermis, "reproduce", *(arguments.names or ["--all"]), "--json", "--quiet"], stdout=subprocess.PIPE, text=True, check=False
)
found = json.loads(done.stdout)
today = datetime.date.today().isoformat()
lines = [f"# {today}", "", f"{platform.machine()}, {time.monotonic() - start:.0f} s. Claims of the papers and of dermis, as `dermis reproduce --all` finds them.", ""]
lines += ["| experiment | all claims hold | s |", "|---|---|---|"]
found = found if isinstance(found, list) else [found]
for experiment in found:
    lines.append(f"| {experiment['name']} | {'yes' if experiment['passed'] else '**no**'} | {experiment['wall_s']:.1f} |")
(arguments.log / f"log-{today}.md").write_text("\n".join(lines) + "\n")
print("\n".join(lines))
raise SystemExit(0 if done.returncode == 0 and all(experiment["passed"] for experiment in found) else 1)
