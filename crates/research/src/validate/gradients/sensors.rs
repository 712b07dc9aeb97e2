//! The sensors whose gradients are compared.

use super::super::ValidateError;
use dermis::sensor::{Sensor, SensorSpec};
use dermis::skin::layer::{LayerContact, LayerParameters};
use dermis::skin::{Gel, Layer};

pub(super) const SPRINGS: &str = r#"
name = "springs"
[surface.grid]
rows = 12
cols = 10
pitch = "1.7 mm"
[skin]
kind = "springs"
stiffness = "STIFFNESS N/m"
max_penetration = "4 mm"
[response]
gain = { gain = GAIN, offset = "0.01 N" }
spread = { sigma_taxels = SIGMA, kernel = 3 }
curve = { kind = "polynomial", coefficients = [1.0, 0.2], until = "5 N" }
"#;

/// Springs with damping and bristles.
pub(super) fn springs_with_lugre() -> String {
    let friction = r#"friction = { kind = "lugre", sigma0 = "BRISTLES N/m", sigma1 = "BRUSHING N s/m", viscous = "VISCOUS N s/m", mu_static = STATIC, mu_dynamic = DYNAMIC, stribeck_speed = "STRIBECK m/s" }"#;
    SPRINGS.replace("[response]", &format!("damping = \"DAMPING N s/m\"\n{friction}\n[response]"))
}

/// Springs with damping and regularised Coulomb friction.
pub(super) fn springs_with_coulomb() -> String {
    let friction = r#"friction = { kind = "coulomb", mu = FRICTION, regularisation_speed = "CREEP m/s" }"#;
    SPRINGS.replace("[response]", &format!("damping = \"DAMPING N s/m\"\n{friction}\n[response]"))
}

pub(super) const HYDROELASTIC: &str = r#"
name = "hydroelastic"
[surface.grid]
rows = 8
cols = 7
pitch = "1.7 mm"
[skin]
kind = "hydroelastic"
hydroelastic_modulus = "MODULUS Pa"
thickness = "4 mm"
[response]
gain = { gain = GAIN, offset = "0.01 N" }
"#;

pub(super) const DOME: &str = r#"
name = "dome"
[surface.spherical-patch]
radius = "9 mm"
half_angle = "70 deg"
spacing = "2.5 mm"
[skin]
kind = "hydroelastic"
hydroelastic_modulus = "MODULUS Pa"
"#;

pub(super) const LAYER: &str = r#"
name = "layer"
[surface.grid]
rows = 8
cols = 8
pitch = "1.6 mm"
[skin]
kind = "layer"
thickness = "THICKNESS m"
young = "YOUNG Pa"
poisson = POISSON
cell = "0.32 mm"
"#;

/// A layer with friction, smaller and coarser, because its presses take longer.
pub(super) fn layer_with_friction() -> String {
    let coarse = LAYER.replace("rows = 8", "rows = 6").replace("cols = 8", "cols = 6").replace("0.32 mm", "0.4 mm");
    format!("{coarse}mu = FRICTION\n")
}

/// A small gel of a few cells, because its presses take longer.
pub(super) const GEL: &str = r#"
name = "gel"
[surface.grid]
rows = 6
cols = 6
pitch = "1.6 mm"
[skin]
kind = "gel"
thickness = "2.4 mm"
young = "YOUNG Pa"
poisson = POISSON
cell = "0.8 mm"
"#;

/// Magnets of a layer, with chips under it.
pub(super) const MAGNETS: &str = r#"
[magnets]
positions = [["-2 mm", "-2 mm", "-1 mm"], ["2.1 mm", "-1.9 mm", "-1 mm"], ["0.3 mm", "2.2 mm", "-1.2 mm"]]
directions = [[0.0, 0.0, 1.0], [0.0, 0.3, -1.0], [1.0, 0.2, 0.4]]
shape = { kind = "cylinder", diameter = "1 mm", height = "0.6 mm", remanence = "REMANENCE T" }
[magnetometers]
positions = [["-1.5 mm", "0 mm", "-5 mm"], ["2 mm", "0.5 mm", "-5 mm"]]
rotations = ["0 deg", "90 deg"]
gains = [[1.0, 1.1, 0.9]]
"#;

pub(super) const CAMERA: &str = r#"
[camera]
width = 120
height = 100
pixel = "0.1 mm"
distance = "25 mm"
[markers]
pattern = { grid = { rows = 3, cols = 3, pitch = "2.3 mm" } }
radius = "0.25 mm"
"#;

pub(super) const IMAGE: &str = r#"
[camera]
width = 120
height = 100
pixel = "0.1 mm"
exposure = 0.9
vignetting = 0.2
"#;

pub(super) const PERSPECTIVE: &str = r#"
distance = "14 mm"
center = ["0.7 mm", "-0.4 mm"]
mirror = true
"#;

pub(super) const PHONG: &str = r#"
[light]
kind = "phong"
background = { colour = [60.0, 70.0, 80.0] }
relative = true
shininess = 4
sources = [
  { azimuth = "AZIMUTH rad", elevation = "0.6 rad", diffuse = [DIFFUSE, 20.0, 10.0], specular = [20.0, 5.0, 0.0] },
  { azimuth = "2.3 rad", elevation = "0.8 rad", diffuse = [10.0, 80.0, 30.0] },
]
"#;

