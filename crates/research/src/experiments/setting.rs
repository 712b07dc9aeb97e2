//! Shared parts of the experiments: Moisio's sensor and finger, worlds, small helpers.

use super::ExperimentError;
use dermis::geometry::quantity::{Damping, Length, Speed, Stiffness};
use dermis::geometry::shapes::cuboid;
use dermis::geometry::{MassProperties, Pose, TriMesh, Vec3};
use dermis::sensor::{FrictionSpec, Sensor, SensorSpec, SkinSpec, SpringsSpec, presets};
use dermis::skin::Object;
use dermis::world::{Body, World, WorldParameters};
use std::sync::Arc;

/// g of the paper's Table 3 (m/s²).
pub const GRAVITY: f64 = 9.8;

/// Friction coefficients of the paper (section 3.4.2) with given bristle parameters (N/m, N s/m): the paper's σ₀ of
/// 1 N/m would let one kilogram sag by two centimetres.
pub fn lugre(sigma0: f64, sigma1: f64) -> FrictionSpec {
    FrictionSpec::Lugre {
        sigma0: Stiffness::new(sigma0),
        sigma1: Damping::new(sigma1),
        viscous: Damping::new(0.01),
        mu_static: 0.435,
        mu_dynamic: 0.23,
        stribeck_speed: Speed::new(0.3),
    }
}

/// The skin of section 5.1: k = 1000 N/m and c = 10 N s/m per texel.
pub fn static_test_skin(friction: FrictionSpec) -> SkinSpec {
    springs(1000.0, 10.0, friction)
}

/// Springs with a stiffness (N/m) and damping (N s/m) per texel, 12 mm deep.
pub fn springs(stiffness: f64, damping: f64, friction: FrictionSpec) -> SkinSpec {
    SkinSpec::Springs(SpringsSpec {
        damping: Some(Damping::new(damping)),
        friction,
        ..SpringsSpec::new(Stiffness::new(stiffness), Length::new(0.012))
    })
}

/// The paper's array of 14 × 6 texels with another skin.
pub fn array(name: &str, skin: SkinSpec) -> Result<Sensor, ExperimentError> {
    Ok(SensorSpec { name: name.into(), contact_points: Some(1), skin, ..presets::find("uji-foam-14x6")? }
        .build(None)?)
}

/// The foam of section 3.4 (k = 58.5 N/m, c = 1 % of it) with stiffer bristles.
pub fn foam(name: &str) -> Result<Sensor, ExperimentError> {
    array(name, springs(58.5, 0.585, lugre(300.0, 0.5)))
}

/// A fixed, visible finger that carries a sensor.
pub fn finger(world_from_sensor: Pose) -> Result<Body, ExperimentError> {
    let size = Vec3::new(0.030, 0.090, 0.014);
    let look = cuboid(size)?.transformed(&Pose::from_translation(Vec3::new(0.0, -0.012, -0.5 * size.z - 2e-4)));
    Ok(Body::fixed("finger", world_from_sensor).with_visual_mesh(look))
}

/// A free body of uniform density with the shape of a closed mesh.
pub fn free_body(name: &str, mesh: TriMesh, mass_kg: f64, world_from_body: Pose) -> Result<Body, ExperimentError> {
    let mass: MassProperties = mesh.mass_properties(mass_kg)?;
    Ok(Body::free(name, world_from_body, mass).touchable(Arc::new(Object::new(mesh))))
}

/// Adds a body and returns its id.
pub fn add(world: &mut World, body: Body) -> Result<dermis::world::BodyId, ExperimentError> {
    Ok(world.add_body(body)?)
}

/// A world with the gravity of the paper's Table 3, a time step (s) and, if given, a ground height (m).
pub fn world(step_s: f64, ground_z_m: Option<f64>) -> Result<World, ExperimentError> {
    let gravity = Vec3::new(0.0, 0.0, -GRAVITY);
    Ok(World::new(WorldParameters { gravity, step_s, ground_z_m, ..Default::default() })?)
}

/// The description with a frictionless layer, if its skin is a layer.
pub fn frictionless(mut spec: SensorSpec) -> SensorSpec {
    if let SkinSpec::Layer(layer) = &mut spec.skin {
        layer.mu = 0.0;
    }
    spec
}

/// The median of several numbers; NaN for an empty list.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    if n == 0 { f64::NAN } else { 0.5 * (values[(n - 1) / 2] + values[n / 2]) }
}
