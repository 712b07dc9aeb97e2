"""Every sensor, and every skin: what the page says is what the program says."""

import pytest
from helpers import by_command, drag, force, go, image

# The page has its own catalogue; the tests below check this list against it.
OFFERS = {
    "wts0614": ["springs", "hydroelastic", "layer"],
    "wts0614-layer": ["layer", "imprint"],
    "weiss-dsa": ["springs", "hydroelastic", "layer"],
    "capacitive-8x8": ["springs", "hydroelastic", "layer"],
    "digitacts-6x4": ["springs", "hydroelastic", "layer"],
    "uji-foam-14x6": ["springs", "hydroelastic", "layer"],
    "fingertip": ["springs", "imprint"],
    "thumbtip": ["springs", "imprint"],
    "shadow-fingertip": ["hydroelastic"],
    "spherical-patch": ["springs", "imprint"],
    "gelsight": ["layer", "imprint"],
    "gelsight-dots": ["layer", "imprint"],
    "gelsight-mini": ["layer", "imprint"],
    "finger-gel": ["imprint"],
    "reskin": ["layer"],
    "anyskin": ["layer"],
    "uskin-4x4": ["layer"],
    "eflesh": ["springs"],
    "digit": ["layer", "gel"],
}
# Every sensor with its own skin, and every other skin once. A gel takes seconds to press.
PRESSED = [(sensor, skins[0]) for sensor, skins in OFFERS.items()]
PRESSED += [("wts0614", "hydroelastic"), ("wts0614", "layer"), ("gelsight", "imprint")]


def options(page, menu):
    return page.locator(f"{menu} option").evaluate_all("all => all.map(option => option.value)")


def test_the_sensors_are_those_that_are_tested(page):
    assert sorted(options(page, "#sensor")) == sorted(OFFERS)
    assert {skin for _, skin in PRESSED} == {skin for skins in OFFERS.values() for skin in skins} - {"gel"}


@pytest.mark.parametrize("sensor, skin", PRESSED)
def test_a_press_is_that_of_the_program(page, sensor, skin):
    go(page, sensor=sensor, skin0=skin, object="sphere:radius=5mm", depth=0.7)
    before = image(page)
    drag(page)
    assert image(page) != before
    assert page.input_value("#skin-0") == skin and options(page, "#skin-0") == OFFERS[sensor]
    said = by_command(page)
    assert said["force_n"] > 1e-3
    assert force(page) == pytest.approx(said["force_n"], rel=0.01)
    assert float(page.get_attribute("#sum-of-0", "data-value")) == pytest.approx(said["sum_n"], rel=0.01)


def test_tilt_turn_and_shear_are_those_of_the_program(page):
    tilted = {"tiltX": 2, "tiltY": -1, "yaw": 20, "shearX": 0.6, "shearY": -0.3}
    for sensor, skin in [("wts0614", "springs"), ("wts0614", "hydroelastic"), ("gelsight", "layer")]:
        go(page, sensor=sensor, skin0=skin, object="cuboid:size=8mm,8mm,8mm", depth=0.9, x=1, **tilted)
        said = by_command(page)
        fx, fy = (float(part) for part in page.get_attribute("#shear-of-0", "data-value").split(","))
        assert [fx, fy, -force(page)] == pytest.approx(said["on_sensor_n"], rel=0.01, abs=1e-4)
        # The contact is dragged along +x and −y.
        assert fx > 0.01 and fy < -0.001, (sensor, skin, fx, fy)


def test_sliders_of_the_skin_are_written_to_a_file_for_the_program(page, tmp_path):
    go(page, sensor="wts0614", skin0="layer", object="sphere:radius=5mm", depth=0.7)
    soft = force(page)
    go(page, sensor="wts0614", skin0="layer", object="sphere:radius=5mm", depth=0.7, stiffness0=6000, thickness0=2.5, friction0=0.2)
    assert force(page) > 1.5 * soft
    with page.expect_download() as download:
        page.click("#toml-0")
    download.value.save_as(tmp_path / download.value.suggested_filename)
    assert by_command(page, tmp_path)["force_n"] == pytest.approx(force(page), rel=0.01)


def test_two_skins_stand_side_by_side(page):
    go(page, sensor="wts0614", compare=1, skin0="springs", skin1="layer", depth=0.7)
    assert image(page, 0) != image(page, 1)
    alone = {}
    for slot, skin in enumerate(["springs", "layer"]):
        alone[slot] = force(page, slot)
    for slot, skin in enumerate(["springs", "layer"]):
        go(page, sensor="wts0614", skin0=skin, depth=0.7)
        assert force(page) == pytest.approx(alone[slot], rel=1e-9)
