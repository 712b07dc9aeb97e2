//! Seeded defects: height, spectrum, scratches, and the unchanged parts of the surface.

use dermis_geometry::shapes::{self, indenters};
use dermis_geometry::{Bounds, Ray, RefineError, Roughness, RoughnessError, Surface, TriMesh, Vec3, refined};
use std::f64::consts::{PI, TAU};

const SIDE: usize = 96;
const SPACING_M: f64 = 80e-6;

/// Heights (m) of the upper face of a plate of 10 × 10 mm relative to the smooth face, on a lattice in its middle.
fn heights(mesh: TriMesh) -> Vec<f64> {
    let surface = Surface::new(mesh);
    let place = |i: usize| (i as f64 - 0.5 * (SIDE - 1) as f64) * SPACING_M;
    let from = |i: usize| Vec3::new(place(i % SIDE), place(i / SIDE), 3e-3);
    let down = |i: usize| Ray { origin: from(i), direction: Vec3::NEG_Z, length: 0.01 };
    (0..SIDE * SIDE).map(|i| 2e-3 - surface.cast(&down(i), None).unwrap().distance).collect()
}

fn plate() -> TriMesh {
    shapes::cuboid(Vec3::new(10e-3, 10e-3, 2e-3)).unwrap()
}

fn rms(heights: &[f64]) -> f64 {
    (heights.iter().map(|h| h * h).sum::<f64>() / heights.len() as f64).sqrt()
}

/// Each face is a part of the surface, so its rms differs slightly from that of the whole; the mean over seeds is as
/// specified.
#[test]
fn rms_height_is_as_asked() {
    for rms_m in [5e-6, 20e-6] {
        let one = |seed| {
            let rough = Roughness { rms_m, wavelength_m: 0.8e-3, seed, ..Roughness::default() };
            rms(&heights(rough.apply(&plate()).unwrap()))
        };
        let seen: Vec<f64> = (0..4).map(one).collect();
        let mean = seen.iter().sum::<f64>() / 4.0;
        assert!((mean / rms_m - 1.0).abs() < 0.05, "{mean} for {rms_m}");
        assert!(seen.iter().all(|got| (got / rms_m - 1.0).abs() < 0.1), "{seen:?} for {rms_m}");
    }
}

/// Power of the heights by wavenumber (1/m), from a discrete Fourier transform under a Hann window.
fn spectrum(heights: &[f64]) -> Vec<(f64, f64)> {
    let hann = |i: usize| (PI * (i as f64 + 0.5) / SIDE as f64).sin().powi(2);
    let turn = |k: usize, i: usize| TAU * (k * i % SIDE) as f64 / SIDE as f64;
    let mut rows = vec![(0.0, 0.0); SIDE * SIDE];
    for (y, k) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |k| (y, k))) {
        for x in 0..SIDE {
            let value = heights[y * SIDE + x] * hann(x) * hann(y);
            rows[y * SIDE + k].0 += value * turn(k, x).cos();
            rows[y * SIDE + k].1 -= value * turn(k, x).sin();
        }
    }
    let frequency = |k: usize| k.min(SIDE - k) as f64 / (SIDE as f64 * SPACING_M);
    let power = |k: usize, l: usize| {
        let (mut real, mut imaginary) = (0.0, 0.0);
        for y in 0..SIDE {
            let ((re, im), (sin, cos)) = (rows[y * SIDE + k], turn(l, y).sin_cos());
            real += re * cos + im * sin;
            imaginary += im * cos - re * sin;
        }
        (frequency(k).hypot(frequency(l)), real * real + imaginary * imaginary)
    };
    (0..SIDE * SIDE).map(|i| power(i % SIDE, i / SIDE)).collect()
}

/// A wave whose vector is at an angle θ from the surface normal has sin θ of its wavenumber in the surface: over all
/// directions, 1 − cos 30° = 13 % of the power falls below half the wavenumber, and none above 1.25 of it.
#[test]
fn power_lies_in_the_band() {
    let wavelength_m = 0.64e-3;
    let rough = Roughness { wavelength_m, seed: 3, ..Roughness::default() };
    let spectrum = spectrum(&heights(rough.apply(&plate()).unwrap()));
    let total: f64 = spectrum.iter().map(|(_, power)| power).sum();
    let share = |from: f64, to: f64| {
        let inside = spectrum.iter().filter(|(k, _)| (from..to).contains(&(k * wavelength_m)));
        inside.map(|(_, power)| power).sum::<f64>() / total
    };
    let (long, band, short) = (share(0.0, 0.45), share(0.45, 1.35), share(1.35, f64::INFINITY));
    assert!(band > 0.75 && long < 0.22 && short < 0.03, "{long} {band} {short}");
}

