"""What the tests of the page share."""

import json
import shlex
import subprocess
from urllib.parse import urlencode

from conftest import PROGRAM


def go(page, **state):
    """Brings the page to a state by a link and waits for its answer."""
    answered(page)
    page.evaluate("() => delete document.body.dataset.shown")
    page.evaluate("hash => { location.hash = ''; location.hash = hash }", urlencode(state))
    answered(page)


def answered(page):
    """Waits until the numbers that are shown belong to the state that is shown."""
    page.wait_for_function(
        "() => document.body.dataset.shown !== undefined && document.getElementById('answers').ariaBusy === 'false'"
    )


def force(page, slot=0):
    """Force (N) into the sensor, as the page reads it out."""
    return float(page.get_attribute(f"#force-of-{slot}", "data-value"))


def image(page, slot=0):
    """The tactile image, as bytes."""
    return page.evaluate("slot => document.getElementById(`tactile-${slot}`).toDataURL()", slot)


def by_command(page, folder=".", slot=0):
    """What the program says to the command that the page shows."""
    words = shlex.split(page.inner_text(f"#command-{slot}"))
    assert words[:2] == ["dermis", "press"], words
    run = subprocess.run([PROGRAM, *words[1:], "--json"], capture_output=True, text=True, cwd=folder)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def drag(page, by=(40, 25)):
    """Drags the object in the scene."""
    box = page.locator("#scene").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by[0] / 2, y + by[1] / 2)
    page.mouse.move(x + by[0], y + by[1])
    page.mouse.up()
    answered(page)
