//! Controls of a skin: stiffness, friction and thickness.

use crate::PlayError;
use dermis_geometry::quantity::{AreaStiffness, Length, Pressure, Stiffness};
use dermis_sensor::{FrictionSpec, HydroelasticSpec, SkinSpec, SpringsSpec};
use serde::{Deserialize, Serialize};

/// Values of the controls, in the units of their [`Control`]; by default those of the sensor's description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlValues {
    /// Stiffness of the skin.
    pub stiffness: Option<f64>,
    /// Coefficient of friction.
    pub friction: Option<f64>,
    /// Thickness of the skin.
    pub thickness: Option<f64>,
}

/// A control of the page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Control {
    /// Its label.
    pub label: &'static str,
    /// Unit of its value; empty if dimensionless.
    pub unit: &'static str,
    /// Default value.
    pub value: f64,
}

/// The controls of a skin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Controls {
    /// Stiffness of the skin.
    pub stiffness: Option<Control>,
    /// Coefficient of friction.
    pub friction: Option<Control>,
    /// Thickness of the skin.
    pub thickness: Option<Control>,
}

impl ControlValues {
    /// Whether any value is set.
    pub fn are_set(&self) -> bool {
        *self != Self::default()
    }

    /// Applies the values to a skin; returns its controls with their default values.
    pub fn apply(&self, skin: &mut SkinSpec) -> Result<Controls, PlayError> {
        check("stiffness", self.stiffness, 1e-9)?;
        check("friction", self.friction, 0.0)?;
        check("thickness", self.thickness, 1e-9)?;
        Ok(match skin {
            SkinSpec::Springs(SpringsSpec { stiffness, stiffness_per_area, max_penetration, friction, .. }) => {
                Controls {
                    stiffness: match (stiffness, stiffness_per_area) {
                        (Some(k), _) => Some(self.per_texel(k)),
                        (None, Some(k)) => Some(self.per_area(k)),
                        (None, None) => None,
                    },
                    friction: slider(friction, self.friction),
                    thickness: Some(self.thickness(max_penetration)),
                }
            }
            SkinSpec::Hydroelastic(HydroelasticSpec { hydroelastic_modulus, thickness, friction, .. }) => Controls {
                stiffness: Some(self.modulus("Hydroelastic modulus", hydroelastic_modulus)),
                friction: slider(friction, self.friction),
                thickness: thickness.as_mut().map(|thickness| self.thickness(thickness)),
            },
            SkinSpec::Layer(layer) => Controls {
                stiffness: Some(self.modulus("Young's modulus", &mut layer.young)),
                friction: Some(coefficient(&mut layer.mu, self.friction)),
                thickness: Some(self.thickness(&mut layer.thickness)),
            },
            SkinSpec::Imprint(imprint) => Controls {
                stiffness: Some(self.per_area(&mut imprint.stiffness_per_area)),
                friction: None,
                thickness: Some(self.thickness(&mut imprint.thickness)),
            },
            SkinSpec::Gel(gel) => Controls {
                stiffness: Some(self.modulus("Young's modulus", &mut gel.young)),
                friction: None,
                thickness: gel.thickness.as_mut().map(|thickness| self.thickness(thickness)),
            },
        })
    }

    fn per_texel(&self, k: &mut Stiffness) -> Control {
        let value = k.si() * 1e-3;
        *k = self.stiffness.map_or(*k, |stiffness| Stiffness::new(stiffness * 1e3));
        Control { label: "Stiffness of a taxel", unit: "N/mm", value }
    }

    fn per_area(&self, k: &mut AreaStiffness) -> Control {
        let value = k.si() * 1e-6;
        *k = self.stiffness.map_or(*k, |stiffness| AreaStiffness::new(stiffness * 1e6));
        Control { label: "Stiffness of the surface", unit: "MPa/m", value }
    }

    fn modulus(&self, label: &'static str, modulus: &mut Pressure) -> Control {
        let value = modulus.si() * 1e-3;
        *modulus = self.stiffness.map_or(*modulus, |stiffness| Pressure::new(stiffness * 1e3));
        Control { label, unit: "kPa", value }
    }

    fn thickness(&self, thickness: &mut Length) -> Control {
        let value = thickness.si() * 1e3;
        *thickness = self.thickness.map_or(*thickness, |thickness| Length::new(thickness * 1e-3));
        Control { label: "Thickness", unit: "mm", value }
    }
}

fn check(control: &'static str, value: Option<f64>, min: f64) -> Result<(), PlayError> {
    match value {
        Some(got) if !(got >= min && got.is_finite()) => Err(PlayError::BadControl { control, got }),
        _ => Ok(()),
    }
}

fn coefficient(mu: &mut f64, wanted: Option<f64>) -> Control {
    let value = *mu;
    *mu = wanted.unwrap_or(value);
    Control { label: "Friction", unit: "", value }
}

/// Sets the static friction; the ratio of dynamic to static friction stays the same.
fn bristles(mu_static: &mut f64, mu_dynamic: &mut f64, wanted: Option<f64>) -> Control {
    let ratio = if *mu_static > 0.0 { *mu_dynamic / *mu_static } else { 1.0 };
    let control = coefficient(mu_static, wanted);
    if wanted.is_some() {
        *mu_dynamic = ratio * *mu_static;
    }
    control
}

fn slider<K, C>(friction: &mut FrictionSpec<K, C>, wanted: Option<f64>) -> Option<Control> {
    match friction {
        FrictionSpec::None | FrictionSpec::Sticking => None,
        FrictionSpec::Lugre { mu_static, mu_dynamic, .. } => Some(bristles(mu_static, mu_dynamic, wanted)),
        FrictionSpec::Coulomb { mu, .. } => Some(coefficient(mu, wanted)),
    }
}