/// The heights stay within ±100 µm, the mesh is closed, and the result depends only on the seed.
#[test]
fn the_seed_decides() {
    let moon = indenters::find("moon").unwrap();
    let rough = |seed| Roughness { rms_m: 10e-6, wavelength_m: 1e-3, seed, ..Roughness::default() };
    let one = rough(1).apply(&moon).unwrap();
    assert_eq!(one, rough(1).apply(&moon).unwrap());
    assert_ne!(one, rough(2).apply(&moon).unwrap());
    assert_eq!(one.check_closed(), Ok(()));
    assert_eq!(one.name(), "moon");
    let smooth = Surface::new(moon);
    assert!(one.vertices().iter().all(|&v| smooth.closest(v).distance < 1e-4));
}

/// One scratch removes its profile, ½ depth × width, over its length, ∫(1 − s⁴) = 0.8 of 20 widths: 8 w² d in total.
#[test]
fn a_scratch_takes_away_its_groove() {
    let top = Bounds { min: Vec3::new(-1e-3, -1e-3, 0.5e-3), max: Vec3::new(1e-3, 1e-3, 2e-3) };
    let wide = refined(&plate(), 0.7e-3).unwrap();
    let with = |scratches| Roughness {
        rms_m: 1e-9,
        wavelength_m: 2e-3,
        scratches,
        scratch_width_m: 0.3e-3,
        scratched: Some(top),
        seed: 5,
        ..Roughness::default()
    };
    let volume = |scratches| with(scratches).apply(&wide).unwrap().volume_m3();
    let smooth = wide.volume_m3();
    let groove = 8.0 * 0.3e-3 * 0.3e-3 * 50e-6;
    assert!((volume(0) - smooth).abs() < 1e-3 * groove);
    let taken = smooth - volume(1);
    assert!((taken / groove - 1.0).abs() < 0.03, "{taken} of {groove}");
    // Three scratches may cross, and a crossing is only as deep as one scratch.
    let taken = smooth - volume(3);
    assert!(taken < 3.03 * groove && taken > 2.7 * groove, "{taken} of {groove}");
}

/// Refinement does not change the surface: same volume and area, closed, every edge short enough.
#[test]
fn refined_is_the_same_surface() {
    for name in indenters::NAMES {
        let mesh = indenters::find(name).unwrap();
        let fine = refined(&mesh, 0.4e-3).unwrap();
        assert_eq!(fine.check_closed(), Ok(()), "{name}");
        assert!((fine.volume_m3() / mesh.volume_m3() - 1.0).abs() < 1e-12, "{name}");
        assert!((fine.area_m2() / mesh.area_m2() - 1.0).abs() < 1e-12, "{name}");
        let longest = (0..fine.triangles().len()).map(|t| {
            let [a, b, c] = fine.corners(t);
            a.distance(b).max(b.distance(c)).max(c.distance(a))
        });
        assert!(longest.fold(0.0, f64::max) <= 0.4e-3, "{name}");
    }
    assert!(matches!(refined(&plate(), 1e-7), Err(RefineError::TooFine { .. })));
    assert!(matches!(refined(&plate(), 0.0), Err(RefineError::BadEdge { .. })));
}

#[test]
fn what_no_surface_can_be_is_refused() {
    let refused = |rough: Roughness| rough.apply(&plate()).unwrap_err();
    let base = Roughness::default;
    assert!(matches!(refused(Roughness { rms_m: -1e-6, ..base() }), RoughnessError::BadLength { what: "rms", .. }));
    assert!(matches!(refused(Roughness { rms_m: 0.1e-3, ..base() }), RoughnessError::TooSteep { .. }));
    assert!(matches!(refused(Roughness { scratch_depth_m: 1e-3, ..base() }), RoughnessError::DeepScratch { .. }));
    assert!(matches!(refused(Roughness { wavelength_m: 1e-6, rms_m: 1e-8, ..base() }), RoughnessError::Refine(_)));
    let elsewhere = Some(Bounds { min: Vec3::splat(1.0), max: Vec3::splat(2.0) });
    let refused = refused(Roughness { scratches: 1, scratched: elsewhere, ..base() }).to_string();
    assert!(refused.contains("cuboid"), "{refused}");
}
