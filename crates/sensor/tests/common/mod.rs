//! Shared helpers of the sensor tests.
#![allow(dead_code, reason = "each test file uses a part of it")]

use dermis_geometry::Vec3;
use dermis_geometry::shapes;
use dermis_sensor::{Response, Sensor, SensorSpec, Taxels};
use dermis_skin::{Damping, Elasticity, Friction, Law, Lugre, Object, Site, SpringParameters, Springs};

/// 4 MPa/m, 3 mm deep, with bristles.
pub fn parameters() -> SpringParameters {
    SpringParameters {
        elasticity: Elasticity::PerArea(4e6),
        damping: Damping::PerArea(1e4),
        max_penetration_m: 3e-3,
        law: Law::Conservative,
        friction: Friction::Lugre(Lugre {
            stiffness_newton_per_m: 500.0,
            damping_newton_s_per_m: 0.1,
            viscous_newton_s_per_m: 0.01,
            mu_static: 0.6,
            mu_dynamic: 0.4,
            stribeck_m_per_s: 0.01,
        }),
    }
}

/// A flat sensor of `rows` × `cols` taxels of 2 mm, four contact points each.
pub fn flat(rows: usize, cols: usize, response: Response) -> Sensor {
    let skin = Springs::new(Site::grid(rows, cols, 2e-3, 2), parameters()).unwrap();
    let (x, y) = (cols as f64 * 1e-3, rows as f64 * 1e-3);
    let corners = vec![Vec3::new(-x, -y, 0.0), Vec3::new(x, -y, 0.0), Vec3::new(x, y, 0.0), Vec3::new(-x, y, 0.0)];
    let surface = dermis_geometry::TriMesh::new("flat", corners, vec![[0, 1, 2], [0, 2, 3]]).unwrap();
    Sensor::new("flat", skin, Taxels::grid(rows, cols, 2e-3), response, surface)
}

pub fn preset(name: &str) -> Sensor {
    SensorSpec::find(name).unwrap().0.build(None).unwrap()
}

pub fn cuboid(x: f64, y: f64, z: f64) -> Object {
    Object::new(shapes::cuboid(Vec3::new(x, y, z)).unwrap())
}

pub fn sphere(radius_m: f64, edge_m: f64) -> Object {
    Object::new(shapes::sphere(radius_m, edge_m).unwrap())
}
