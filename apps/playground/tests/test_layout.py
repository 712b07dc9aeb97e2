"""How the page looks and reads: without JavaScript, to a screen reader, on a phone, and in the scene."""

import io

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import watched
from helpers import answered, go
from PIL import Image, ImageChops


def test_without_javascript_the_page_says_so(browser, url):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    for name in ["", "live.html"]:
        page.goto(url + name)
        assert "JavaScript" in page.inner_text("noscript"), name
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser, url, scheme):
    page = browser.new_page(color_scheme=scheme, viewport={"width": 1280, "height": 800})
    page.goto(url + "#sensor=wts0614&skin0=springs&compare=1&skin1=layer&x=1,5")
    page.wait_for_selector("body[data-shown]")
    found = Axe().run(page).response["violations"]
    assert [(rule["id"], rule["nodes"][0]["target"]) for rule in found if rule["impact"] in ("serious", "critical")] == []
    page.close()


def test_a_phone_shows_the_scene_above_the_sliders(browser, url):
    page = watched(browser.new_page(viewport={"width": 390, "height": 844}, has_touch=True))
    page.goto(url)
    page.wait_for_selector("body[data-shown]")
    assert page.locator("#pose .slider:not([hidden]) input[type=range]").first.get_attribute("id") == "depth"
    for key in ["depth", "shearY"]:
        page.evaluate("key => document.getElementById(key).scrollIntoView({ block: 'end' })", key)
        scene, slider = page.locator("#scene").bounding_box(), page.locator(f"#{key}").bounding_box()
        assert scene["y"] >= 0 and scene["y"] + scene["height"] <= slider["y"] <= 844, (key, scene, slider)
    assert page.inner_text("#headline") == page.inner_text("#force-of-0")
    assert page.own_complaints() == []
    page.close()


def test_a_camera_image_has_a_legend(page):
    go(page, sensor="gelsight", skin0="imprint", depth=0.5)
    legend = page.inner_text(".legend")
    assert "160 × 120 pixels" in legend and "mm of the skin" in legend and "not force" in legend
    go(page, sensor="wts0614", depth=0.5)
    assert page.inner_text(".legend") == ""


def test_the_camera_frames_sensor_and_contact(page):
    found = page.evaluate(
        """async () => {
            const { SensorView } = await import("./view.js");
            const canvas = document.createElement("canvas");
            canvas.style.cssText = "position: fixed; left: 0; top: 0; width: 300px; height: 400px";
            const box = document.createElement("div");
            box.append(canvas);
            document.body.append(box);
            const view = new SensorView(canvas);
            const arrays = { positions: new Float32Array(9), triangles: Int32Array.of(0, 1, 2), paint: Int32Array.of(-1, -1, -1) };
            view.sensor({ name: "a", size: null, max_depth_mm: 2, low_mm: [-5, -5, 0], high_mm: [5, 5, 0], arrays }, false);
            view.answer({ pose: { at: [25, -20, 15], rotation: [0, 0, 0, 1] }, force_n: [0, 0, -1], arrays: { values: [] } }, 1);
            view.scene.render();
            const points = [[25, -20, 0], [-5, -5, 0], [5, -5, 0], [-5, 5, 0], [5, 5, 0]].map((point) => view.scene.project(point));
            box.remove();
            return points;
        }"""
    )
    assert all(0 <= x <= 300 and 0 <= y <= 400 for x, y in found), found


def test_zoom_is_limited(page):
    go(page, sensor="wts0614", depth=0.5)
    page.focus("#scene")

    def size():
        page.wait_for_timeout(300)
        (ax, ay), (bx, by) = (
            page.locator(name).evaluate("label => { const box = label.getBoundingClientRect(); return [box.x, box.y] }") for name in (".axis-x", ".axis-z")
        )
        return ((ax - bx) ** 2 + (ay - by) ** 2) ** 0.5

    page.keyboard.press("Home")
    home = size()
    for _ in range(60):
        page.keyboard.press("-")
    assert 0.25 * home < size() < 0.6 * home
    page.keyboard.press("Home")
    closest = page.evaluate(
        """async () => {
            const { Scene } = await import("./scene.js");
            const scene = new Scene(document.createElement("canvas"));
            scene.frame([0, 0, 0], [20, 0, 0]);
            const start = scene.view.distance;
            for (let i = 0; i < 100; i++) scene.zoom(0.9);
            return scene.view.distance / start;
        }"""
    )
    assert 0.1 < closest < 0.5


def test_a_pressed_layer_has_no_speckles(browser, url):
    """Object and skin have one surface in contact, and pixels of either were drawn at random."""
    page = browser.new_page(viewport={"width": 1200, "height": 760})
    page.goto(url + "#sensor=wts0614-layer&skin0=layer&object=cuboid:size=12mm,12mm,8mm&depth=0.4")
    page.wait_for_selector("body[data-shown]")
    answered(page)
    page.wait_for_timeout(600)
    box = page.locator("#scene").bounding_box()
    # Over the contact, below the arrow.
    clip = {"x": box["x"] + 0.5 * box["width"] - 22, "y": box["y"] + 0.5 * box["height"] + 38, "width": 36, "height": 18}
    image = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
    # Differences of neighbouring pixels: the skin is smooth there.
    change = ImageChops.difference(image.crop((0, 0, 35, 18)), image.crop((1, 0, 36, 18))).convert("L").histogram()
    assert sum(change[12:]) < 0.02 * sum(change), change
    page.close()
