"""What the page shows belongs to the state that it shows: while it computes, after a cancelled or failed computation, from a link and in the history."""

import pytest
from conftest import watched
from helpers import answered, force, go

# A worker whose messages arrive `delay` ms late, or never if it is silent, so that no test depends on the speed of the machine.
WORKERS = """
window.delay = 0;
window.workers = [];
const Plain = Worker;
window.Worker = class extends Plain {
    constructor(url, options) {
        super(window.missing > workers.length ? "missing.js" : url, options);
        workers.push(this);
        this.silent = window.silent > workers.length - 1;
    }
    set onmessage(listen) {
        super.onmessage = (event) => this.silent || setTimeout(() => listen(event), window.delay);
    }
};
"""

SAMPLE = """() => {
    window.samples = [];
    const text = (id) => document.getElementById(id)?.textContent ?? "";
    setInterval(() => {
        const canvas = document.getElementById("tactile-0");
        const [image, blank] = [canvas, Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height })].map((one) => one.toDataURL());
        samples.push({
            sensor: document.getElementById("sensor").value,
            readings: document.querySelector(".readings").innerText.replaceAll("–", "").match(/[0-9][^\\n]*/g)?.join() ?? "",
            image: image === blank ? "" : image.length,
            controls: [...document.querySelectorAll(".skin-controls input.number")].map((input) => input.value).join(),
            headline: text("headline"),
            warnings: [...document.querySelectorAll(".warnings li")].map((item) => item.textContent).join(),
            axis: document.querySelector(".axis-x").textContent,
        });
    }, 50);
}"""


@pytest.fixture
def slow(browser, url):
    """A page whose computations take as long as `delay` says."""
    page = watched(browser.new_page(viewport={"width": 1200, "height": 760}))
    page.add_init_script(WORKERS)
    page.goto(url)
    page.wait_for_selector("body[data-shown]")
    yield page
    page.close()


def test_no_number_of_another_sensor_is_shown(slow):
    """ReSkin was shown for 14 s with the scene, the taxels and the force of the sensor before."""
    answered(slow)
    slow.evaluate(SAMPLE)
    slow.evaluate("() => (window.delay = 400)")
    for sensor in ["reskin", "wts0614", "gelsight"]:
        slow.select_option("#sensor", sensor)
        slow.wait_for_function("sensor => samples.at(-1)?.sensor === sensor && samples.at(-1).readings", arg=sensor)
    samples = slow.evaluate("() => samples")
    own = {}
    for sample in samples:
        own[sample["sensor"]] = sample
    assert len(own) == 3, own
    for sample in own.values():
        assert sample["readings"] and sample["image"] and sample["controls"], sample
    for key in ["readings", "image", "controls", "headline", "warnings", "axis"]:
        for sample in samples:
            assert sample[key] in ("", own[sample["sensor"]][key]), (key, sample)
    # Nothing is shown while they are computed.
    assert sum(not sample["readings"] for sample in samples) > 10
    assert slow.own_complaints() == []


def test_a_typed_number_removes_the_reading_before_at_once(slow):
    answered(slow)
    slow.evaluate("() => (window.delay = 600)")
    slow.locator("#depth-number").fill("0.5")
    slow.locator("#depth-number").press("Enter")
    assert slow.evaluate("() => document.getElementById('force-of-0').textContent") == "–"
    answered(slow)
    assert 0 < force(slow) < 3


def test_a_dragged_object_keeps_its_reading_for_a_moment_only(slow):
    answered(slow)
    slow.evaluate("() => (window.delay = 800)")
    shown = """() => {
        const x = document.getElementById("x");
        x.value = 2;
        x.dispatchEvent(new Event("input"));
        return document.getElementById("force-of-0").textContent;
    }"""
    assert slow.evaluate(shown) != "–"
    slow.wait_for_function("() => document.getElementById('force-of-0').textContent === '–'", timeout=600)
    answered(slow)
    assert force(slow) > 0


def test_a_computation_is_announced_and_cancelled(slow):
    answered(slow)
    slow.evaluate("() => (window.delay = 60_000)")
    slow.select_option("#sensor", "weiss-dsa")
    slow.wait_for_function("() => document.getElementById('waiting').innerText.startsWith('computing… 1 s')")
    slow.click("#cancel")
    assert "Cancelled" in slow.inner_text("#waiting")
    assert slow.locator("#force-of-0[data-value]").count() == 0
    slow.evaluate("() => (window.delay = 0)")
    slow.click("#cancel")
    answered(slow)
    assert force(slow) > 0 and slow.is_hidden("#waiting")
    assert len(slow.evaluate("() => workers")) == 2


def test_another_sensor_does_not_wait_for_the_one_before(slow):
    answered(slow)
    slow.evaluate("() => (window.delay = 60_000)")
    slow.select_option("#sensor", "weiss-dsa")
    slow.wait_for_timeout(1200)
    slow.evaluate("() => (window.delay = 0)")
    slow.select_option("#sensor", "fingertip")
    answered(slow)
    assert force(slow) > 0 and "--sensor fingertip" in slow.inner_text("#command-0")


def failing(browser, **how):
    page = browser.new_page()
    page.add_init_script(WORKERS + "".join(f"window.{key} = {value};" for key, value in how.items()))
    return page


def test_a_worker_that_cannot_be_loaded_is_said_and_started_again(browser, url):
    page = failing(browser, missing=1)
    page.goto(url)
    page.wait_for_selector("#message:not([hidden])")
    answered(page)
    assert "could not be loaded" in page.inner_text("#message") and "started again" in page.inner_text("#message")
    assert force(page) > 0
    page.close()


