//! The moving gel without contact: conserved quantities and the response to a uniform strain.

use dermis_geometry::{Mat3, Quat, Vec3};
use dermis_skin::gel::{Constitution, GelParameters, ParticleBlock, Totals};
use dermis_skin::{Simd, SkinError};

fn parameters() -> GelParameters {
    GelParameters { cell_m: 0.5e-3, ..GelParameters::default() }
}

/// A free block with initial stretch, rotation, spin and velocity.
fn thrown(constitution: Constitution, simd: Simd) -> ParticleBlock {
    let stretch = Mat3::from_quat(Quat::from_rotation_x(0.4)) * Mat3::from_diagonal(Vec3::new(1.1, 0.93, 0.97));
    let parameters = GelParameters { constitution, ..parameters() };
    let motion = |rest: Vec3| (Vec3::new(0.4, -0.3, 0.2) + Vec3::new(20.0, 30.0, -50.0).cross(stretch * rest), stretch);
    ParticleBlock::new([14, 18, 10], parameters, false, 0.3, simd, motion).unwrap()
}

fn run(cloud: &mut ParticleBlock, steps: usize) -> Totals {
    cloud.run(steps).unwrap();
    cloud.totals()
}

/// No force acts on a free gel, so mass, momentum and angular momentum are conserved to the rounding of `f32` (6e-8 per
/// operation, 400 steps): momentum relative to m |v|, angular momentum relative to m r |v|.
#[test]
fn a_free_gel_conserves_mass_momentum_and_angular_momentum() {
    for constitution in [Constitution::NeoHookean, Constitution::FixedCorotated] {
        let mut cloud = thrown(constitution, Simd::detect());
        let first = cloud.totals();
        let last = run(&mut cloud, 400);
        assert_eq!(first.mass_kg, last.mass_kg);
        let momentum = (last.momentum - first.momentum).length() / first.momentum.length();
        let scale = first.momentum.length() * 4e-3 + first.angular_momentum.length();
        let angular = (last.angular_momentum - first.angular_momentum).length() / scale;
        assert!(momentum < 2e-6, "{constitution:?}: momentum changed by {momentum:e}");
        assert!(angular < 2e-5, "{constitution:?}: angular momentum changed by {angular:e}");
        // Free motion: 400 steps of 4 µs at 0.54 m/s.
        let center = cloud.positions().iter().sum::<Vec3>() / cloud.len() as f64;
        let way = Vec3::new(0.4, -0.3, 0.2) * (cloud.dt_s() * 400.0);
        assert!((center - way).length() < 1e-3 * way.length(), "{center} instead of {way}");
    }
}

/// Elastic vibration exchanges kinetic and strain energy; the scheme loses a little and never gains.
#[test]
fn a_free_gel_does_not_gain_energy() {
    let mut cloud = thrown(Constitution::NeoHookean, Simd::detect());
    let mut before = f64::INFINITY;
    for _ in 0..10 {
        let totals = run(&mut cloud, 40);
        let energy = totals.energy.kinetic_j + totals.energy.strain_j;
        assert!(energy < before * (1.0 + 1e-3), "{energy} J after {before} J");
        before = energy;
    }
}

/// A gel with initial uniform strain F has the Kirchhoff stress of the closed form at every particle, so the force
/// density in its interior is zero: after one step only particles within two cells of the border deviate from the
/// uniform field. Compression and shear.
#[test]
fn uniform_strain_is_in_balance_inside() {
    let shear = Mat3::from_cols(Vec3::X, Vec3::new(0.2, 1.0, 0.0), Vec3::Z);
    for strain in [Mat3::from_diagonal(Vec3::new(1.05, 1.05, 0.85)), shear] {
        let counts = [20, 20, 20];
        let mut cloud =
            ParticleBlock::new(counts, parameters(), false, 0.3, Simd::detect(), |_| (Vec3::ZERO, strain)).unwrap();
        let rest = cloud.positions();
        cloud.run(2).unwrap();
        let (mut inside, mut outside) = (0.0f64, 0.0f64);
        for (p, (before, after)) in rest.iter().zip(cloud.positions()).enumerate() {
            let index = [p % 20, p / 20 % 20, p / 400];
            let depth = index.iter().map(|&i| i.min(19 - i)).min().unwrap();
            let moved = (after - *before).length() / parameters().cell_m;
            if depth >= 7 { inside = inside.max(moved) } else { outside = outside.max(moved) }
        }
        assert!(outside > 1e-3, "the border must spring back: {outside:e}");
        assert!(inside < 5e-3 * outside, "inside {inside:e} cells, border {outside:e}");
    }
}

/// One and two threads give the same bytes; the portable path differs only in rounding.
#[test]
fn results_do_not_depend_on_threads_and_on_vectors_only_in_rounding() {
    let places = |simd: Simd, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut cloud = thrown(Constitution::NeoHookean, simd);
            cloud.run(150).unwrap();
            (cloud.positions(), cloud.deformations())
        })
    };
    let one = places(Simd::detect(), 1);
    assert_eq!(one, places(Simd::detect(), 2));
    for simd in Simd::available() {
        for (widest, other) in one.0.iter().zip(&places(simd, 2).0) {
            assert!((*widest - *other).length() < 1e-5 * parameters().cell_m, "{simd:?}: {widest} {other}");
        }
    }
}

/// A step that is much too long inverts particles; the error names the particle, the step and the remedy.
#[test]
fn an_inverted_gel_is_an_error() {
    let squeeze = Mat3::from_diagonal(Vec3::new(1.0, 1.0, 0.3));
    let mut cloud =
        ParticleBlock::new([12; 3], parameters(), false, 3.0, Simd::detect(), |_| (Vec3::ZERO, squeeze)).unwrap();
    let error = cloud.run(500).unwrap_err();
    assert!(matches!(error, SkinError::GelBroke { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("particle") && text.contains("step") && text.contains("press more slowly"), "{text}");
}

/// One particle that is NaN or inverted stops the run: the error names the particle, the step and the remedy. It is
/// inserted after seven steps, inside a moving and vibrating gel.
#[test]
fn the_error_names_the_inverted_particle_and_its_step() {
    let number = 1234;
    let inverted = Mat3::from_diagonal(Vec3::new(1.0, 1.0, -1.0));
    let not_a_number = Mat3::from_diagonal(Vec3::new(1.0, f64::NAN, 1.0));
    for simd in [Simd::portable(), Simd::detect()] {
        for (velocity, deformation) in [
            (Vec3::ZERO, inverted),
            (Vec3::ZERO, not_a_number),
            (Vec3::new(f64::NAN, 0.0, 0.0), Mat3::IDENTITY),
            (Vec3::new(0.0, f64::INFINITY, 0.0), Mat3::IDENTITY),
        ] {
            let mut cloud = thrown(Constitution::NeoHookean, simd);
            cloud.run(7).unwrap();
            cloud.disturb(number, velocity, deformation);
            let error = cloud.run(5).unwrap_err();
            let SkinError::GelBroke { particle, step, dt_us } = &error else { panic!("{error}") };
            // A velocity spreads over the grid first, so a neighbour may be reported instead.
            let spread = deformation == Mat3::IDENTITY;
            assert!(spread || *particle == number as u32, "{error}");
            assert_eq!(*step, 7);
            assert!((dt_us * 1e-6 / cloud.dt_s() - 1.0).abs() < 1e-12);
            let text = error.to_string();
            assert!(text.contains(&format!("particle {particle} ")) && text.contains("step 7 "), "{text}");
            assert!(text.contains("press more slowly, or make `cell` larger or `mass_scaling` smaller"), "{text}");
        }
    }
}
