//! Contacts of another engine, read by taxels (Kappassov et al. 2020, eq. 2).
//!
//! Not tested: the accuracy of that engine's forces.

use dermis_geometry::{Random, Vec3, shapes};
use dermis_sensor::Taxels;
use dermis_skin::{Contact, Contacts};

fn curved() -> Taxels {
    let cap = shapes::spherical_patch(20e-3, 0.8, 2e-3).unwrap();
    Taxels::points(cap.vertices().to_vec(), cap.vertex_normals(), cap.vertex_areas_m2(), 3e-3)
}

/// Each force goes to the taxel with |x − x(i)| and |y − y(j)| within half a pitch and |z| within h; all others are
/// outside.
#[test]
fn forces_are_binned_as_in_eq_2() {
    let (pitch, height) = (3.4e-3, 1e-3);
    let taxels = Taxels::grid(14, 6, pitch).with_height(height);
    let mut random = Random::new(12);
    let points: Vec<Contact> = (0..500)
        .map(|_| {
            let at =
                Vec3::new(random.between(-15e-3, 15e-3), random.between(-30e-3, 30e-3), random.between(-2e-3, 2e-3));
            Contact::new(at, Vec3::new(0.1, -0.2, -random.between(0.1, 2.0)))
        })
        .collect();
    let (forces, outside) = taxels.bin(&Contacts::new(points.clone()).touch().unwrap());
    let mut rest = points.iter().map(|point| point.force).sum::<Vec3>();
    for (force, center) in forces.iter().zip(taxels.centers()) {
        let near = |p: &&Contact| {
            let d = (p.at - *center).abs();
            d.x < pitch / 2.0 && d.y < pitch / 2.0 && d.z <= height
        };
        let truth = points.iter().filter(near).map(|p| p.force).sum::<Vec3>();
        assert!((*force - truth).length() < 1e-12);
        rest -= truth;
    }
    assert!((outside - rest).length() < 1e-10 && outside.z < -10.0, "{outside}");
}

/// On a curved array height is measured along the normal of the taxel, and no force is lost.
#[test]
fn curved_taxels_have_a_height_too() {
    for (above, inside) in [(0.5e-3, true), (-0.5e-3, true), (1.5e-3, false), (-1.5e-3, false)] {
        let taxels = curved().with_height(1e-3);
        for i in (0..taxels.len()).step_by(11) {
            let normal = taxels.normals()[i];
            let point = Contact::new(taxels.centers()[i] + normal * above, -normal * 2.0);
            let (forces, outside) = taxels.bin(&Contacts::new([point]).touch().unwrap());
            assert_eq!(outside == Vec3::ZERO, inside, "taxel {i}, {above} m");
            let sum = forces.iter().sum::<Vec3>() + outside;
            assert!((sum + normal * 2.0).length() < 1e-15);
            assert_eq!(forces[i] != Vec3::ZERO, inside);
        }
    }
}
