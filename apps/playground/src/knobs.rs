//! What can be changed of a skin by a slider: stiffness, friction, thickness.

use crate::PlayError;
use dermis_geometry::quantity::{AreaStiffness, Length, Pressure, Stiffness};
use dermis_sensor::{FrictionSpec, HydroelasticSpec, SkinSpec, SpringsSpec};
use serde::{Deserialize, Serialize};

/// Where the sliders are, each in the unit of its [`Knob`]; what is not given is as the sensor's description says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knobs {
    /// Of the skin.
    pub stiffness: Option<f64>,
    /// μ.
    pub friction: Option<f64>,
    /// Of the skin.
    pub thickness: Option<f64>,
}

/// A slider.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Knob {
    /// What the page calls it.
    pub label: &'static str,
    /// Unit of its value; empty where it has none.
    pub unit: &'static str,
    /// What it is without being touched.
    pub value: f64,
}

/// The sliders of a skin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Board {
    /// Of the skin.
    pub stiffness: Option<Knob>,
    /// μ.
    pub friction: Option<Knob>,
    /// Of the skin.
    pub thickness: Option<Knob>,
}

impl Knobs {
    /// Whether anything is changed.
    pub fn are_set(&self) -> bool {
        *self != Self::default()
    }

    /// Turns the knobs of a skin and says what it has, with the values that it had.
    pub fn turn(&self, skin: &mut SkinSpec) -> Result<Board, PlayError> {
        check("stiffness", self.stiffness, 1e-9)?;
        check("friction", self.friction, 0.0)?;
        check("thickness", self.thickness, 1e-9)?;
        Ok(match skin {
            SkinSpec::Springs(SpringsSpec { stiffness, stiffness_per_area, max_penetration, friction, .. }) => Board {
                stiffness: match (stiffness, stiffness_per_area) {
                    (Some(k), _) => Some(self.per_texel(k)),
                    (None, Some(k)) => Some(self.per_area(k)),
                    (None, None) => None,
                },
                friction: slider(friction, self.friction),
                thickness: Some(self.thickness(max_penetration)),
            },
            SkinSpec::Hydroelastic(HydroelasticSpec { modulus, thickness, friction, .. }) => Board {
                stiffness: Some(self.modulus("Pressure modulus", modulus)),
                friction: slider(friction, self.friction),
                thickness: thickness.as_mut().map(|thickness| self.thickness(thickness)),
            },
            SkinSpec::Layer(layer) => Board {
                stiffness: Some(self.modulus("Young's modulus", &mut layer.young)),
                friction: Some(coefficient(&mut layer.mu, self.friction)),
                thickness: Some(self.thickness(&mut layer.thickness)),
            },
            SkinSpec::Imprint(imprint) => Board {
                stiffness: Some(self.per_area(&mut imprint.stiffness_per_area)),
                friction: None,
                thickness: Some(self.thickness(&mut imprint.thickness)),
            },
            SkinSpec::Gel(gel) => Board {
                stiffness: Some(self.modulus("Young's modulus", &mut gel.young)),
                friction: None,
                thickness: gel.thickness.as_mut().map(|thickness| self.thickness(thickness)),
            },
        })
    }

    fn per_texel(&self, k: &mut Stiffness) -> Knob {
        let value = k.si() * 1e-3;
        *k = self.stiffness.map_or(*k, |stiffness| Stiffness::new(stiffness * 1e3));
        Knob { label: "Stiffness of a taxel", unit: "N/mm", value }
    }

    fn per_area(&self, k: &mut AreaStiffness) -> Knob {
        let value = k.si() * 1e-6;
        *k = self.stiffness.map_or(*k, |stiffness| AreaStiffness::new(stiffness * 1e6));
        Knob { label: "Stiffness of the surface", unit: "MPa/m", value }
    }

    fn modulus(&self, label: &'static str, modulus: &mut Pressure) -> Knob {
        let value = modulus.si() * 1e-3;
        *modulus = self.stiffness.map_or(*modulus, |stiffness| Pressure::new(stiffness * 1e3));
        Knob { label, unit: "kPa", value }
    }

    fn thickness(&self, thickness: &mut Length) -> Knob {
        let value = thickness.si() * 1e3;
        *thickness = self.thickness.map_or(*thickness, |thickness| Length::new(thickness * 1e-3));
        Knob { label: "Thickness", unit: "mm", value }
    }
}

fn check(knob: &'static str, value: Option<f64>, least: f64) -> Result<(), PlayError> {
    match value {
        Some(got) if !(got >= least && got.is_finite()) => Err(PlayError::BadKnob { knob, got }),
        _ => Ok(()),
    }
}

fn coefficient(mu: &mut f64, wanted: Option<f64>) -> Knob {
    let value = *mu;
    *mu = wanted.unwrap_or(value);
    Knob { label: "Friction", unit: "", value }
}

/// Static friction; dynamic friction stays the same part of it.
fn bristles(mu_static: &mut f64, mu_dynamic: &mut f64, wanted: Option<f64>) -> Knob {
    let part = if *mu_static > 0.0 { *mu_dynamic / *mu_static } else { 1.0 };
    let knob = coefficient(mu_static, wanted);
    if wanted.is_some() {
        *mu_dynamic = part * *mu_static;
    }
    knob
}

fn slider<K, C>(friction: &mut FrictionSpec<K, C>, wanted: Option<f64>) -> Option<Knob> {
    match friction {
        FrictionSpec::None | FrictionSpec::Sticking => None,
        FrictionSpec::Lugre { mu_static, mu_dynamic, .. } => Some(bristles(mu_static, mu_dynamic, wanted)),
        FrictionSpec::Coulomb { mu, .. } => Some(coefficient(mu, wanted)),
    }
}
