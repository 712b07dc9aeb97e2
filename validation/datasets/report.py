"""What the parts of the validation share: the log, and the program that makes the sets."""

import json
import subprocess


class Report:
    """The lines of the log, and what does not hold."""

    def __init__(self):
        self.lines, self.failed = [], []

    def say(self, line):
        print(line, flush=True)
        self.lines.append(line)

    def judge(self, what, holds, figure=""):
        self.say(f"- {'holds' if holds else '**does not hold**'}: {what}{f' ({figure})' if figure else ''}")
        if not holds:
            self.failed.append(what)


def make(dermis, spec, out, *more):
    """Makes a set; returns what the program reports about the run."""
    run = subprocess.run([dermis, "dataset", "make", spec, "--out", out, "--json", *more], check=True, capture_output=True)
    return json.loads(run.stdout)


def example(dermis, name):
    """The text of a description that the program prints."""
    return subprocess.run([dermis, "dataset", "example", name], check=True, capture_output=True, text=True).stdout


def write(path, text):
    path.write_text(text)
    return path
