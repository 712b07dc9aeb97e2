"""What cameras see."""

import numpy as np
import pytest

import dermis


@pytest.fixture(scope="module")
def pressed():
    sensor = dermis.Sensor.preset("gelsight-dots")
    return sensor, sensor.press(dermis.Object.sphere(radius=4e-3), depth=0.6e-3)


def test_images_have_their_shapes(pressed):
    sensor, reading = pressed
    height, width, _ = sensor.image_shape
    assert reading.image.shape == (height, width, 3) and reading.image.dtype == np.uint8
    assert reading.depth.shape == (height, width) and reading.depth.dtype == np.float32
    assert reading.normals.shape == (height, width, 3)
    assert reading.flow.shape == (height, width, 2)
    assert reading.markers.shape[1] == 4 and len(reading.markers) > 10
    assert np.linalg.norm(reading.normals, axis=2) == pytest.approx(1, abs=1e-5)


def test_the_deepest_pixel_is_in_the_middle_and_as_deep_as_pressed(pressed):
    _, reading = pressed
    depth = reading.depth
    row, col = np.unravel_index(np.argmax(depth), depth.shape)
    assert abs(row / depth.shape[0] - 0.5) < 0.06 and abs(col / depth.shape[1] - 0.5) < 0.06
    assert depth.max() == pytest.approx(0.6e-3, rel=0.03)


def test_an_image_changes_where_it_is_touched(pressed):
    sensor, reading = pressed
    rest = sensor.press_batch(dermis.Object.sphere(radius=4e-3), [[0, 0, 0.1]])
    assert rest.image.shape == (1, *sensor.image_shape)
    changed = np.abs(reading.image.astype(int) - rest.image[0]).max(axis=2)
    assert changed.max() > 30 and np.median(changed) < 10
    assert rest.depth.max() < 1e-6


def test_a_sensor_without_a_camera_says_so():
    foam = dermis.Sensor.preset("uji-foam-14x6")
    assert foam.image_shape is None
    reading = foam.press(dermis.Object.sphere(radius=10e-3), depth=1e-3)
    for name in ["image", "depth", "normals", "markers", "flow"]:
        with pytest.raises(AttributeError, match="has no camera: add a .* table .* or take gelsight"):
            getattr(reading, name)


def test_images_of_a_batch_warn_of_the_light_as_a_single_one_does():
    sensor = dermis.Sensor.preset("gelsight", parameters={"light": {"steepest": 0.2}})
    ball, words = dermis.Object.sphere(radius=4e-3), "light.steepest"
    single = sensor.press(ball, depth=0.4e-3)
    with pytest.warns(RuntimeWarning, match=words) as alone:
        assert single.depth.max() > 0.3e-3  # rendered already: the image still warns
        assert single.image.max() > 0
    with pytest.warns(RuntimeWarning, match=words) as batch:
        assert sensor.press_batch(ball, depth=[0.1e-3, 0.4e-3, 0.4e-3]).image.max() > 0
    assert str(batch[-1].message).split("%")[1] == str(alone[-1].message).split("%")[1]
    assert sum(words in str(warning.message) for warning in batch) == 1


def test_show_draws_arrays_and_cameras(pressed, tmp_path):
    import matplotlib

    matplotlib.use("agg")
    _, optical = pressed
    array = dermis.Sensor.preset("uji-foam-14x6").press(dermis.Object.sphere(radius=10e-3), depth=2e-3)
    curved = dermis.Sensor.preset("shadow-fingertip").press(dermis.Object.sphere(radius=10e-3), depth=0.5e-3)
    for i, reading in enumerate([optical, array, curved]):
        figure = reading.show(path=tmp_path / f"{i}.png")
        assert len(figure.axes) >= 2 and (tmp_path / f"{i}.png").stat().st_size > 5000
        matplotlib.pyplot.close(figure)


def test_a_digit_looks_like_one_with_a_gel():
    """The gel that replaces a layer has its block and material: the rms difference of the images is a small part of what a press changes."""
    gel = dermis.Sensor.preset("digit", parameters={"skin": {"kind": "gel"}}).with_parameters({"skin": {"cell": "0.75 mm"}})
    layer = dermis.Sensor.preset("digit")
    ball = dermis.Object.sphere(radius=5e-3)
    images = [sensor.press(ball, depth=0.5e-3).image.astype(float) for sensor in (gel, layer)]
    rest = layer.step([], dt=1e-3).image.astype(float)
    changed = np.sqrt(((images[0] - rest) ** 2).mean())
    apart = np.sqrt(((images[1] - images[0]) ** 2).mean())
    print(f"rms {apart:.2f} of {changed:.2f}")
    assert changed > 3 and apart < 0.35 * changed


def test_a_mount_that_yields_moves_the_markers_and_the_image():
    """A press, steps with their history, batches and gradients: all markers move by force over stiffness."""
    ball, stiffness, pixel = dermis.Object.sphere(radius=4e-3), 500.0, 0.0295e-3
    rigid = dermis.Sensor.preset("gelsight-dots")
    yields = dermis.Sensor.preset("gelsight-dots", parameters={"camera": {"mount_stiffness": f"{stiffness} N/m"}})
    assert 'mount_stiffness = "500 N/m"' in yields.toml
    assert dermis.Sensor.parse(yields.toml).toml == yields.toml

    def shift(force):
        return np.array([force[0], -force[1]]) / stiffness / pixel

    for step in range(4):
        pose, twist = [0.02e-3 * step, 0, 3.7e-3], [0.02, -0.01, 0, 0, 0, 0]
        fixed, moved = (sensor.step(ball, dt=1e-3, pose=pose, twist=twist) for sensor in (rigid, yields))
        assert np.array_equal(fixed.force, moved.force)
        assert np.allclose(moved.markers[:, 2:] - fixed.markers[:, 2:], shift(moved.force), rtol=1e-9)
        assert np.array_equal(moved.markers[:, :2], fixed.markers[:, :2])
    assert np.abs(shift(moved.force)).min() > 0.5
    assert np.allclose(np.median(moved.flow - fixed.flow, axis=(0, 1)), shift(moved.force), atol=1e-2)
    assert np.abs(moved.image.astype(int) - fixed.image).max() > 50
    assert np.array_equal(fixed.touch.surface, moved.touch.surface)  # relative to the skin

    tilted, poses = dermis.Object.cylinder(radius=2e-3, length=6e-3), np.tile(np.eye(4), (2, 1, 1))
    angle = 0.2
    poses[:, :3, :3] = [[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]]
    poses[:, 2, 3] = [3.25e-3, 3.2e-3]
    fixed, moved = (sensor.press_batch(tilted, poses) for sensor in (rigid, yields))
    for i in range(2):
        assert np.allclose(moved.markers[i, :, 2:] - fixed.markers[i, :, 2:], shift(moved.force[i]), atol=1e-9)
    by = {"markers": np.ones((2, 108, 2))}
    derivatives = yields.vjp(tilted, poses, by)["mount_stiffness"]
    expected = [-108 * shift(force).sum() / stiffness for force in moved.force]
    assert np.allclose(derivatives[:, 0], expected, rtol=1e-9) and np.abs(derivatives).max() > 0

    with pytest.raises(dermis.Error, match="`mount_stiffness` must be a positive stiffness"):
        dermis.Sensor.preset("gelsight-dots", parameters={"camera": {"mount_stiffness": "0 N/m"}})
