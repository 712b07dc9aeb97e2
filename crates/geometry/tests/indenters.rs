//! The twenty-one indenters.

use dermis_geometry::shapes::indenters::{self, PLATE_M, PLATE_THICKNESS_M, RELIEF_M};
use dermis_geometry::{Ray, Surface, TriMesh, Vec3};
use std::f64::consts::PI;

fn all() -> Vec<(&'static str, TriMesh)> {
    indenters::all().unwrap()
}

/// Closed, outward, tip at z = 0, as wide as the plate.
#[test]
fn they_are_solids_that_stand_on_their_tips() {
    for (name, mesh) in all() {
        assert_eq!(mesh.check_closed(), Ok(()), "{name}");
        assert_eq!(mesh.name(), name);
        let bounds = mesh.bounds();
        assert!(bounds.min.z.abs() < 1e-12, "{name}: {bounds:?}");
        assert!((bounds.max.z - RELIEF_M - PLATE_THICKNESS_M).abs() < 1e-12, "{name}: {bounds:?}");
        for side in [bounds.min.x, bounds.min.y, bounds.max.x, bounds.max.y] {
            assert!((side.abs() - 0.5 * PLATE_M).abs() < 1e-12, "{name}: {bounds:?}");
        }
        assert!((20..20_000).contains(&mesh.triangles().len()), "{name}: {}", mesh.triangles().len());
        assert!(mesh.volume_m3() > PLATE_M * PLATE_M * PLATE_THICKNESS_M, "{name}");
    }
}

/// The volume below the plate equals that of the ideal shape. A polygon of n corners approximates a circle and lacks
/// (2π/n)²/6 of its area: 0.07 % for 96, 0.29 % for the 48 of the dots, slightly more for doubly curved shapes.
#[test]
fn their_volumes_are_those_of_their_shapes() {
    let mm3 = 1e-9;
    let h = 3.0;
    let (r, bite, apart): (f64, f64, f64) = (4.5, 3.8, 2.0);
    let corner = |a: f64, b: f64| ((apart * apart + a * a - b * b) / (2.0 * apart * a)).acos();
    let lens = r * r * corner(r, bite) + bite * bite * corner(bite, r)
        - 0.5 * ((-apart + r + bite) * (apart + r - bite) * (apart - r + bite) * (apart + r + bite)).sqrt();
    let crescent = PI * r * r - lens;
    let cap = |r: f64, h: f64| PI * h * h * (r - h / 3.0);
    let half_ball = |r: f64| 2.0 / 3.0 * PI * r.powi(3);
    // Volume between the lower face of the bar and the plate: ∫ (h − z) dx times 12 mm.
    let arc = |r: f64, w: f64| w * (r * r - w * w).sqrt() + r * r * (w / r).asin();
    let known = [
        ("cone", PI * 9.0 * h / 3.0),
        ("cross_lines", h * (2.0 * 10.0 * 1.2 - 1.2 * 1.2)),
        ("curved_surface", 12.0 * (12.0 * (h - 10.0) + arc(10.0, 6.0))),
        ("cylinder", PI * 3.5 * 3.5 * h),
        ("cylinder_shell", PI * (16.0 - 9.0) * h),
        ("cylinder_side", 12.0 * (0.5 * PI * 2.5 * 2.5 + 5.0 * 0.5)),
        ("dot_in", PI * 16.0 * h - half_ball(1.5)),
        ("dots", 9.0 * (half_ball(0.8) + PI * 0.64 * (h - 0.8))),
        ("flat_slab", 9.0 * 4.0 * h),
        ("hexagon", 1.5 * 3f64.sqrt() * 16.0 * h),
        ("line", 1.2 * 10.0 * h),
        ("moon", crescent * h),
        ("pacman", (PI - 0.6) * 4.2 * 4.2 * h),
        ("parallel_lines", 4.0 * 9.0 * h),
        ("prism", 12.0 * (2.5 * 2.5 + 5.0 * 0.5)),
        ("sphere", cap(4.0, h)),
        ("sphere2", half_ball(2.0) + PI * 4.0 * (h - 2.0)),
        ("torus", PI * PI * 3.0 + PI * (16.0 - 4.0) * (h - 1.0)),
        ("triangle", 0.75 * 3f64.sqrt() * 4.5 * 4.5 * h),
        ("wave1", 12.0 * 12.0 * (h - 0.75)),
    ];
    let plate = PLATE_M * PLATE_M * PLATE_THICKNESS_M;
    for (name, wanted) in known {
        let got = (indenters::find(name).unwrap().volume_m3() - plate) / mm3;
        assert!((got / wanted - 1.0).abs() < 4e-3, "{name}: {got} mm³, not {wanted} mm³");
    }
}

/// Seen from below, all indenters differ: the mean height difference of any two lower faces exceeds 50 µm.
#[test]
fn no_two_are_alike() {
    let depths = |mesh: TriMesh| -> Vec<f64> {
        let surface = Surface::new(mesh);
        let place = |i: usize| (i as f64 - 12.0) * 0.45e-3;
        let places = (0..625).map(|i| Vec3::new(place(i % 25), place(i / 25), -1e-3));
        let up = |origin| Ray { origin, direction: Vec3::Z, length: 0.1 };
        places.map(|p| surface.cast(&up(p), None).unwrap().distance).collect()
    };
    let all: Vec<_> = all().into_iter().map(|(name, mesh)| (name, depths(mesh))).collect();
    for (i, (name, mine)) in all.iter().enumerate() {
        for (other, theirs) in &all[..i] {
            let mean = mine.iter().zip(theirs).map(|(a, b)| (a - b).abs()).sum::<f64>() / 625.0;
            assert!(mean > 5e-5, "{name} and {other}: {mean}");
        }
    }
}

#[test]
fn an_unknown_one_is_named_with_those_there_are() {
    let message = indenters::find("Moon").unwrap_err().to_string();
    assert!(message.contains("\"Moon\"") && message.contains("pacman, parallel_lines"), "{message}");
}