def test_a_worker_that_never_loads_ends_in_a_button(browser, url):
    page = failing(browser, missing=3)
    page.goto(url)
    page.wait_for_selector("#cancel:text('Try again')")
    assert "could not be loaded" in page.inner_text("#message") and len(page.evaluate("() => workers")) == 3
    page.click("#cancel")
    answered(page)
    assert force(page) > 0
    page.close()


@pytest.mark.parametrize(
    "event, says", [("new MessageEvent('messageerror')", "cannot be read"), ("new ErrorEvent('error', { message: 'out of memory' })", "out of memory")]
)
def test_a_worker_that_dies_is_said_and_started_again(slow, event, says):
    answered(slow)
    slow.evaluate("() => (window.delay = 60_000)")
    slow.select_option("#sensor", "weiss-dsa")
    slow.evaluate(f"() => {{ window.delay = 0; workers[0].dispatchEvent({event}); }}")
    slow.wait_for_selector("#message:not([hidden])")
    answered(slow)
    assert says in slow.inner_text("#message") and force(slow) > 0
    assert len(slow.evaluate("() => workers")) == 2


def test_a_worker_that_is_silent_is_noticed(browser, url):
    page = failing(browser, silent=1)
    page.clock.install()
    page.goto(url)
    page.wait_for_function("() => workers.length === 1")
    page.clock.fast_forward(45_000)
    assert page.evaluate("() => workers.length") == 1 and page.is_hidden("#message")
    page.clock.fast_forward(20_000)
    page.wait_for_selector("#message:not([hidden])")
    assert "has not loaded within a minute" in page.inner_text("#message")
    answered(page)
    assert force(page) > 0
    page.close()


@pytest.mark.parametrize(
    "link, says, depth",
    [
        ({"depth": 99}, ["Depth must be between -5 mm and 50 mm", "99 mm became 50 mm", "at most 2.8 mm"], "2.8"),
        ({"depth": "0,7"}, ["“0,7” is read as 0.7"], "0.7"),
        ({"depth": "deep"}, ["“deep” is no number"], "1.2"),
        ({"depth": 0.7, "colour": "red"}, ["does not know “colour”"], "0.7"),
        ({"depth": 0.7, "width": 99}, ["width must be one of 160, 320, 640"], "0.7"),
        ({"depth": 0.7, "skin0": "leather"}, ["no skin “leather”"], "0.7"),
        ({"depth": 0.7, "sensor": "nose"}, ["no sensor “nose”"], "0.7"),
        ({"depth": 0.7, "stiffness0": 1e30}, ["`stiffness` must be between 0.002 and 2000 N/mm", "own values"], "0.7"),
    ],
)
def test_what_a_link_cannot_have_is_said(page, link, says, depth):
    go(page, object="sphere:radius=5mm", **link)
    assert all(part in page.inner_text("#message") for part in says), page.inner_text("#message")
    assert page.input_value("#depth-number") == depth and force(page) > 0


@pytest.mark.parametrize(
    "field, typed, becomes, says",
    [
        ("x", "1,5", "1.5", "write a decimal point"),
        ("x", "99", "25", "between -25 mm and 25 mm: 99 mm became 25 mm"),
        ("x", "far", "0", "“far” is no number"),
        ("stiffness-0", "1e30", "2000", "1e+30 N/mm became 2000 N/mm"),
    ],
)
def test_a_typed_number_that_is_changed_is_said(page, field, typed, becomes, says):
    """A stiffness of 1e30 N/mm gave 3e31 N, and a comma was dropped without a word."""
    go(page, sensor="wts0614", object="sphere:radius=5mm", depth=0.5)
    enter = lambda text: (page.locator(f"#{field}-number").fill(text), page.locator(f"#{field}-number").press("Enter"))
    enter(typed)
    answered(page)
    assert says in page.inner_text("#message") and page.input_value(f"#{field}-number") == becomes
    assert 0 <= force(page) < 1e5
    enter("1")
    answered(page)
    assert page.is_hidden("#message")


def test_every_sensor_begins_without_a_warning_and_keeps_a_chosen_object(page):
    """tests/engine.rs has all sensors; this test has the page's choice of the press."""
    answered(page)
    for sensor, depth in [("gelsight-mini", "0.5"), ("wts0614-layer", "0.5"), ("wts0614", "1.2")]:
        page.select_option("#sensor", sensor)
        answered(page)
        assert page.input_value("#depth-number") == depth and page.locator(".warnings li").count() == 0, sensor
    assert page.input_value("#object") == "sphere:radius=15mm"
    page.select_option("#object", "indenter:moon")
    answered(page)
    page.select_option("#sensor", "weiss-dsa")
    answered(page)
    assert page.input_value("#object") == "indenter:moon" and force(page) > 0


def test_the_back_button_returns_to_the_state_before(page):
    go(page, sensor="wts0614", object="sphere:radius=5mm", depth=0.5)
    remembered = lambda part: page.wait_for_function("part => location.hash.includes(part)", arg=part)
    remembered("depth=0.5")
    before = force(page)
    page.locator("#depth-number").fill("0.9")
    page.locator("#depth-number").press("Enter")
    remembered("depth=0.9")
    page.select_option("#sensor", "weiss-dsa")
    remembered("sensor=weiss-dsa")
    page.go_back()
    page.wait_for_function("() => document.getElementById('sensor').value === 'wts0614'")
    answered(page)
    assert page.input_value("#depth-number") == "0.9"
    page.go_back()
    page.wait_for_function("() => document.getElementById('depth-number').value === '0.5'")
    answered(page)
    assert force(page) == before
