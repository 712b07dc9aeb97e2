"""The page itself: links, keys, files that are no meshes, names, widths, speed."""

import pytest
from conftest import watched
from helpers import answered, by_command, drag, force, go, image

CUBE = """v 0 0 0\nv 8 0 0\nv 8 8 0\nv 0 8 0\nv 0 0 8\nv 8 0 8\nv 8 8 8\nv 0 8 8
f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 1 5 8 4\nf 2 3 7 6\n"""


def drop(page, name, content):
    page.set_input_files("#file", {"name": name, "mimeType": "application/octet-stream", "buffer": content})


def test_a_link_restores_everything(page, browser, url):
    go(page, sensor="gelsight", skin0="imprint", object="indenter:moon", depth=0.6, x=1.5, yaw=30, compare=1, skin1="layer", stiffness1=300)
    page.evaluate("() => document.getElementById('share').click()")
    other = watched(browser.new_page())
    other.goto(page.url)
    other.wait_for_selector("#force-of-1[data-value]")
    answered(other)
    assert [force(other, 0), force(other, 1)] == [force(page, 0), force(page, 1)]
    assert image(other, 1) == image(page, 1)
    assert other.own_complaints() == []
    other.close()


def test_a_link_that_is_nonsense_gives_the_start(page):
    answered(page)
    start = force(page)
    go(page, sensor="no-such", object="sphere:radius=15mm", depth="deep", x="NaN", skin0="leather")
    assert force(page) == pytest.approx(start)
    go(page, object="no-such-shape")
    assert "no-such-shape" in page.inner_text("#message")
    assert force(page) == pytest.approx(start)


def test_every_way_to_drag_does_what_it_says(page):
    values = lambda: {key: float(page.input_value(f"#{key}")) for key in ["x", "depth", "tiltX", "shearX"]}
    for mode, key in [("move", "x"), ("push", "depth"), ("tilt", "tiltX"), ("shear", "shearX")]:
        go(page, sensor="uji-foam-14x6", depth=2)
        page.check(f"input[value={mode}]", force=True)
        before = values()
        drag(page, (0, 30) if mode == "push" else (40, 5))
        after = values()
        changed = {name for name in before if before[name] != after[name]}
        assert changed == {key}, mode
    page.focus("#scene")
    before = force(page)
    for key in ["ArrowLeft", "PageDown", "PageDown", "Shift+ArrowUp", "Alt+ArrowRight", "q"]:
        page.keyboard.press(key)
    answered(page)
    assert force(page) != before


def test_a_dropped_mesh_is_pressed(page, tmp_path):
    (tmp_path / "cube.obj").write_text(CUBE)
    go(page, sensor="wts0614", depth=0.5)
    drop(page, "cube.obj", CUBE.encode())
    page.wait_for_function("() => document.getElementById('command').textContent.includes('cube.obj')")
    answered(page)
    # Over the centre of the sensor, although the mesh's origin is a corner.
    assert float(page.input_value("#x")) == -4
    assert by_command(page, tmp_path)["force_n"] == pytest.approx(force(page), rel=0.01)


@pytest.mark.parametrize(
    "name, content, says",
    [
        ("cat.stl", lambda: b"this is no mesh", "cat.stl"),
        ("cat.jpg", lambda: b"\xff\xd8", "not a mesh file"),
        ("nan.obj", lambda: CUBE.replace("v 8 8 8", "v nan 8 8").encode(), "nan.obj"),
        ("empty.stl", lambda: b"", "empty.stl"),
    ],
)
def test_a_file_that_is_no_mesh_gives_a_message_and_the_page_goes_on(page, name, content, says):
    drop(page, name, content())
    page.wait_for_selector("#message:not([hidden])", timeout=60_000)
    assert says in page.inner_text("#message")
    before = force(page)
    go(page, sensor="wts0614", depth=0.8, object="sphere:radius=5mm")
    assert force(page) > 0 and force(page) != before


def test_a_million_triangles_give_a_message_and_the_page_goes_on(page):
    """Dropped by hand, so to say: a binary STL made in the page, because 50 MB take long through the browser's back door."""
    page.evaluate(
        """() => {
            const bytes = new DataView(new ArrayBuffer(84 + 50e6));
            bytes.setUint32(80, 1e6, true);
            const held = new DataTransfer();
            held.items.add(new File([bytes], "fine.stl"));
            dispatchEvent(new DragEvent("drop", { dataTransfer: held }));
        }"""
    )
    page.wait_for_selector("#message:not([hidden])")
    assert "fine.stl: 1000000 triangles" in page.inner_text("#message")
    go(page, sensor="wts0614", depth=0.8, object="sphere:radius=5mm")
    assert force(page) > 0


def test_every_control_has_a_name(page):
    go(page, compare=1, depth=1)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, canvas, a[href], output")]
            .filter((one) => one.offsetParent !== null && !one.closest("[aria-hidden]"))
            .filter((one) => !one.ariaLabel && !one.textContent.trim() && !(one.labels && one.labels.length))
            .map((one) => one.outerHTML)"""
    )
    assert nameless == []


def test_dark_and_light(page):
    look = lambda: page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    light = look()
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("light => getComputedStyle(document.body).backgroundColor !== light", arg=light)
    page.click("#theme")
    assert look() == light


def test_a_phone_shows_it_without_scrolling_sideways(browser, url):
    page = watched(browser.new_page(viewport={"width": 390, "height": 844}, has_touch=True))
    page.goto(url)
    page.wait_for_selector("body[data-shown]")
    for state in [{"depth": 1}, {"depth": 0.8, "compare": 1}, {"sensor": "gelsight", "depth": 0.8}]:
        go(page, **state)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert page.own_complaints() == []
    page.close()


def test_the_page_is_small_and_soon_there(browser, url):
    page = watched(browser.new_page())
    sizes = []
    page.on("response", lambda reply: sizes.append(int(reply.headers.get("content-length", 0))))
    page.goto(url)
    page.wait_for_selector("body[data-shown]")
    # Loose, because test machines are slow and shared.
    paint = page.evaluate("() => performance.getEntriesByName('first-contentful-paint')[0].startTime")
    print(f"first paint {paint:.0f} ms, download {sum(sizes) / 1e6:.2f} MB")
    assert 0 < paint < 10_000
    assert 100_000 < sum(sizes) < 4_000_000
    page.close()


RATE = """async () => {
    const x = document.getElementById("x");
    const start = performance.now();
    let [count, shown, i] = [0, "", 0];
    while (performance.now() - start < 3000) {
        x.value = 3 * Math.sin(0.15 * i++);
        x.dispatchEvent(new Event("input"));
        await new Promise(requestAnimationFrame);
        if (document.body.dataset.shown !== shown) count++;
        shown = document.body.dataset.shown;
    }
    return count / 3;
}"""


@pytest.mark.parametrize("state, least", [({"sensor": "wts0614", "depth": 1}, 3), ({"sensor": "gelsight", "depth": 0.8}, 1)])
def test_the_page_moves(page, state, least):
    """Answers a second while the object is dragged. On a quiet machine 30 and 10 are wanted; a shared one gets a loose bound."""
    go(page, object="sphere:radius=5mm", **state)
    rate = page.evaluate(RATE)
    print(f"{state['sensor']}: {rate:.0f} answers a second")
    assert rate > least
