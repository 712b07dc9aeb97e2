"""A run that is looked at."""

import re
import subprocess
import time

from conftest import PROGRAM, watched

SCENE = """
[world]
duration = "3 s"
time_step = "0.5 ms"

[[body]]
name = "ball"
motion = "free"
mass = "50 g"
shape.sphere.radius = "15 mm"
at = ["0 mm", "0 mm", "14.5 mm"]

[[sensor]]
name = "pad"
preset = "uji-foam-14x6"

[record]
every = "50 ms"
"""


def begin(folder, *more):
    (folder / "scene.toml").write_text(SCENE)
    command = [PROGRAM, "run", "scene.toml", "--out", "out", "--view", "--no-open", *more]
    run = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return run, re.search(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/live\.html", run.stderr.readline()).group()


def test_pages_see_the_run_and_late_ones_its_past(browser, tmp_path):
    run, url = begin(tmp_path)
    start = time.monotonic()
    first = watched(browser.new_page())
    first.goto(url)
    first.wait_for_function("() => Number(document.body.dataset.time) > 0.2")
    assert "pad" in first.inner_text("#answers")
    late = watched(browser.new_page())
    late.goto(url)
    late.wait_for_function("() => Number(document.body.dataset.time) > 0.5")
    # The weight of the ball, as the pad reads it.
    late.wait_for_function("() => parseFloat(document.getElementById('force-0').textContent) > 0.1")
    for page in (first, late):
        page.wait_for_selector("body[data-ended]", timeout=30_000)
        assert page.inner_text("#message") == "The run has ended."
        assert page.own_complaints() == []
        page.close()
    assert run.wait(30) == 0
    # In real time: three simulated seconds take about three seconds or more.
    assert time.monotonic() - start > 2.5
    assert (tmp_path / "out" / "summary.json").exists()


def test_a_page_that_is_closed_does_not_stop_the_run(browser, tmp_path):
    run, url = begin(tmp_path)
    page = watched(browser.new_page())
    page.goto(url)
    page.wait_for_function("() => Number(document.body.dataset.time) > 0.2")
    page.close()
    assert run.wait(60) == 0
    assert (tmp_path / "out" / "summary.json").exists()
