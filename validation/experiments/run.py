"""Runs the experiments of the papers and logs every claim."""

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
lines += ["| experiment | claims | that hold |", "|---|---|---|"]
failed = []
for experiment in found if isinstance(found, list) else [found]:
    claims = experiment["claims"]
    failed += [f"{experiment['name']}: {claim}" for claim in claims if not claim["passed"]]
    lines.append(f"| {experiment['name']} | {len(claims)} | {sum(claim['passed'] for claim in claims)} |")
lines += [""] + [f"- does not hold: {claim}" for claim in failed]
(arguments.log / f"log-{today}.md").write_text("\n".join(lines).rstrip() + "\n")
print("\n".join(lines))
raise SystemExit(1 if failed or done.returncode else 0)
