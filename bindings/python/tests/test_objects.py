"""Shapes."""

import numpy as np
import pytest

import dermis
from dermis import Object


def volume(thing):
    a, b, c = (thing.vertices[thing.triangles[:, i]] for i in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6


def test_shapes_are_closed_and_as_large_as_said():
    r, l = 5e-3, 8e-3
    for thing, size, true in [
        (Object.sphere(radius=r), [2 * r] * 3, 4 / 3 * np.pi * r**3),
        (Object.ellipsoid(semi_axes=[5e-3, 4e-3, 3e-3]), [10e-3, 8e-3, 6e-3], 4 / 3 * np.pi * 60e-9),
        (Object.box(size=[1e-3, 2e-3, 3e-3]), [1e-3, 2e-3, 3e-3], 6e-9),
        (Object.cylinder(radius=r, length=l), [2 * r, 2 * r, l], np.pi * r**2 * l),
        (Object.capsule(radius=r, length=l), [2 * r, 2 * r, l + 2 * r], np.pi * r**2 * (l + 4 / 3 * r)),
    ]:
        assert thing.closed
        assert thing.bounds[1] - thing.bounds[0] == pytest.approx(size, rel=1e-9), thing
        assert volume(thing) == pytest.approx(true, rel=0.02), thing


def test_a_mesh_is_what_it_was_made_of():
    tetrahedron = Object.mesh(
        vertices=[[0, 0, 0], [1e-2, 0, 0], [0, 1e-2, 0], [0, 0, 1e-2]],
        triangles=[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
        name="corner",
    )
    assert tetrahedron.closed and tetrahedron.name == "corner"
    assert volume(tetrahedron) == pytest.approx(1e-6 / 6)


def test_a_height_field_is_a_solid_with_row_0_at_the_top():
    heights = np.zeros((5, 9))
    heights[0, -1] = 3e-3
    ground = Object.height_field(heights, size=(16e-3, 8e-3), base=2e-3)
    assert ground.closed
    peak = ground.vertices[np.argmax(ground.vertices[:, 2])]
    assert peak == pytest.approx([8e-3, 4e-3, 3e-3])
    # The raised corner belongs to one triangle, half a cell: the volume below it is a third of its area times 3 mm.
    assert volume(ground) == pytest.approx(16e-3 * 8e-3 * 2e-3 + 2e-3 * 2e-3 * 3e-3 / 6, rel=1e-9)


def test_a_plane_is_solid_below_zero():
    foam = dermis.Sensor.preset("uji-foam-14x6")
    upside_down = np.diag([1.0, -1.0, -1.0, 1.0])
    upside_down[2, 3] = -1e-3
    reading = foam.settle(Object.plane(), pose=upside_down)
    assert reading.active == 84 and Object.plane().closed
    assert reading.taxels == pytest.approx(reading.taxels[0, 0])


def test_exact_shapes_do_not_depend_on_their_mesh():
    foam = dermis.Sensor.preset("uji-foam-14x6")
    coarse, fine = (Object.sphere(radius=10e-3, edge=edge) for edge in (4e-3, 0.4e-3))
    assert len(fine.vertices) > 20 * len(coarse.vertices)
    poses = [[1e-3, 2e-3, 8.3e-3]]
    assert np.array_equal(foam.press_batch(coarse, poses).forces, foam.press_batch(fine, poses).forces)


def test_words_and_files(tmp_path):
    assert Object("cuboid:size=20mm,10mm,5mm").bounds[1] == pytest.approx([10e-3, 5e-3, 2.5e-3])
    (tmp_path / "tetra.obj").write_text("v 0 0 0\nv 10 0 0\nv 0 10 0\nv 0 0 10\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
    assert volume(Object.load(tmp_path / "tetra.obj", unit="mm")) == pytest.approx(1e-6 / 6)
    assert Object(str(tmp_path / "tetra.obj"), unit="cm").bounds[1] == pytest.approx([0.1] * 3)


def test_a_path_object_of_a_mesh_was_no_shape(tmp_path):
    path = tmp_path / "tetrahedron.obj"
    path.write_text("v 0 0 0\nv 10 0 0\nv 0 10 0\nv 0 0 10\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    assert np.array_equal(Object(path, unit="mm").vertices, Object(str(path), unit="mm").vertices)
    with pytest.raises(TypeError):
        Object(3)
