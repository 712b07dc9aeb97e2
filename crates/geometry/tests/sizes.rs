//! Sizes are decided before memory is used.

use dermis_geometry::limits::{MAX_SIZE_M, MAX_TRIANGLES};
use dermis_geometry::shapes::{self, Fingertip, ShapeError};
use dermis_geometry::{Primitive, TriMesh, Vec3};
use std::time::Instant;

type Made = Result<TriMesh, ShapeError>;
type Maker = fn(f64) -> Made;

/// Shapes of one length, or of one length and otherwise 1 mm.
const MAKERS: [(&str, Maker); 14] = [
    ("sphere", |m| primitive(Primitive::Sphere { radius_m: m })),
    ("ellipsoid", |m| primitive(Primitive::Ellipsoid { semi_axes_m: Vec3::new(1e-3, m, 1e-3) })),
    ("cuboid", |m| primitive(Primitive::Cuboid { half_m: Vec3::new(1e-3, 1e-3, m) })),
    ("cylinder", |m| primitive(Primitive::Cylinder { radius_m: 1e-3, half_length_m: m })),
    ("disc", |m| primitive(Primitive::Cylinder { radius_m: m, half_length_m: 1e-3 })),
    ("capsule", |m| primitive(Primitive::Capsule { radius_m: 1e-3, half_length_m: m })),
    ("cone", |m| shapes::cone(1e-3, m, m / 40.0)),
    ("torus", |m| shapes::torus(m, 1e-3, m / 40.0)),
    ("prism", |m| shapes::prism(5, 1e-3, m)),
    ("rounded box", |m| shapes::rounded_box(Vec3::new(m, 3e-3, 3e-3), 1e-3, m / 40.0)),
    ("patch", |m| shapes::spherical_patch(m, 1.0, m / 40.0)),
    ("fingertip", |m| shapes::fingertip(&Fingertip { length_m: m, ..Fingertip::default() }, m / 40.0)),
    ("pad", |m| shapes::fingertip_pad(&Fingertip { length_m: m, ..Fingertip::default() }, m / 40.0)),
    ("height field", |m| shapes::terrain(2, 2, [m, 1e-3], 1e-3, &[0.0; 4])),
];

fn primitive(primitive: Primitive) -> Made {
    primitive.mesh(primitive.default_edge_m())
}

/// A capsule of 1e20 m had 1e11 rings, because only its area was counted.
#[test]
fn a_shape_of_any_length_is_made_or_refused_at_once() {
    for (name, make) in MAKERS {
        for length_m in [1e-300, 4e-3, 1e3, 1e6, 1e9, 1e20, 1e30, 1e300, f64::INFINITY, f64::NAN] {
            let began = Instant::now();
            let made = make(length_m);
            let seconds = began.elapsed().as_secs_f64();
            // Generous for a busy machine; what is refused takes microseconds.
            assert!(length_m <= MAX_SIZE_M || seconds < 1.0, "{name} of {length_m:e} m took {seconds} s");
            match made {
                Ok(mesh) => assert!(mesh.triangles().len() <= MAX_TRIANGLES, "{name} of {length_m:e} m"),
                Err(error) => assert!(!(4e-3..=1e3).contains(&length_m), "{name} of {length_m:e} m: {error}"),
            }
            assert!(length_m <= MAX_SIZE_M || make(length_m).is_err(), "{name} of {length_m:e} m");
        }
    }
}

/// The count of triangles that is checked before a shape is made is no less than what is made then.
#[test]
fn a_thin_shape_has_no_more_triangles_than_were_counted() {
    for (radius_m, length_m, edge_m) in [(1e-6, 0.1, 1e-5), (1e-3, 100.0, 1e-3), (1e-9, 1e-2, 1e-9)] {
        for make in [shapes::cylinder, shapes::capsule, shapes::cone] {
            match make(radius_m, length_m, edge_m) {
                Ok(mesh) => assert!(mesh.triangles().len() <= MAX_TRIANGLES),
                Err(error) => assert!(matches!(error, ShapeError::TooFine { .. }), "{error}"),
            }
        }
    }
}

#[test]
fn height_fields_are_counted_before_their_heights_are_read() {
    assert!(matches!(shapes::check_heights(100_000, 100_000), Err(ShapeError::TooManyHeights { .. })));
    assert!(matches!(shapes::check_heights(usize::MAX, 2), Err(ShapeError::TooManyHeights { .. })));
    assert!(matches!(shapes::check_heights(1, 2), Err(ShapeError::TooFew { .. })));
    assert_eq!(shapes::check_heights(1000, 2000), Ok(()));
}