/// A Phong light with shadows: low lamps, so that it casts some.
pub(super) fn phong_with_shadows() -> String {
    let shadow = "[light]\nshadow = { strength = 0.6, softness = \"0.1 mm\" }";
    PHONG.replace("[light]", shadow).replace("0.6 rad", "0.2 rad").replace("0.8 rad", "0.25 rad")
}

/// Of a calibrated light.
pub(super) const CAST_SHADOWS: &str = r#"
[light.shadow]
lamps = [
  { azimuth = "20 deg", distance = "14 mm", elevation = ["6 deg", "30 deg"] },
  { azimuth = "140 deg", elevation = ["4 deg", "25 deg"] },
  { azimuth = "250 deg", distance = "20 mm", elevation = ["5 deg", "35 deg"] },
]
levels = [
  [-40.0, 5.0, 3.0, 10.0, 2.0, 1.0, -20.0, 3.0, 2.0, 15.0, 1.0, 4.0, -7.0, 2.0, 6.0, 3.0, 1.0, 2.0],
  [-30.0, 2.0, 3.0, 20.0, -2.0, 1.0, 10.0, 3.0, -2.0, 5.0, 1.0, 2.0, -9.0, 2.0, 1.0, 2.0, 4.0, 1.0],
  [-50.0, 1.0, 2.0, -10.0, 3.0, 2.0, 12.0, 1.0, 2.0, -5.0, 1.0, 1.0, 4.0, 2.0, 3.0, 1.0, 2.0, 3.0],
]
"#;

pub(super) const CALIBRATED: &str = r#"
[light]
kind = "calibrated"
background = { colour = [100.0, 110.0, 120.0] }
degree = 2
position_degree = 1
levels = [
  [LEVEL, 5.0, -3.0, 10.0, 2.0, 1.0, -20.0, 3.0, 2.0, 15.0, 1.0, 4.0, -7.0, 2.0, 6.0],
  [-30.0, 2.0, 3.0, 50.0, -2.0, 1.0, 10.0, 3.0, -2.0, 5.0, 1.0, 2.0, -9.0, 2.0, 1.0],
  [10.0, 1.0, 2.0, -40.0, 3.0, 2.0, 12.0, 1.0, 2.0, -5.0, 1.0, 1.0, 4.0, 2.0, 3.0],
]
"#;

/// Values of the placeholders of the descriptions.
pub(super) const VALUES: [(&str, f64); 20] = [
    ("REMANENCE", 1.2),
    ("FRICTION", 0.4),
    ("MODULUS", 6e4),
    ("SIGMA", 0.6),
    ("STIFFNESS", 420.0),
    ("GAIN", 1.1),
    ("THICKNESS", 3e-3),
    ("YOUNG", 1.4e5),
    ("POISSON", 0.42),
    ("AZIMUTH", 0.5),
    ("DIFFUSE", 90.0),
    ("LEVEL", 40.0),
    ("BRISTLES", 600.0),
    ("BRUSHING", 0.3),
    ("VISCOUS", 0.05),
    ("STATIC", 0.5),
    ("DYNAMIC", 0.35),
    ("STRIBECK", 0.02),
    ("DAMPING", 1.2),
    ("CREEP", 4e-3),
];

/// A sensor with other values of its placeholders. A layer and a gel are solved to `tolerance`, so that differences are smooth;
/// `None` is the usual one.
pub(super) fn sensor_of(
    text: &str,
    changed: Option<(&str, f64)>,
    tolerance: Option<f64>,
) -> Result<Sensor, ValidateError> {
    let mut text = text.to_owned();
    for (key, value) in VALUES {
        let value = changed.filter(|(name, _)| *name == key).map_or(value, |(_, value)| value);
        text = text.replace(key, &format!("{value:?}"));
    }
    let bad = |reason: String| ValidateError::BadCase { place: "the sensor of the gradients".to_owned(), reason };
    let sensor = SensorSpec::parse("the sensor", &text).and_then(|spec| spec.build(None));
    let sensor = sensor.map_err(|error| bad(error.to_string()))?;
    if let (Some(gel), Some(residual)) = (sensor.skin_as::<Gel>(), tolerance) {
        let gel = gel.clone().solved_to(residual);
        return Ok(sensor.with_skin(gel));
    }
    let Some(layer) = sensor.skin_as::<Layer>() else { return Ok(sensor) };
    let tolerance = tolerance.unwrap_or(LayerContact::FRICTIONLESS.tolerance);
    let contact = LayerContact { tolerance, ..layer.parameters().contact };
    Ok(sensor.with_skin(Layer::new(LayerParameters { contact, ..layer.parameters().clone() })?))
}

/// Tolerance of a layer whose presses are differentiated by differences.
pub(super) const TIGHT: f64 = 1e-13;
/// Residual of a gel whose presses are differentiated by differences, by its load.
pub(super) const TIGHT_GEL: f64 = 1e-11;
