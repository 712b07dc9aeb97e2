//! Friction of objects that have a coefficient of their own, on springs and hydroelastic skins.
//!
//! In fast sliding the shear is μ times the normal force, whatever the bristles.

use crate::common::{cuboid, grid_skin, plain};
use dermis_geometry::{Pose, Twist, Vec3, tets};
use dermis_skin::hydroelastic::{Compliance, Material, TetField};
use dermis_skin::{
    Coulomb, Friction, Hydroelastic, HydroelasticParameters, ImplicitMotion, Lugre, Motion, Object, PointLoads, Skin,
    SpringParameters, Target,
};

const MU: f64 = 0.5;

fn frictions() -> [Friction; 2] {
    let lugre = Lugre { mu_static: MU, mu_dynamic: MU, ..crate::common::bristles() };
    [Friction::Lugre(lugre), Friction::Coulomb(Coulomb { mu: MU, regularisation_m_per_s: 1e-3 })]
}

fn skins(friction: Friction) -> [Box<dyn Skin>; 2] {
    let springs = grid_skin(20, 20, 1e-3, SpringParameters { friction, ..plain(100.0, 3e-3) });
    let solid = tets::cuboid(Vec3::new(0.04, 0.04, 0.01)).unwrap();
    let solid = solid.transformed(&Pose::from_translation(Vec3::Z * -5e-3));
    let body = Compliance::tets(TetField::new(solid), Material::linear(1e5)).unwrap();
    let pad = Hydroelastic::new(body, HydroelasticParameters { friction, ..Default::default() }).unwrap();
    [Box::new(springs), Box::new(pad)]
}

/// Two blocks beside each other under the same rows of contact points, 0.5 mm deep, sliding at 1 m/s.
fn sliding(objects: &[Object; 2]) -> [Target<'_>; 2] {
    let at = [-4.2e-3, 4.2e-3].map(|x| Pose::from_translation(Vec3::new(x, 0.0, 4.5e-3)));
    let velocity = Twist::new(Vec3::X, Vec3::ZERO);
    [0, 1].map(|i| Target { velocity, ..Target::at_rest(&objects[i], at[i]) })
}

#[test]
fn the_friction_of_an_object_replaces_that_of_the_skin() {
    for friction in frictions() {
        for skin in skins(friction) {
            let objects = [cuboid(8e-3, 8e-3, 10e-3).with_mu(0.05), cuboid(8e-3, 8e-3, 10e-3)];
            let targets = sliding(&objects);
            let motion = Motion { targets: &targets };
            // Long enough for the bristles to reach their limit.
            let (touch, _) = skin.touch(&skin.rest(), &motion, 1.0).unwrap();
            for (load, mu) in touch.on_objects.iter().zip([0.05, MU]) {
                let found = -load.force.x / load.force.z;
                assert!(load.force.z > 0.1 && (found - mu).abs() < 1e-6, "{mu}: {found}");
            }
        }
    }
}

/// The same in contacts whose points are held, of which the coupling to bodies consists.
#[test]
fn the_friction_of_an_object_counts_at_the_end_of_a_step() {
    for friction in frictions() {
        for skin in skins(friction) {
            let objects = [cuboid(8e-3, 8e-3, 10e-3).with_mu(0.05), cuboid(8e-3, 8e-3, 10e-3)];
            let targets = sliding(&objects);
            let still = Motion { targets: &targets }.targets_at_rest();
            let still = skin.touch(&skin.rest(), &Motion { targets: &still }, 1.0).unwrap();
            let contact = skin.hold(&still).unwrap();
            let moving =
                targets.map(|target| ImplicitMotion { velocity: target.velocity, spring_velocity: Twist::ZERO });
            let mut loads = PointLoads::default();
            contact.load(&moving, 1.0, &mut loads);
            for (load, mu) in loads.on_sensor.iter().zip([0.05, MU]) {
                let found = -load.force.x / load.force.z;
                assert!(load.force.z < -0.1 && (found - mu).abs() < 1e-6, "{mu}: {found}");
            }
            let answers = contact.respond(&moving, 1.0);
            for (answer, load) in answers.iter().zip(&loads.on_sensor) {
                assert!((answer.on_sensor.force - load.force).length() < 1e-9 * load.force.length());
            }
        }
    }
}
